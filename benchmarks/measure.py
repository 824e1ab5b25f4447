"""Timing: the mean of three runs after a warm-up, fewer where a run takes long."""

import warnings
from time import perf_counter
from typing import Any, NamedTuple

from sklearn.metrics import adjusted_rand_score

RUNS = 3
LONG = 20.0
"""Seconds from which one run must do."""


class Timing(NamedTuple):
    """Mean seconds of so many runs, and what the last one returned."""

    seconds: float
    runs: int
    result: Any

    @property
    def note(self):
        """The word for the table when there were fewer runs than usual."""
        return "" if self.runs >= RUNS else "1 run"


def measure(call, X, long=LONG):
    """Time ``call(X)``.

    A run on a few of the points comes first and compiles what is to be compiled, so that a long
    first run on all of them already counts. Otherwise that one is a warm-up too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peers' own, and runs that are cut short on purpose
        call(X[:: max(1, len(X) // 500)].copy())
        seconds, result = _once(call, X)
        if seconds > long:
            return Timing(seconds, 1, result)
        times = []
        for _ in range(RUNS):
            seconds, result = _once(call, X)
            times.append(seconds)
    return Timing(sum(times) / RUNS, RUNS, result)


def quality(labels, y):
    """Return (number of clusters, ARI) of labels; -1 is no cluster, but counts in the ARI."""
    return len(set(labels.tolist()) - {-1}), float(adjusted_rand_score(y, labels))


def _once(call, X):
    started = perf_counter()
    result = call(X)
    return perf_counter() - started, result
