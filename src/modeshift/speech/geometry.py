"""Where vectors of speech live: unit vectors, or the coordinates of a PLDA.

In both, half the squared distance of two points is a dissimilarity: 1 - cos for unit vectors, and
minus the PLDA score up to a term of each point. So the mean dissimilarity of a point and a cluster
follows from sums over the cluster, and no table of all pairs is made.
"""

from typing import Any, Protocol

import numpy as np

from modeshift.plda import PLDAMetric


class Geometry(Protocol):
    """Points for vectors, and the similarity of points with speakers."""

    metric: Any

    def points(self, vectors: np.ndarray) -> np.ndarray:
        """Return the points of vectors."""
        ...

    def bandwidth(self, dissimilarity: float) -> float:
        """Return the bandwidth whose neighbours are at most as dissimilar."""
        ...

    def scores(self, points: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the similarity of points (n, d) with speakers, as (n, s).

        A speaker is given by the sum of its points and their number.
        """
        ...

    def centers(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the vectors in the middle of speakers."""
        ...

    @property
    def same_from(self) -> float:
        """Score of two vectors from which they count as one speaker if there is nothing else."""
        ...


class Directions:
    """Unit vectors: the similarity is the cosine."""

    metric = "cosine"
    same_from = 0.5

    def points(self, vectors: np.ndarray) -> np.ndarray:
        """Divide each vector by its length."""
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        zero = np.flatnonzero(largest[:, 0] == 0)
        if zero.size:
            raise ValueError(f"vectors has only zeros in row {zero[0]}; drop such windows.")
        scaled = vectors / largest
        return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)

    def bandwidth(self, dissimilarity: float) -> float:
        """Return the cosine distance."""
        return float(min(dissimilarity, 2.0))

    def scores(self, points: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the cosine of each point with the sum of each speaker."""
        return points @ self.centers(sums, counts).T

    def centers(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the direction of each sum."""
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return sums / np.where(lengths > 0.0, lengths, 1.0)


class Latents:
    """Coordinates of a PLDA: the similarity is its score."""

    same_from = 0.0

    def __init__(self, metric: PLDAMetric) -> None:
        self.metric = metric

    def points(self, vectors: np.ndarray) -> np.ndarray:
        """Return the coordinates u."""
        return self.metric.coordinates(vectors, "vectors")

    def bandwidth(self, dissimilarity: float) -> float:
        """Return the distance in the coordinates."""
        return float(np.sqrt(2.0 * dissimilarity))

    def scores(self, points: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the log-likelihood ratio of each vector and the mean of each speaker."""
        return self.metric.scores_with_means(points, self.centers_of(sums, counts), counts)

    def centers_of(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the mean coordinates."""
        return sums / counts[:, np.newaxis]

    def centers(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the vectors of the mean coordinates."""
        return self.metric.rows_of(self.centers_of(sums, counts))


def geometry_of(metric: Any) -> Geometry:
    """Return the geometry of "cosine", a :class:`PLDAMetric`, or a fitted TwoCovariancePLDA."""
    if isinstance(metric, str) and metric == "cosine":
        return Directions()
    metric = getattr(metric, "metric_", metric)
    if isinstance(metric, PLDAMetric):
        return Latents(metric)
    raise ValueError(f'metric must be "cosine" or a fitted TwoCovariancePLDA, got {metric!r}.')
