"""Parts of a set of points: sums, silhouettes and merging.

The dissimilarity of two points is half their squared distance (1 - cos for unit vectors).
"""

import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage

from modeshift.speech.geometry import Geometry


def compact(labels: np.ndarray) -> np.ndarray:
    """Renumber labels 0, 1, 2 and so on."""
    return np.unique(labels, return_inverse=True)[1].ravel()


def parts_of(points: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum and the number of the points of each part."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.add.reduceat(points[order], starts, axis=0), counts.astype(np.float64)


def order_by(labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Renumber parts by falling weight, ties by first appearance."""
    names, firsts, owners = np.unique(labels, return_index=True, return_inverse=True)
    order = np.lexsort((firsts, -np.bincount(owners.ravel(), weights=weights)))
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[order] = np.arange(len(names))
    return ranks[owners.ravel()]


def dissolve(
    geometry: Geometry, points: np.ndarray, labels: np.ndarray, keep: np.ndarray
) -> np.ndarray:
    """Give the points of parts that are not kept to the most similar part that is."""
    lost = np.flatnonzero(~keep[labels])
    kept = np.flatnonzero(keep[labels])
    labels = labels.copy()
    if lost.size:
        names = np.unique(labels[kept])
        sums, counts = parts_of(points[kept], np.searchsorted(names, labels[kept]))
        labels[lost] = names[geometry.scores(points[lost], sums, counts).argmax(axis=1)]
    return compact(labels)


def silhouette(points: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean of (b - a) / max(a, b) over the points (Rousseeuw 1987); 0 for one part.

    a is the mean dissimilarity to the other points of the own part, b the least mean to another
    part. A point alone has 0. Means follow from sums: with q = |x|^2 / 2, the mean of q_i + q_j -
    x_i x_j over a part of n points is q_i + sum q / n - x_i (sum x) / n.
    """
    sums, counts = parts_of(points, labels)
    if len(counts) < 2:
        return 0.0
    halves = 0.5 * (points * points).sum(axis=1)
    totals = np.bincount(labels, weights=halves) - points @ sums.T
    means = halves[:, np.newaxis] + totals / counts
    rows = np.arange(len(labels))
    own_counts = counts[labels]
    own = means[rows, labels] * own_counts / np.maximum(own_counts - 1.0, 1.0)
    means[rows, labels] = np.inf
    other = means.min(axis=1)
    larger = np.maximum(own, other)
    fair = (own_counts > 1) & (larger > 1e-12)
    return float(np.where(fair, (other - own) / np.where(fair, larger, 1.0), 0.0).mean())


def merge_to(points: np.ndarray, labels: np.ndarray, wanted: int) -> np.ndarray:
    """Merge the two parts with the least mean dissimilarity until a number of parts is left."""
    labels = compact(labels)
    sums, counts = parts_of(points, labels)
    totals = np.bincount(labels, weights=0.5 * (points * points).sum(axis=1))
    names = list(range(len(counts)))
    target = np.arange(len(counts))
    while len(names) > wanted:
        middle = sums / counts[:, np.newaxis]
        apart = (totals / counts)[:, np.newaxis] + totals / counts - middle @ middle.T
        np.fill_diagonal(apart, np.inf)
        a, b = sorted(int(i) for i in np.unravel_index(np.argmin(apart), apart.shape))
        target[np.isin(target, names[b])] = names[a]
        sums[a], counts[a], totals[a] = (
            sums[a] + sums[b],
            counts[a] + counts[b],
            totals[a] + totals[b],
        )
        sums, counts, totals = (np.delete(x, b, axis=0) for x in (sums, counts, totals))
        del names[b]
    return compact(target[labels])


def linked(points: np.ndarray, wanted: int) -> np.ndarray:
    """Merge single points by average linkage until a number of parts is left.

    The labels are those of ``merge_to`` for parts of one point each, with a table of all pairs.
    """
    if wanted == len(points):
        return np.arange(len(points))
    tree = linkage(points, "average", metric="sqeuclidean")
    return compact(cut_tree(tree, wanted)[:, 0])
