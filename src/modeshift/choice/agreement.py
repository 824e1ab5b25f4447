"""How far two labellings of the same points agree."""

from itertools import pairwise

import numpy as np


def agreement(labels: np.ndarray, others: np.ndarray, weights: np.ndarray) -> float:
    """Adjusted Rand index (Hubert & Arabie 1985), 0 instead of negative values.

    A point of weight 2 counts as two points.
    """
    both = np.unique(labels * (others.max() + 1) + others, return_inverse=True)[1]
    together = _pairs(both, weights)
    first, second = _pairs(labels, weights), _pairs(others, weights)
    all_pairs = 0.5 * weights.sum() * (weights.sum() - 1.0)
    expected = first * second / all_pairs if all_pairs > 0 else 0.0
    largest = 0.5 * (first + second)
    if largest <= expected:  # both are one cluster, or both are single points
        return 1.0
    return float(max(0.0, (together - expected) / (largest - expected)))


def _pairs(labels: np.ndarray, weights: np.ndarray) -> float:
    """Number of pairs of points within the same cluster."""
    sizes = np.bincount(labels, weights=weights)
    return float(0.5 * (sizes * np.maximum(sizes - 1.0, 0.0)).sum())


def neighbour_agreement(runs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each row of labels the mean agreement with the row before and the row after."""
    if len(runs) == 1:
        return np.ones(1)
    steps = np.array([agreement(a, b, weights) for a, b in pairwise(runs)])
    return 0.5 * (np.r_[steps[:1], steps] + np.r_[steps, steps[-1:]])
