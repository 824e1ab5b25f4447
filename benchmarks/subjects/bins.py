"""MeanShift from bins against the two others that do this, over n."""

from functools import partial

from measure import measure
from modeshift import MeanShift
from peers import compare, mlpack_bins, row_of, sklearn_bins
from workloads import BANDWIDTH, gaussians

NAME = "bins"
MLPACK = "mlpack mean_shift"
PEERS = {"scikit-learn bin_seeding": sklearn_bins, MLPACK: mlpack_bins}


def rows(quick):
    for n in (450, 4_500) if quick else (4_500, 45_000, 450_000):
        X, y = gaussians(n)
        for row in against_bins(X, y, BANDWIDTH, NAME, 'MeanShift, seeding="bins"'):
            yield row if quick else row.at_least(10 if n != 45_000 else 1)


def against_bins(X, y, bandwidth, subject, what):
    """Rows of one timing of ours against each peer that seeds from bins."""
    timing = measure(MeanShift(bandwidth=bandwidth, seeding="bins", n_jobs=1).fit, X)
    for name, make in PEERS.items():
        row = row_of(subject, "MeanShift, bins", timing, y, name, what)
        yield compare(row, partial(make, bandwidth), X, y)
