"""Middle dimensions, beside an older version, by turns: ``python benchmarks/middle.py --old SRC``.

SRC is the folder ``src`` of an older version (``git worktree add build/old e1e8935``). Each version
runs in a process of its own, on one thread, and compiles on small data first. Without SRC only this
version runs.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_blobs

import modeshift
from machine import facts

ESTIMATORS = {
    "MeanShift": {},
    "StochasticMeanShift": {"random_state": 0},
    "BlurringMeanShift": {},
}


class Case(NamedTuple):
    """Round blobs of standard deviation 1, and a bandwidth."""

    n: int
    d: int
    blobs: int
    bandwidth: float


CASES = {
    "one": Case(20_000, 10, 1, 3.0),
    "three": Case(20_000, 10, 3, 3.0),
    "twenty": Case(20_000, 10, 20, 3.0),
    "five": Case(20_000, 5, 3, 1.5),
    "thirty-one": Case(5_000, 31, 3, 6.5),
}


def main():
    arguments = parse()
    if arguments.work:
        return work()
    here = str(Path(modeshift.__file__).parents[1])
    workers = [start(src) for src in (arguments.old, here) if src is not None]
    print(json.dumps(facts()), flush=True)
    for case in arguments.cases:
        for estimator in ESTIMATORS:
            answers = [[] for _ in workers]
            for _ in range(arguments.runs):
                for worker, found in zip(workers, answers, strict=True):
                    found.append(ask(worker, case, estimator))
            print(line(case, estimator, answers), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--old", metavar="SRC")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def start(src):
    """Start a process that fits with the version in ``src``."""
    return subprocess.Popen(
        [sys.executable, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": src},
    )  # fmt: skip


def ask(worker, case, estimator):
    """Let a process fit; return processor seconds, labels and centres."""
    print(json.dumps([case, estimator]), file=worker.stdin, flush=True)
    return json.loads(worker.stdout.readline())


def line(case, estimator, answers):
    """Return one row of the table: median seconds of each version, their ratio, and differences."""
    seconds = [median(answer["seconds"] for answer in found) for found in answers]
    shown = "{} n={} d={} blobs={} h={}".format(case, *CASES[case])
    shown += f" {estimator}: " + " / ".join(f"{each:.2f} s" for each in seconds)
    if len(answers) == 1:
        return shown
    old, new = (found[0] for found in answers)
    same = old["labels"] == new["labels"]
    apart = np.abs(np.subtract(old["centers"], new["centers"])).max() if same else np.nan
    return shown + f", ratio {seconds[0] / seconds[1]:.1f}, same labels {same}, centres {apart:.0e}"


def work():
    """Fit what standard input names, one line of JSON each, until it ends."""
    warnings.simplefilter("ignore")
    for request in sys.stdin:
        name, estimator = json.loads(request)
        case = CASES[name]
        X, _ = make_blobs(case.n, n_features=case.d, centers=case.blobs, random_state=0)
        make = getattr(modeshift, estimator)
        settings = ESTIMATORS[estimator] | {"bandwidth": case.bandwidth, "n_jobs": 1}
        make(**settings).fit(X[:5000])  # compiles
        started = process_time()
        fitted = make(**settings).fit(X)
        answer = {
            "seconds": process_time() - started,
            "labels": fitted.labels_.tolist(),
            "centers": fitted.cluster_centers_.tolist(),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
