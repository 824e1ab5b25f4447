"""Two threads against one, which must give the same labels; a million points on two threads."""

from functools import partial

import numpy as np

from machine import usable_cores
from measure import measure
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from peers import row_of
from table import Row
from workloads import BANDWIDTH, gaussians

NAME = "threads"
ESTIMATORS = {"MeanShift": MeanShift, "BlurringMeanShift": BlurringMeanShift,
              "StochasticMeanShift": partial(StochasticMeanShift, random_state=0)}  # fmt: skip
MILLION = {"MeanShift": 20, "StochasticMeanShift": 75}
"""Seconds that a million points may take."""


def rows(quick):
    if usable_cores() < 2:
        yield Row(NAME, "n_jobs=2", 0, notes=["skipped: one core"])
        return
    X, y = gaussians(4_500 if quick else 450_000)
    for name in ESTIMATORS:
        row, same = _against_one(name, X, y)
        yield row if quick else row.judge("≥ 1.8, same labels", row.ratio >= 1.8 and same)
    for name, seconds in MILLION.items():
        if not quick:
            X, y = gaussians(1_000_000)
            row = row_of(NAME, name, measure(_fit(name, 2), X), y, what=f"{name}, n_jobs=2")
            yield row.judge(f"≤ {seconds} s", row.ours_s <= seconds)


def _against_one(name, X, y):
    one, two = (measure(_fit(name, jobs), X) for jobs in (1, 2))
    row = row_of(NAME, name, two, y, "n_jobs=1", f"{name}, n_jobs=2")
    same = np.array_equal(one.result.labels_, two.result.labels_)
    row.set_peer(one.seconds, one.note, "same labels" if same else "LABELS DIFFER")
    return row, same


def _fit(name, n_jobs):
    return ESTIMATORS[name](bandwidth=BANDWIDTH, n_jobs=n_jobs).fit
