"""The points that are clustered."""

import numpy as np
from sklearn.datasets import make_blobs

from modeshift.datasets import make_paper_set

BANDWIDTH = 0.8
"""For the three Gaussians."""


def gaussians(n):
    """Three 2-D Gaussians of the paper's Set 4, n points in all."""
    return make_paper_set(4, scale=n / 4500, random_state=0)


def blobs(n, d):
    """Twenty round blobs of standard deviation 1 and the bandwidth for them.

    Two points of a blob are sqrt(2 d) apart in the root mean square: with this bandwidth the ball
    around the middle of a blob, whose points are sqrt(d) away from it, holds the blob.
    """
    X, y = make_blobs(n, n_features=d, centers=20, random_state=0)
    return X, y, float(np.sqrt(2 * d))


def unit_vectors(n, d=256, groups=60):
    """Directions that scatter about 60 others, like the embeddings that people cluster."""
    rng = np.random.RandomState(0)
    centers = _normalised(rng.randn(groups, d))
    y = np.arange(n) % groups
    return _normalised(centers[y] + 0.03 * rng.randn(n, d)), y


def _normalised(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
