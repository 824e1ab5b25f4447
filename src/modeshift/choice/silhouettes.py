"""How distinct clusters are in many dimensions, where small clusters have no core to count."""

import numpy as np

from modeshift.choice.valleys import different_and_apart
from modeshift.engines.cpu.jit import fast_sums

_RIVAL = 0.2  # of the points of a cluster that another one must have to be compared: no strays


def distinctness(
    distances: np.ndarray, labels: np.ndarray, weights: np.ndarray, dimension: float
) -> float:
    """Return the silhouettes beyond those of data without clusters.

    With s_i the mean silhouette of cluster i among its rivals, the clusters with a fifth of its
    points or more, S = sum_i p_i (1 - p_i / q) s_i and c = 0.7 exp(-dimension / 4)::

        max(0, (S - c) / (1 - c)).

    c is what clusters of uniform data reach, fitted from 1 to 64 dimensions (docs/bandwidth.md).
    """
    masses = np.bincount(labels, weights=weights)  # falling, as clusters are numbered
    n_clusters = int((masses >= 2.0).sum())
    if n_clusters < 2:
        return 0.0
    shares = masses[:n_clusters] / masses.sum()
    values = silhouettes(distances, labels, weights, masses[:n_clusters])
    chance = 0.7 * np.exp(-0.25 * dimension)
    return max(0.0, (different_and_apart(shares, values) - chance) / (1.0 - chance))


def silhouettes(
    distances: np.ndarray, labels: np.ndarray, weights: np.ndarray, masses: np.ndarray
) -> np.ndarray:
    """Return the mean over each cluster of (b - a) / max(a, b), at least 0 (Rousseeuw 1987).

    a is the mean distance to the other observations of the cluster, b the least mean distance to
    those of a rival. Clusters beyond the number of ``masses`` are left out.
    """
    rows = np.flatnonzero(labels < len(masses))
    owners = labels[rows]
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(masses) + 1))
    sums = np.empty((len(rows), len(masses)))
    _sum_distances(distances, rows, order, starts, weights[order], sums)
    own = sums[np.arange(len(rows)), owners] / np.maximum(masses[owners] - 1.0, 1e-300)
    sums /= masses
    rivals = masses >= _RIVAL * masses[:, np.newaxis]
    np.fill_diagonal(rivals, False)
    sums[~rivals[owners]] = np.inf
    other = sums.min(axis=1)
    larger = np.maximum(own, other)
    fair = np.isfinite(other) & (larger > 0.0)
    values = np.where(fair, other - own, 0.0) / np.where(fair, larger, 1.0)
    totals = np.bincount(owners, weights=weights[rows] * values, minlength=len(masses))
    return np.maximum(totals / masses, 0.0)


@fast_sums
def _sum_distances(distances, rows, order, starts, weights, sums):
    """Add up the distances from each of the rows to the points of each cluster.

    The points of cluster c are ``order[starts[c] : starts[c + 1]]``, with weights in that order.
    """
    for i in range(rows.shape[0]):
        row = distances[rows[i]]
        for c in range(sums.shape[1]):
            total = 0.0
            for j in range(starts[c], starts[c + 1]):
                total += weights[j] * row[order[j]]
            sums[i, c] = total
