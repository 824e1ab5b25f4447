"""The Gaussian kernel against the flat one, and its growth with the number of points."""

from measure import measure
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from peers import row_of
from workloads import BANDWIDTH, gaussians

NAME = "gaussian"
ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
SIZES = (3_000, 5_000, 10_000, 20_000)


def rows(quick):
    for kind in ESTIMATORS:
        for n in SIZES[:1] if quick else SIZES:
            row = _against_flat(kind, n)
            yield row.at_most(5) if n == SIZES[-1] else row
    if not quick:
        yield from (_growth(kind) for kind in ESTIMATORS)


def _against_flat(kind, n):
    X, y = gaussians(n)
    gaussian, flat = (measure(_fit(kind, kernel), X) for kernel in ("gaussian", "flat"))
    what = f"{kind.__name__}, Gaussian: time over that of flat"
    row = row_of(NAME, what, gaussian, y, 'kernel="flat"')
    row.set_peer(flat.seconds, flat.note)
    row.ratio = gaussian.seconds / flat.seconds
    return row


def _growth(kind):
    few, many = 6_000, 60_000
    (X, y), fit = gaussians(many), _fit(kind, "gaussian")
    timing = measure(fit, X)
    row = row_of(NAME, f"{kind.__name__}, Gaussian: growth", timing, y, f"n = {few:,}")
    row.set_peer(measure(fit, gaussians(few)[0]).seconds)
    row.ratio = timing.seconds / row.peer_s
    return row.at_most(15)


def _fit(kind, kernel):
    drawn = {"random_state": 0} if kind is StochasticMeanShift else {}
    return kind(bandwidth=BANDWIDTH, kernel=kernel, n_jobs=1, **drawn).fit
