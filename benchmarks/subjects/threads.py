"""Two threads against one, which must give the same labels."""

import numpy as np

from machine import usable_cores
from measure import measure
from modeshift import BlurringMeanShift, MeanShift
from peers import row_of
from table import Row
from workloads import BANDWIDTH, gaussians

NAME = "threads"


def rows(quick):
    X, y = gaussians(4_500 if quick else 45_000)
    for kind in (MeanShift, BlurringMeanShift):
        what = f"{kind.__name__}, n_jobs=2"
        if usable_cores() < 2:
            yield Row(NAME, what, len(X), notes=["skipped: one core"])
            continue
        one, two = (measure(kind(bandwidth=BANDWIDTH, n_jobs=jobs).fit, X) for jobs in (1, 2))
        row = row_of(NAME, what, two, y, "n_jobs=1")
        same = np.array_equal(one.result.labels_, two.result.labels_)
        row.set_peer(one.seconds, one.note, "same labels" if same else "LABELS DIFFER")
        yield row if quick else row.judge("≥ 1.6, same labels", row.ratio >= 1.6 and same)
