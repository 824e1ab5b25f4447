"""A plane picture of points of any dimension."""

from typing import Any, NamedTuple

import numpy as np

_UNEQUAL = 8.0  # a picture whose sides differ by more than this factor is stretched

_MARGIN = 0.04  # around the points, as a share of the picture


class View(NamedTuple):
    """A plane picture of the clustered points: point x is drawn at ``(x - center) @ axes``.

    Attributes
    ----------
    center : ndarray of shape (d,)
    axes : ndarray of shape (d, 2)
    names : tuple of two str
    units : tuple of two (scale, offset)
        Scale and offset from coordinates of the picture to units of the data.
    note : str
        A remark for the reader.
    box : ndarray of shape (4,)
        Lowest x, highest x, lowest y, highest y of all points, with a margin.
    """

    center: np.ndarray
    axes: np.ndarray
    names: tuple[str, str]
    units: tuple[tuple[float, float], tuple[float, float]]
    note: str
    box: np.ndarray

    def place(self, positions: np.ndarray) -> np.ndarray:
        """Return coordinates in the picture."""
        return (positions - self.center) @ self.axes

    def quantized(self, positions: np.ndarray) -> np.ndarray:
        """Return coordinates in the picture as 65535ths of its box."""
        low, span = self.box[[0, 2]], self.box[[1, 3]] - self.box[[0, 2]]
        shares = (self.place(positions) - low) / np.where(span > 0, span, 1.0)
        return np.rint(np.clip(shares, 0, 1) * 65535).astype(np.uint16)

    @property
    def equal(self) -> bool:
        """Whether the picture is legible with the same unit on both axes."""
        spans = self.box[[1, 3]] - self.box[[0, 2]]
        return bool(0 < spans.max() <= _UNEQUAL * spans.min())


def make_view(points: np.ndarray, preparation: Any) -> View:
    """Return the picture of points: by their two features, or by two principal axes.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Points as they were clustered.
    preparation : Preparation
        Scaling of the data.
    """
    points = points.astype(np.float64)
    d = points.shape[1]
    center = points.mean(axis=0)
    if d <= 2:
        axes = np.eye(d, 2)
        center = np.zeros(d)
        units = tuple(_units(preparation, k) for k in range(2))
        names = (*preparation.columns, "")[:2]
        note = ""
        if d == 1:
            note = "There is only one feature; the height of a point has no meaning."
    else:
        offsets = (points - center) / (np.abs(points).max() or 1.0)  # keeps squares in range
        values, vectors = np.linalg.eigh(offsets.T @ offsets)
        axes = vectors[:, [-1, -2]]
        axes = axes * np.where(axes.sum(axis=0) < 0, -1.0, 1.0)  # fixes the sign of the axes
        share = 100 * values[[-1, -2]].sum() / max(values.sum(), np.finfo(float).tiny)
        units = ((1.0, 0.0), (1.0, 0.0))
        names = ("first principal axis", "second principal axis")
        note = (
            f"The picture shows two principal axes of the {d} features, with {share:.0f} % of "
            "their variance. Points that look close may be far apart."
        )
    view = View(center, axes, names, units, note, np.zeros(4))  # type: ignore[arg-type]
    places = view.place(points)
    low, high = places.min(axis=0), places.max(axis=0)
    room = _MARGIN * (high - low)
    low, high = low - room, high + room
    return view._replace(box=np.array([low[0], high[0], low[1], high[1]]))


def _units(preparation: Any, k: int) -> tuple[float, float]:
    if preparation.offset is None or k >= len(preparation.offset):
        return 1.0, 0.0
    return float(preparation.scale[k]), float(preparation.offset[k])
