"""MeanShift from bins where the bins of others break: in more and more dimensions.

The bar is on our ARI, which must not break: from 8 dimensions on the blobs lie well apart. (In 2-D
twenty of them overlap, and no bandwidth tells them all.)
"""

from subjects.bins import MLPACK, against_bins
from workloads import blobs

NAME = "dimensions"


def rows(quick):
    n = 500 if quick else 5_000
    for d in (2, 8) if quick else (2, 8, 12, 16, 24, 64):
        X, y, bandwidth = blobs(n, d)
        for row in against_bins(X, y, bandwidth, NAME, f"bins, 20 blobs in {d}-D, h = √(2d)"):
            if d == 8 and row.peer == MLPACK and not quick:
                row.at_least(1.5)
            elif d >= 8 and not quick:
                row.judge("ARI ≥ 0.95", row.ari >= 0.95)
            yield row
