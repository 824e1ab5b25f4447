"""Thousands of fits and predictions: memory, file handles and threads stay as they are."""

import gc
import time

import psutil

from load.jobs import be_quiet, make_jobs

ROUNDS_BEFORE = 5
"""Rounds of all jobs before the first look: pools and caches are filled then."""

MOST_GROWTH = 20e6
"""Bytes by which memory may grow: allocators keep some of what was freed."""


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
    return growth(looks[0], looks[-1])


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
