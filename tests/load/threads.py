"""64 threads that fit and predict, with estimators of their own and with shared ones."""

import random
import threading
import time

import numpy as np

from load.jobs import Job, be_quiet, make_jobs

N_THREADS = 64
NUMBERS = (1, 2, 4, 8, 16, 64)
"""Numbers of threads whose throughput is compared."""

ROUNDS = 4


def run(seconds: float, seed: int) -> list[str]:
    """Compare all results with those of one thread, and the throughput of numbers of threads."""
    be_quiet()
    jobs = make_jobs()
    expected = [job() for job in jobs]
    n_done, failures = work(jobs, expected, N_THREADS, seconds / 2, seed)
    print(f"threads: {n_done} fits and predictions on {N_THREADS} threads (seed {seed})")
    rates = throughput(jobs, expected, seconds / 2, seed)
    best = max(rates, key=lambda number: rates[number])
    told = ", ".join(f"{number}: {rate:.0f}" for number, rate in rates.items())
    share = rates[N_THREADS] / rates[best]
    print(f"jobs a second by threads: {told}; {N_THREADS} reach {share:.0%} of the best ({best})")
    return failures


def throughput(jobs: list[Job], expected: list, seconds: float, seed: int) -> dict[int, float]:
    """Return the jobs a second for each number of threads: the median of rounds in turns."""
    rates: dict[int, list[float]] = {number: [] for number in NUMBERS}
    share = seconds / ROUNDS / len(NUMBERS)
    for round_number in range(ROUNDS):
        for number in NUMBERS:
            began = time.perf_counter()
            n_done, _ = work(jobs, expected, number, share, seed + round_number)
            rates[number].append(n_done / (time.perf_counter() - began))
    return {number: float(np.median(each)) for number, each in rates.items()}


def work(
    jobs: list[Job], expected: list, n_threads: int, seconds: float, seed: int
) -> tuple[int, list[str]]:
    """Do random jobs on threads for some time; return their number and the failures."""
    end = time.monotonic() + seconds
    counts, failures = [0] * n_threads, []

    def thread(k: int) -> None:
        rng = random.Random(f"{seed} {k}")
        while time.monotonic() < end:
            number = rng.randrange(len(jobs))
            try:
                same = np.array_equal(jobs[number](), expected[number])
            except Exception as error:
                failures.append(f"job {number}: {type(error).__name__}: {error}")
            else:
                if not same:
                    failures.append(f"job {number}: another result than alone")
            counts[k] += 1

    threads = [threading.Thread(target=thread, args=(k,)) for k in range(n_threads)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(timeout=seconds + 300)
        if each.is_alive():
            failures.append("a thread hangs")
    return sum(counts), failures
