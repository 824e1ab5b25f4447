"""How wide a neighbourhood should be, judged from the data."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from modeshift.validation import (
    check_matrix,
    check_randomness,
    check_real,
    check_weights,
    check_whole,
)


def estimate_bandwidth(
    X: Any,
    *,
    quantile: float = 0.3,
    n_samples: int = 1000,
    sample_weight: Any = None,
    random_state: Any = None,
) -> float:
    """Estimate a bandwidth: the mean radius of a ball around a point that holds a given share.

    This is scikit-learn's rule, with the same numbers up to ``n_samples`` points: the mean over
    the points of the distance to their k-th nearest one, themselves included, where k is
    ``quantile`` times their number. It is a starting point, not an optimum.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    quantile : float, default=0.3
        Share of the data that a ball holds, between 0 and 1.
    n_samples : int, default=1000
        Above this many points a random sample of that size is used; the cost is quadratic in it.
    sample_weight : array-like of shape (n,), default=None
        A point of weight 2 counts as two points.
    random_state : int, RandomState instance or None
        Draws the sample.

    Returns
    -------
    float
        Always positive. Where most points coincide and the rule gives 0, half the smallest gap
        between two points; 1.0 when all points coincide.
    """
    quantile = check_real("quantile", quantile, low=0.0, high=1.0, high_allowed=True)
    n_samples = check_whole("n_samples", n_samples, low=1)
    points = check_matrix("X", X)
    weights = check_weights(sample_weight, len(points))
    points, weights = points[weights > 0], _as_counts(weights[weights > 0])
    if len(points) > n_samples:
        rng = check_randomness(random_state)
        chosen = rng.choice(len(points), n_samples, replace=False, p=weights / weights.sum())
        points, weights = points[chosen], np.ones(n_samples)
    # A power of two as the unit keeps squares of tiny and huge numbers within range, exactly.
    exponent = int(np.frexp(np.abs(points).max())[1])
    distances = cdist(*[np.ldexp(points, -exponent)] * 2)
    radius = _mean_radius(distances, weights, quantile) or _half_smallest_gap(distances)
    with np.errstate(over="ignore"):
        return min(float(np.ldexp(radius, exponent)), np.finfo(np.float64).max) or 1.0


def _as_counts(weights: np.ndarray) -> np.ndarray:
    """Divide weights that are not counts by the smallest, so that their unit does not matter."""
    counts = (weights == np.rint(weights)).all() and weights.max() < 2.0**53
    return weights if counts else weights / weights.min()


def _mean_radius(distances: np.ndarray, weights: np.ndarray, quantile: float) -> float:
    """Weighted mean over the points of the radius that holds the k nearest, by weight."""
    order = np.argsort(distances, axis=1)
    held = np.cumsum(weights[order], axis=1)
    share = held[0, -1] * quantile
    if (weights == np.rint(weights)).all():
        share = max(1.0, np.floor(share))  # scikit-learn's k nearest
    reached = np.argmax(held >= share * (1 - 1e-12), axis=1)
    rows = np.arange(len(distances))
    return float(np.average(distances[rows, order[rows, reached]], weights=weights))


def _half_smallest_gap(distances: np.ndarray) -> float:
    gaps = distances[distances > 0]
    return float(gaps.min()) / 2 if gaps.size else 0.0
