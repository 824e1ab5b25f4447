"""StochasticMeanShift on cells (resolution=8) against k-means and HDBSCAN."""

from functools import partial

from measure import measure, quality
from modeshift import StochasticMeanShift
from peers import compare, fast_hdbscan, kmeans, row_of
from table import Row
from workloads import BANDWIDTH, gaussians

NAME = "compression"
OURS = "StochasticMeanShift, resolution=8"
KMEANS = "KMeans(3, n_init=1), all cores"
PEERS = {KMEANS: partial(kmeans, 3), "fast_hdbscan, all cores": fast_hdbscan}


def rows(quick):
    sizes = (4_500,) if quick else (4_500, 45_000, 450_000)
    for n in sizes:
        X, y = gaussians(n)
        timing = measure(_fit(8), X)
        # fast_hdbscan compiles for half a minute, in each process anew: too long for --quick.
        for name in [KMEANS] if quick else PEERS:
            row = compare(row_of(NAME, OURS, timing, y, name), PEERS[name], X, y)
            yield row.at_least(1) if n == 450_000 and name == KMEANS else row
    yield Row(NAME, OURS, n, peer="GridShift", notes=["not measured: not on PyPI"])
    yield _loss(X, y, row.ari, quick)


def _loss(X, y, ari, quick):
    """How far the ARI is from that of the exact run, which is only fitted, not timed."""
    exact = quality(_fit(None)(X).labels_, y)[1]
    row = Row(
        NAME, "ARI, distance from that of the exact run", len(X), ratio=abs(ari - exact),
        peer="resolution=None", ari=ari, peer_ari=exact,
    )  # fmt: skip
    return row if quick else row.at_most(0.02)


def _fit(resolution):
    return StochasticMeanShift(bandwidth=BANDWIDTH, resolution=resolution, random_state=0).fit
