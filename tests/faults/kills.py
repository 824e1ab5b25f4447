"""``kill -9`` at random moments: the command that goes on gives what an undisturbed one gives."""

import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psutil

from faults.commands import COMMANDS, Command

LONGEST = 900.0
"""Seconds after which an undisturbed run counts as hanging."""

PATIENCE = 360.0
"""Seconds that processes may live on after the one that started them was killed: joblib's end after
300 seconds without work."""


class Kills:
    """One command, killed again and again.

    Parameters
    ----------
    command : Command
    folder : Path
        A new folder is made in it for each chain of runs.
    rng : random.Random
        Draws the moments and the victims.
    """

    def __init__(self, command: Command, folder: Path, rng: random.Random) -> None:
        self.command, self.folder, self.rng = command, folder, rng
        self.inputs = folder / "inputs"
        self.inputs.mkdir(parents=True)
        self.command.prepare(self.inputs)
        self.n_kills = self.n_chains = 0
        self.failures: list[str] = []
        whole = self._chain_folder("whole")
        started = time.monotonic()
        self._end_undisturbed(self.command.start(self.inputs, whole))
        self.seconds = time.monotonic() - started
        self.expected = self.command.result(whole)

    def run(self, n_kills: int) -> None:
        """Begin, kill and go on until so many kills were made and all that was begun is done."""
        while self.n_kills < n_kills:
            self.n_chains += 1
            folder = self._chain_folder(str(self.n_chains))
            self._one_chain(folder, n_kills)
            shutil.rmtree(folder)

    def _one_chain(self, folder: Path, n_kills: int) -> None:
        while self.n_kills < n_kills:
            process = self.command.start(self.inputs, folder)
            try:
                _, told = process.communicate(timeout=self.rng.uniform(0.0, self.seconds))
            except subprocess.TimeoutExpired:
                self._kill(process)
            else:
                self._check(process, told, folder)
                return
        self._check(*self._end_undisturbed(self.command.start(self.inputs, folder)), folder)

    def _kill(self, process: subprocess.Popen) -> None:
        """Kill the process alone, or with all its children."""
        others = psutil.Process(process.pid).children(recursive=True)
        victims = others if self.rng.random() < 0.5 else []
        process.send_signal(signal.SIGKILL)
        for victim in victims:
            if victim.is_running():
                victim.kill()
        process.wait()
        process.stderr.close()  # type: ignore[union-attr]
        self.n_kills += 1
        _, alive = psutil.wait_procs(others, timeout=PATIENCE)
        for orphan in alive:
            self._fail(f"process {orphan.pid} lives on after its parent was killed")
            orphan.kill()

    def _check(self, process: subprocess.Popen, told: str, folder: Path) -> None:
        if process.returncode != 0:
            self._fail(f"ended with {process.returncode}: {told.strip()}")
        elif self.command.result(folder) != self.expected:
            self._fail("the result differs from that of an undisturbed run")

    def _end_undisturbed(self, process: subprocess.Popen) -> tuple[subprocess.Popen, str]:
        _, told = process.communicate(timeout=LONGEST)
        return process, told

    def _chain_folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    def _fail(self, what: str) -> None:
        self.failures.append(f"{self.command.name}, after {self.n_kills} kills: {what}")
        print("  " + self.failures[-1], flush=True)


def run(folder: Path, seed: int, n_kills: int) -> list[str]:
    """Kill all commands, a quarter of the kills each; return the failures."""
    failures = []
    for number, (name, command) in enumerate(COMMANDS.items()):
        share = n_kills // len(COMMANDS)
        kills = Kills(command, folder / name, random.Random(f"{seed} {number}"))
        kills.run(share)
        failures += kills.failures
        print(
            f"{name}: {kills.n_kills} kills in {kills.n_chains} runs (seed {seed}, moments from 0 "
            f"to {kills.seconds:.1f} s), {len(kills.failures)} failures",
            flush=True,
        )
    return failures
