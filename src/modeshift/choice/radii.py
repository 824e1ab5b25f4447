"""The radii that are tried: from a few neighbours to most points."""

import numpy as np

MANY_DIMENSIONS = 4.0
"""Correlation dimension from which radii hardly tell near from far.

The range from "one neighbour" to "most points" is then a factor below 5, and it shrinks quickly.
"""
_LARGEST = 0.6  # quantile of the distances at which the radii end: most points are neighbours
_SMALLEST = 2.0**-100  # of the extent of the data: no radius is less
_FEW_NEIGHBOURS = 4  # at the first radius, in few dimensions: fewer make no peak of density
_RADII = 20  # half of them lose 0.04 to 0.08 of the adjusted Rand index
_RADII_IN_MANY = 9  # as good as 17, where the range is short and fits are slow
_ENOUGH = 500_000  # pairs from which quantiles are taken


def rows_to_measure(m: int) -> np.ndarray:
    """Return the places whose distances to all are enough for quantiles: every s-th."""
    return np.arange(0, m, -(-m * m // _ENOUGH))


def radii_between(
    distances: np.ndarray,
    some: np.ndarray,
    weights: np.ndarray,
    *,
    n_radii: int | None = None,
    least: float = 0.0,
    many: bool | None = None,
) -> tuple[np.ndarray, float]:
    """Return radii in a geometric series, and the correlation dimension.

    The series starts where an observation has 4 others within the radius (1 in many dimensions),
    and not below ``least``. It ends where an observation has 60% of the others within the radius.

    Parameters
    ----------
    distances : ndarray of shape (s, m)
        From some of the places to all.
    some : ndarray of shape (s,)
        These places.
    weights : ndarray of shape (m,)
        Observations at each place.
    n_radii : int, default=None
        None is 20, and 9 in many dimensions.
    least : float, default=0.0
        The step of the grid of rounded data.
    many : bool, default=None
        Whether there are many dimensions; None: it depends on the correlation dimension.

    Returns
    -------
    radii : ndarray of shape (H,)
        Empty if all points coincide.
    dimension : float
        ``log(N' / N) / log(r' / r)`` between one neighbour and most, with N the pairs within r.
    """
    if distances.max() == 0.0:
        return np.empty(0), 0.0
    one = min(1.0 / weights.sum(), 0.5 * _LARGEST)
    few = min(_FEW_NEIGHBOURS * one, 0.5 * _LARGEST)
    nearest, start, last = distance_quantiles(distances, some, weights, (one, few, _LARGEST))
    gap = distances[distances > 0].min() if nearest == 0.0 else _SMALLEST
    nearest, start, last = np.maximum((nearest, start, last), max(gap, _SMALLEST))
    if nearest >= last or least >= last:
        return np.array([max(last, least)]), 0.0
    dimension = float(np.log(_LARGEST / one) / np.log(last / nearest))
    if many or (many is None and dimension > MANY_DIMENSIONS):
        return np.geomspace(max(nearest, least), last, n_radii or _RADII_IN_MANY), dimension
    if start >= last:
        return np.array([last]), dimension
    return np.geomspace(max(start, least), last, n_radii or _RADII), dimension


def distance_quantiles(
    distances: np.ndarray, some: np.ndarray, weights: np.ndarray, levels: tuple[float, ...]
) -> np.ndarray:
    """Return quantiles of the distances between observations; those that coincide have 0.

    A pair of places counts ``w_i w_j`` times, a place with itself ``w_i (w_i - 1)`` times.
    """
    values = distances.ravel()
    m = len(weights)
    if (weights == 1).all():
        # Each place has one 0, with itself.
        ranks = [int(np.ceil(level * len(some) * (m - 1))) + len(some) - 1 for level in levels]
        return np.partition(values, ranks)[ranks]
    counts = weights[some, np.newaxis] * weights
    own = np.maximum(weights[some] * (weights[some] - 1.0), 0.0)
    counts[np.arange(len(some)), some] = own
    order = np.argsort(values)
    below = np.cumsum(counts.ravel()[order])
    wanted = np.searchsorted(below, np.array(levels) * below[-1] * (1 - 1e-12))
    return values[order[wanted]]
