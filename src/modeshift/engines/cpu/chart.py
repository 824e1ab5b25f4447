"""Charts: how the rows of a user become points, and points become rows."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.sphere import normalised
from modeshift.globe import to_places, to_vectors
from modeshift.spec import Spec


class Chart(NamedTuple):
    """The way from rows to points, between which distances are Euclidean, and back.

    Features are divided by their scale. Then cosine distance divides rows by their length, and
    latitude and longitude in degrees become unit vectors in space.

    Attributes
    ----------
    metric : str
    feature_scale : tuple of float, or None
    """

    metric: str = "euclidean"
    feature_scale: tuple[float, ...] | None = None

    def points(self, rows: np.ndarray, name: str) -> np.ndarray:
        """Return the points of rows; errors call them ``name``."""
        if self.metric == "cosine":
            return normalised(rows, name)
        if self.feature_scale is not None:
            rows = rows / np.array(self.feature_scale)
        return to_vectors(rows, name) if self.metric == "haversine" else rows

    def rows(self, points: np.ndarray) -> np.ndarray:
        """Return the rows of points: the inverse, except for the length of vectors."""
        rows = to_places(points) if self.metric == "haversine" else points
        return rows if self.feature_scale is None else rows * np.array(self.feature_scale)

    def n_coordinates(self, n_features: int) -> int:
        """Return the number of coordinates of a point."""
        return 3 if self.metric == "haversine" else n_features


def chart_of(spec: Spec) -> Chart:
    """Return the chart of a spec."""
    return Chart(spec.metric, spec.feature_scale)
