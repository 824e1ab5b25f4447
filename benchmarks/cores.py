"""Whole fits on more and more cores: ``python benchmarks/cores.py [--n 450000] [--minutes 4]``.

Fits the three 2-D Gaussians with each estimator on 1, 2, 4, ... threads, as many as the machine has
cores, by turns, until the time is up; every fit is made at least once. Prints each fit as it ends,
then one line for each number of threads: median seconds, the median over the rounds of the ratio to
one thread, and whether the labels are those of one thread. A smaller fit before the rounds compiles
the kernels.
"""

import argparse
import json
import sys
import warnings
from statistics import median
from time import perf_counter

import numpy as np

from machine import facts, usable_cores
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from workloads import BANDWIDTH, gaussians

ESTIMATORS = {
    "StochasticMeanShift": StochasticMeanShift(bandwidth=BANDWIDTH, random_state=0),
    "MeanShift": MeanShift(bandwidth=BANDWIDTH),
    "BlurringMeanShift": BlurringMeanShift(bandwidth=BANDWIDTH),
}
ENOUGH_TO_COMPILE = 75_000
"""Points of the smaller fit: the stochastic schedule takes fewer than 65,536 in another way."""


def main():
    arguments = parse()
    warnings.simplefilter("ignore")  # fits that reach max_iter count too
    X, _ = gaussians(arguments.n)
    print(json.dumps(facts()), flush=True)
    for name in arguments.only:
        ESTIMATORS[name].set_params(n_jobs=1).fit(gaussians(ENOUGH_TO_COMPILE)[0])
    jobs = arguments.jobs
    rounds = measure(X, jobs, arguments.only, 60 * arguments.minutes)
    for name in arguments.only:
        for n_jobs in jobs:
            print(line(name, n_jobs, rounds), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=450_000, help="points (default: %(default)s)")
    parser.add_argument("--jobs", type=int, nargs="+", default=powers_of_two(usable_cores()))
    parser.add_argument("--minutes", type=float, default=4.0, help="time for the rounds")
    parser.add_argument("--only", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    return parser.parse_args()


def powers_of_two(most):
    """Return 1, 2, 4, ... up to ``most``, and ``most`` itself."""
    return sorted({most} | {2**k for k in range(most.bit_length())})


def measure(X, jobs, names, seconds):
    """Return a list of rounds: what (name, n_jobs) took in seconds, and its labels."""
    started, longest, rounds = perf_counter(), 0.0, []
    while not rounds or perf_counter() - started + longest < seconds:
        began = perf_counter()
        rounds.append({(name, n): fit(name, n, X) for name in names for n in jobs})
        longest = max(longest, perf_counter() - began)
    return rounds


def fit(name, n_jobs, X):
    started = perf_counter()
    labels = ESTIMATORS[name].set_params(n_jobs=n_jobs).fit(X).labels_
    took = perf_counter() - started
    print(f"{name}, n_jobs={n_jobs}: {took:.2f} s", file=sys.stderr, flush=True)
    return took, labels


def line(name, n_jobs, rounds):
    times = [each[name, n_jobs][0] for each in rounds]
    ratio = median(each[name, 1][0] / each[name, n_jobs][0] for each in rounds)
    same = all(np.array_equal(each[name, 1][1], each[name, n_jobs][1]) for each in rounds)
    return (
        f"{name}, n_jobs={n_jobs}: {median(times):.2f} s, {ratio:.2f} times as fast as n_jobs=1, "
        f"{len(times)} rounds, same labels {same}"
    )


if __name__ == "__main__":
    main()
