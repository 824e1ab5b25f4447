"""From components to clusters: numbers, labels and centres."""

import numpy as np

from modeshift.nearest import nearest_rows


def number_by_first(components: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """Number components anew by the lowest of the numbers that their members bring."""
    lowest = np.full(components.max() + 1, firsts.max() + 1)
    np.minimum.at(lowest, components, firsts)
    numbers = np.empty_like(lowest)
    numbers[np.argsort(lowest)] = np.arange(len(lowest))
    return numbers[components]


def label_components(
    components: np.ndarray, weights: np.ndarray, min_size: float = 0.0
) -> np.ndarray:
    """Number clusters by falling size, ties by first appearance; -1 for those that are too small.

    The size of a cluster is the weight of its points, which is their number without weights.
    """
    sizes = np.bincount(components, weights=weights)
    ranking = np.argsort(-sizes, kind="stable")  # components are numbered by first appearance
    labels = np.empty(len(sizes), dtype=np.int64)
    labels[ranking] = np.arange(len(sizes))
    labels[sizes < min_size] = -1
    return labels[components]


def join_strays(
    labels: np.ndarray, ends: np.ndarray, weights: np.ndarray, firsts: np.ndarray, n_jobs: int = 1
) -> np.ndarray:
    """Give points without a cluster (-1) the label of the nearest end that has one; renumber.

    Ties in size go by the lowest of ``firsts``. Without any cluster all stay -1.
    """
    strays, kept = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)
    if len(strays) == 0 or len(kept) == 0:
        return labels
    joined = labels.copy()
    joined[strays] = labels[kept[nearest_rows(ends[kept], ends[strays], n_jobs)]]
    return label_components(number_by_first(joined, firsts), weights)


def cluster_centers(modes: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted mean of the modes of each cluster; the plain mean where nothing has weight."""
    n_clusters = labels.max() + 1
    kept = labels >= 0
    labels, modes, weights = labels[kept], modes[kept], weights[kept]
    masses = np.bincount(labels, weights=weights, minlength=n_clusters)
    weights = np.where(masses[labels] > 0, weights, 1.0)
    masses = np.bincount(labels, weights=weights, minlength=n_clusters)
    # Sums are taken from a mode of the cluster on: far from the origin no digit is lost.
    anchors = np.zeros((n_clusters, modes.shape[1]))
    anchors[labels[::-1]] = modes[::-1]
    offsets = (modes - anchors[labels]) * weights[:, np.newaxis]
    sums = np.column_stack([np.bincount(labels, column, n_clusters) for column in offsets.T])
    return anchors + sums / masses[:, np.newaxis]
