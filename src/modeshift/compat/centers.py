"""From ends of climbs to cluster centres, by scikit-learn's rules.

Ends are ordered by the number of points in their last ball, and then by their coordinates, both
falling. An end becomes a centre unless an earlier centre lies within the bandwidth.

Two ends with equal counts are ordered by the last digit where their coordinates agree, so means
must be rounded as scikit-learn rounds them: the points of a ball are added up in the order in which
its search finds them. Only the ends that can become centres are computed like this.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from modeshift.compat.climbs import Ends


def find_centers(ends: Ends, points: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return the cluster centres, in the order of their labels."""
    search = NearestNeighbors(radius=bandwidth).fit(points)
    centers: list[np.ndarray] = []
    while len(ends.counts) > 0:
        top = ends.counts == ends.counts.max()
        rivals, ends = ends.where(top), ends.where(~top)
        new = _thinned(_falling(_exact_means(rivals, points, search)), bandwidth)
        for center in new:
            ends = ends.where(_is_far(ends.means, center, bandwidth))
        centers += new
    return np.array(centers)


def _exact_means(ends: Ends, points: np.ndarray, search: NearestNeighbors) -> np.ndarray:
    """Return the means of the last balls, to the last digit those of scikit-learn."""
    balls = search.radius_neighbors(ends.places, return_distance=False)
    # In many dimensions scikit-learn's distances are inexact, and a small ball may be empty.
    means = [
        points[ball].mean(axis=0) if len(ball) else mean
        for ball, mean in zip(balls, ends.means, strict=True)
    ]
    return np.array(means)


def _falling(means: np.ndarray) -> np.ndarray:
    """Sort by the first coordinate, ties by the next ones, all falling."""
    return means[np.lexsort(means.T[::-1])[::-1]]


def _thinned(means: np.ndarray, bandwidth: float) -> list[np.ndarray]:
    """Keep every mean that is farther than the bandwidth from all that were kept before it."""
    kept = []
    while len(means) > 0:
        kept.append(means[0])
        means = means[_is_far(means, means[0], bandwidth)]
    return kept


def _is_far(places: np.ndarray, center: np.ndarray, bandwidth: float) -> np.ndarray:
    offsets = places.astype(np.float64) - center
    return np.square(offsets).sum(axis=1) > bandwidth * bandwidth
