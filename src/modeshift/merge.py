"""From final positions to clusters: components, labels, centres."""

import numpy as np

from modeshift._jit import kernel
from modeshift.fields.distance import squared_distance


@kernel
def connected_components(points, radius):
    """Number the connected components under "at most ``radius`` apart", by first appearance.

    A search that keeps a list of those not yet reached: each point is compared only with these,
    so points that gathered are passed over once and for all.
    """
    n = points.shape[0]
    reach = radius * radius
    components = np.full(n, -1)
    waiting = np.arange(n)
    n_waiting = n
    stack = np.empty(n, dtype=np.int64)
    n_components = 0
    for first in range(n):
        if components[first] >= 0:
            continue
        components[first] = n_components
        stack[0] = first
        height = 1
        while height > 0:
            height -= 1
            here = stack[height]
            kept = 0
            for i in range(n_waiting):
                j = waiting[i]
                if components[j] >= 0:
                    continue
                if squared_distance(points[j], points[here]) <= reach:
                    components[j] = n_components
                    stack[height] = j
                    height += 1
                else:
                    waiting[kept] = j
                    kept += 1
            n_waiting = kept
        n_components += 1
    return components


def label_components(
    components: np.ndarray, weights: np.ndarray, min_cluster_size: int = 1
) -> np.ndarray:
    """Number clusters by falling size, ties by first appearance; -1 for those that are too small.

    The size of a cluster is the weight of its points, which is their number without weights.
    ``min_cluster_size=1`` keeps every cluster, whatever its weight.
    """
    sizes = np.bincount(components, weights=weights)
    ranking = np.argsort(-sizes, kind="stable")  # components are numbered by first appearance
    labels = np.empty(len(sizes), dtype=np.int64)
    labels[ranking] = np.arange(len(sizes))
    if min_cluster_size > 1:
        labels[sizes < min_cluster_size] = -1
    return labels[components]


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
