"""scikit-learn's rule: the mean radius of a ball that holds a given share of the points."""

import numpy as np
from scipy.spatial.distance import cdist

from modeshift.choice.sample import Sample


def quantile_radius(sample: Sample, quantile: float) -> float:
    """Mean over the points of the distance to their k-th nearest, k = quantile times their number.

    Where most points coincide and this is 0, half the smallest gap between two points; 0 when all
    do.
    """
    distances = cdist(sample.places, sample.places)
    radius = _mean_radius(distances, sample.weights, quantile)
    return radius or _half_smallest_gap(distances)


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
