"""Distances of points to their k-th nearest point, with the digits of scikit-learn's search."""

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from modeshift.engines.cpu.parallel import run_blocks

BATCH = 500
"""Number of points that scikit-learn searches for, and adds up, at a time."""

_MANY_FEATURES = 15
"""Up to this number of features scikit-learn searches in a tree, and distances are exact."""


def distances_to_nearest(points: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
    """Return the distance of each point to its k-th nearest point; a point is its own nearest.

    In many dimensions, or for half of the points, scikit-learn compares all points with matrix
    products. This is fast, but loses digits, so its own search is used.
    """
    if points.shape[1] > _MANY_FEATURES or k >= len(points) // 2:
        search = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(points)
        batches = gen_batches(len(points), BATCH)
        return np.concatenate([search.kneighbors(points[b])[0].max(axis=1) for b in batches])
    squares = np.empty(len(points))

    def block(start: int, stop: int) -> None:
        distances = cdist(points[start:stop], points, "sqeuclidean")
        squares[start:stop] = np.partition(distances, k - 1, axis=1)[:, k - 1]

    run_blocks(block, len(points), effective_n_jobs(n_jobs))
    return np.sqrt(squares)
