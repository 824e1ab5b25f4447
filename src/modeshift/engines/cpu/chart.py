"""Charts: how the rows of a user become points, and points become rows."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.sphere import normalised
from modeshift.globe import to_places, to_vectors
from modeshift.plda import PLDAMetric
from modeshift.spec import Spec


class Chart(NamedTuple):
    """The way from rows to points, between which distances are Euclidean, and back.

    Features are divided by their scale. Then cosine distance divides rows by their length, and
    latitude and longitude in degrees become unit vectors in space. A PLDA has its own coordinates.

    Attributes
    ----------
    metric : str or PLDAMetric
    feature_scale : tuple of float, or None
    """

    metric: str | PLDAMetric = "euclidean"
    feature_scale: tuple[float, ...] | None = None

    def points(self, rows: np.ndarray, name: str) -> np.ndarray:
        """Return the points of rows; errors call them ``name``."""
        if self.metric == "cosine":
            return normalised(rows, name)
        if isinstance(self.metric, PLDAMetric):
            return self.metric.coordinates(rows.astype(np.float64, copy=False), name)
        if self.feature_scale is not None:
            rows = rows / np.array(self.feature_scale)
        return to_vectors(rows, name) if self.metric == "haversine" else rows

    def rows(self, points: np.ndarray) -> np.ndarray:
        """Return the rows of points: the inverse, except for the length of vectors."""
        if isinstance(self.metric, PLDAMetric):
            return self.metric.rows_of(points)
        rows = to_places(points) if self.metric == "haversine" else points
        return rows if self.feature_scale is None else rows * np.array(self.feature_scale)

    def n_coordinates(self, n_features: int) -> int:
        """Return the number of coordinates of a point."""
        if isinstance(self.metric, PLDAMetric):
            return len(self.metric.psi)
        return 3 if self.metric == "haversine" else n_features

    def n_features(self, n_coordinates: int) -> int:
        """Return the number of columns of a row: the inverse."""
        if isinstance(self.metric, PLDAMetric):
            return self.metric.n_features
        return 2 if self.metric == "haversine" else n_coordinates


def chart_of(spec: Spec) -> Chart:
    """Return the chart of a spec."""
    return Chart(spec.metric, spec.feature_scale)
