"""A Dask cluster of real processes, with a proxy on each side of its scheduler."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import distributed

from faults.proxy import Proxy

TESTS = Path(__file__).parents[1]

SETTINGS = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "8s",
}
"""Times after which a silent partner counts as lost; Dask's own are up to five minutes."""


class Cluster:
    """A scheduler, two workers with nannies, and proxies between them and to clients.

    Parameters
    ----------
    folder : Path
        For the logs and what Dask writes.

    Attributes
    ----------
    for_workers, for_clients : Proxy
        The lines to the scheduler.
    to_workers : list of Proxy
        The lines to each worker.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen] = []
        self._phases: Queue[str] = Queue()
        port = free_port()
        self.scheduler = self._start(
            *("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"),
            *("--preload", "faults.phases"), stdout=subprocess.PIPE,
        )  # fmt: skip
        Thread(target=self._listen, daemon=True).start()
        assert self._phases.get(timeout=60) == "ready"
        self.address = f"tcp://127.0.0.1:{port}"
        self.for_workers, self.for_clients = Proxy(port), Proxy(port)
        self.to_workers = [self._start_worker() for _ in range(2)]

    def start_client(self, *arguments: str) -> subprocess.Popen:
        """Start ``python ARGUMENTS``, with the address of the scheduler last."""
        return subprocess.Popen(
            [sys.executable, *arguments, self.for_clients.address], cwd=self.folder, text=True,
            env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def wait_for(self, phase: str, process: subprocess.Popen) -> None:
        """Wait until a phase begins, or the process that fits has ended."""
        while process.poll() is None:
            try:
                if self._phases.get(timeout=0.2) == phase:
                    return
            except Empty:
                continue

    def close(self) -> None:
        """Kill all that is left."""
        for process in self._started:
            process.kill()
            process.wait()
        for proxy in (self.for_workers, self.for_clients, *self.to_workers):
            proxy.close()

    def _start_worker(self) -> Proxy:
        """Start a worker; return the line that leads to it."""
        port = free_port()
        line = Proxy(port)
        self._start(
            *("dask_worker", self.for_workers.address, "--nthreads", "1", "--no-dashboard"),
            *("--listen-address", f"tcp://127.0.0.1:{port}", "--contact-address", line.address),
            *("--local-directory", str(self.folder)),
        )
        return line

    def _start(self, module: str, *arguments: str, stdout: Any = None) -> subprocess.Popen:
        with (self.folder / f"{module} {len(self._started)}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments], text=True,
                cwd=self.folder, env=_environment(), stdout=stdout or log, stderr=log,
            )  # fmt: skip
        self._started.append(process)
        return process

    def _listen(self) -> None:
        for line in self.scheduler.stdout:  # type: ignore[union-attr]
            self._phases.put(line.strip())


def kill_one_worker(client: distributed.Client) -> int:
    """Kill a worker process by force; return its number."""
    pids: dict[str, int] = {}
    while not pids:  # workers that were too busy to answer are being replaced
        pids = client.run(os.getpid, on_error="ignore")
    pid = next(iter(pids.values()))
    os.kill(pid, signal.SIGKILL)
    return pid


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **SETTINGS, "PYTHONPATH": path}


def free_port() -> int:
    """Return a port of this machine that nobody listens to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
