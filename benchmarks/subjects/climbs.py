"""MeanShift, every point climbing, against scikit-learn's."""

from functools import partial

from measure import measure
from modeshift import MeanShift
from peers import compare, row_of, sklearn_all
from table import Row
from workloads import BANDWIDTH, gaussians

NAME = "climbs"


def rows(quick):
    n = 300 if quick else 4_500
    X, y = gaussians(n)
    timing = measure(MeanShift(bandwidth=BANDWIDTH, n_jobs=1).fit, X)
    row = row_of(NAME, "MeanShift", timing, y, "scikit-learn MeanShift", "MeanShift, all points")
    compare(row, partial(sklearn_all, BANDWIDTH), X, y)
    yield row if quick else row.at_least(200)
    gain = Row(NAME, "ARI, ours − scikit-learn", n, ratio=row.ari - row.peer_ari, peer=row.peer)
    yield gain if quick else gain.at_least(0)
