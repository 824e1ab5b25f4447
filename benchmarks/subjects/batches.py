"""StochasticMeanShift over the size of a batch: quality and speed against single points."""

from measure import measure, quality
from modeshift import StochasticMeanShift
from peers import row_of
from workloads import BANDWIDTH, gaussians

NAME = "batches"


def rows(quick):
    n = 450 if quick else 45_000
    X, y = gaussians(n)
    single = measure(_fit(1), X)
    for size in (10, n) if quick else (10, 100, 1_000, 10_000, n):
        timing = measure(_fit(size), X)
        row = row_of(NAME, f"batch_size={size}", timing, y, "batch_size=1", "StochasticMeanShift, "
                     f"batch_size={size:,}")  # fmt: skip
        row.set_peer(
            single.seconds, single.note, f"{timing.result.n_iter_} / {single.result.n_iter_} sweeps"
        )
        row.peer_clusters, row.peer_ari = quality(single.result.labels_, y)
        yield row


def _fit(size):
    return StochasticMeanShift(bandwidth=BANDWIDTH, batch_size=size, random_state=0).fit
