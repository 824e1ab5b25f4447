"""How far labellings of the same points agree: the adjusted Rand index (Hubert & Arabie 1985)."""

import numpy as np

from modeshift.engines.cpu.jit import kernel


def agreement(labels: np.ndarray, others: np.ndarray, weights: np.ndarray) -> float:
    """Return the adjusted Rand index of two labellings, 0 instead of negative values.

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


def agreements(labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the adjusted Rand index of all pairs of rows of labels (H, m), as (H, H).

    The same as :func:`agreement`, for a sample: a table has room for every pair of labels, so the
    memory may grow with the square of the number of points.
    """
    widths = labels.max(axis=1) + 1
    table = np.zeros(int(widths.max()) ** 2)
    return _agreements(labels.astype(np.int64), widths, weights.astype(np.float64), table)


@kernel
def _agreements(labels, widths, weights, table):
    n_rows = len(labels)
    found = np.eye(n_rows)
    total = weights.sum()
    all_pairs = 0.5 * total * (total - 1.0)
    own = np.empty(n_rows)
    for a in range(n_rows):
        own[a] = _pairs_together(labels[a], labels[a], 0, weights, table)
        for b in range(a):
            together = _pairs_together(labels[a], labels[b], widths[b], weights, table)
            expected = own[a] * own[b] / all_pairs if all_pairs > 0.0 else 0.0
            largest = 0.5 * (own[a] + own[b])
            index = 1.0  # both are one cluster, or both are single points
            if largest > expected:
                index = max(0.0, (together - expected) / (largest - expected))
            found[a, b] = found[b, a] = index
    return found


@kernel
def _pairs_together(first, second, width, weights, table):
    """Number of pairs of points that are together in both labellings. The table stays all 0."""
    for i in range(len(first)):
        table[first[i] * width + second[i]] += weights[i]
    pairs = 0.0
    for i in range(len(first)):
        cell = first[i] * width + second[i]
        size = table[cell]
        pairs += 0.5 * size * max(size - 1.0, 0.0)
        table[cell] = 0.0
    return pairs
