"""Thousands of fits and predictions: memory, handles, threads and compiled kernels do not grow."""

import gc
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from load.jobs import be_quiet, make_jobs

ROUNDS_BEFORE = 5
"""Rounds of all jobs before the first look: pools and caches are filled then."""

MOST_GROWTH = 20e6
"""Bytes by which memory may grow: allocators keep some of what was freed."""


WARM_UP = ["-m", "modeshift", "warmup"]
JOBS = """
import sys
from load.jobs import be_quiet, make_jobs
from load.leaks import do_all
be_quiet()
for _ in range(int(sys.argv[1])):
    do_all(make_jobs())
"""


def run(seconds: float, seed: int) -> list[str]:
    """Do all jobs again and again; return what has grown."""
    be_quiet()
    jobs = make_jobs()
    for _ in range(ROUNDS_BEFORE):
        do_all(jobs)
    looks, n_rounds, end = [look()], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        do_all(jobs)
        n_rounds += 1
        looks.append(look())
    memory = [round(looks[len(looks) * k // 5 - (k == 5)]["memory"] / 1e6) for k in range(6)]
    print(f"leaks: {n_rounds * len(jobs)} fits and predictions, memory {memory} MB, {looks[-1]}")
    return growth(looks[0], looks[-1]) + kernel_cache()


def do_all(jobs: list) -> None:
    """Do each job once."""
    for job in jobs:
        job()


def look() -> dict[str, int]:
    """Return what a process holds."""
    gc.collect()
    process = psutil.Process()
    return {
        "memory": process.memory_info().rss,
        "handles": process.num_fds(),
        "threads": process.num_threads(),
    }


def growth(first: dict[str, int], last: dict[str, int]) -> list[str]:
    """Return a line for each thing of which there is more than at first."""
    allowed = {"memory": MOST_GROWTH, "handles": 0, "threads": 0}
    return [
        f"{name} grew from {first[name]} to {last[name]}"
        for name, most in allowed.items()
        if last[name] - first[name] > most
    ]


class Cache(NamedTuple):
    """Files and bytes of a folder of compiled kernels."""

    files: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.files} files, {self.bytes / 1e6:.1f} MB"


def kernel_cache() -> list[str]:
    """Fill an empty cache of kernels; return what has grown when the same is done again."""
    with tempfile.TemporaryDirectory() as folder:
        work(folder, [WARM_UP])
        warm = cache_in(folder)
        work(folder, [["-c", JOBS, "1"]])
        after_jobs = cache_in(folder)
        print(f"kernels: {warm} after a warm-up, {after_jobs} after all jobs")
        again = {
            "a second warm-up": [WARM_UP],
            "all jobs 20 times in one process": [["-c", JOBS, "20"]],
            "all jobs in 8 processes": [["-c", JOBS, "1"]] * 8,
        }
        return [line for name, each in again.items() for line in grown(folder, name, each)]


def grown(folder: str, name: str, commands: list[list[str]]) -> list[str]:
    """Do the same again; return a line if the cache is another one than before."""
    before = cache_in(folder)
    work(folder, commands)
    after = cache_in(folder)
    print(f"kernels: {after} after {name}", flush=True)
    return [] if after == before else [f"kernels grew from {before} to {after} by {name}"]


def work(folder: str, commands: list[list[str]]) -> None:
    """Run Python at the same time with all arguments, with kernels in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    processes = [
        subprocess.Popen([sys.executable, *each], env=environment, stdout=subprocess.DEVNULL)
        for each in commands
    ]
    codes = [process.wait() for process in processes]
    assert not any(codes), f"ended with {codes}"


def cache_in(folder: str) -> Cache:
    """Return how much is in a folder of kernels."""
    sizes = [path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()]
    return Cache(len(sizes), sum(sizes))
