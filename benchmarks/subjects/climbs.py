"""MeanShift, every point climbing, against scikit-learn's: by our rules, and by theirs."""

from functools import partial

from measure import measure
from modeshift import MeanShift
from modeshift.compat.sklearn import MeanShift as CompatMeanShift
from peers import compare, row_of, sklearn_all
from table import Row
from workloads import BANDWIDTH, gaussians

NAME = "climbs"
PEER = "scikit-learn MeanShift"


def rows(quick):
    n = 300 if quick else 4_500
    X, y = gaussians(n)
    timing = measure(MeanShift(bandwidth=BANDWIDTH, n_jobs=1).fit, X)
    row = row_of(NAME, "MeanShift", timing, y, PEER, "MeanShift, all points")
    compare(row, partial(sklearn_all, BANDWIDTH), X, y)
    yield row if quick else row.at_least(200)
    gain = Row(NAME, "ARI, ours − scikit-learn", n, ratio=row.ari - row.peer_ari, peer=row.peer)
    yield gain if quick else gain.at_least(0)
    same = by_their_rules(X, y, row)
    yield same if quick else same.at_least(200)


def by_their_rules(X, y, row):
    """Make the row of modeshift.compat.sklearn; scikit-learn's time is that of another row."""
    timing = measure(CompatMeanShift(bandwidth=BANDWIDTH, n_jobs=1).fit, X)
    same = row_of(NAME, "compat MeanShift", timing, y, PEER, "compat.sklearn.MeanShift, all points")
    same.set_peer(row.peer_s, *row.notes)
    same.peer_clusters, same.peer_ari = row.peer_clusters, row.peer_ari
    return same
