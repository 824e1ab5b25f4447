"""Advice after a slow fit: an option with which it would take about a tenth of the time.

Both rules were measured on 2 cores, on six sets of 100,000 to 235,000 points with 2 or 3 features
(earthquakes with and without depth, accidents, cities, a grid of Gaussians, the paper's Set 4).
"""

from math import isfinite
from typing import Any

import numpy as np

from modeshift.engines.cpu.chart import Chart
from modeshift.globe import RADIUS

_SLOW = 5.0  # seconds of a fit, from which on advice is given
_TENTH = 0.1
_SAMPLE = 100_000  # points that are counted

_RESOLUTION = 8
"""Cells of an eighth of the bandwidth. Their number, as a share of the points, was 0.2% to 29%, and
the time of a stochastic fit to the cells 0.2% to 45% of that to the points. Up to a share of 10% it
was at most 2%; the other two methods needed at most 5%.
"""

_MANY_SWEEPS = 100
"""Stochastic fits of 104 and 190 sweeps (17 and 24 s) took 10 and 11 times as long as deterministic
ones, and 29 and 18 times as long as blurring ones. With fewer than 30 sweeps it was 0.7 to 5 times.
"""


def faster_way(points: np.ndarray, fitted: Any, seconds: float) -> str | None:
    """Return one line about a faster way to fit; None if the fit was fast, or none is known.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points that were fitted.
    fitted : estimator
    seconds : float
        Time of the fit.
    """
    estimator = getattr(fitted, "estimator_", fitted)
    if seconds < _SLOW or estimator.resolution is not None or fitted.engine_ != "cpu":
        return None
    if _share_of_cells(points, estimator) <= _TENTH:
        chosen = ", with the chosen options given," if hasattr(fitted, "chosen_") else ""
        return (
            f"--resolution {_RESOLUTION}{chosen} would probably take less than a tenth of the "
            f"{seconds:.0f} s: at least ten points share a cell of 1/{_RESOLUTION} of the "
            "bandwidth, on average. Its labels are less exact"
        )
    if hasattr(estimator, "patience") and fitted.n_iter_ >= _MANY_SWEEPS and points.shape[1] <= 3:
        return (
            f"--method blurring or deterministic would probably take about a tenth of the "
            f"{seconds:.0f} s: this fit needed {fitted.n_iter_} sweeps. Their labels differ"
        )
    return None


def _share_of_cells(points: np.ndarray, estimator: Any) -> float:
    """Return the number of occupied cells, divided by the number of points.

    It is counted on some of the points. The share of all points can only be smaller.
    """
    if estimator.metric == "cosine" or not isfinite(estimator.bandwidth_):
        return 1.0
    some = points[:: -(-len(points) // _SAMPLE)].astype(np.float64)
    some = Chart(estimator.metric, estimator.feature_scale).points(some, "X")
    unit = RADIUS if estimator.metric == "haversine" else 1.0
    cells = np.floor(some * (_RESOLUTION * unit / estimator.bandwidth_))
    return len(np.unique(cells, axis=0)) / len(some)
