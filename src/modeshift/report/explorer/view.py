"""The axes that the page can show, for points of any dimension."""

from typing import NamedTuple

import numpy as np

from modeshift.io.prepare import Preparation
from modeshift.plots.axes import Axis, feature_axis, map_axes, principal_axes
from modeshift.plots.maps import SOURCE, Map, MapAxis, has_land, window

_MARGIN = 0.04  # around the points, as a share of the picture
_FEATURES = 12  # that can be chosen as an axis


class ViewAxis(NamedTuple):
    """One axis of the page.

    Attributes
    ----------
    axis : Axis, MapAxis or None
        None: the height of points with one feature, which has no meaning.
    low, high : float
        Ends of the axis: the lowest and the highest point, with a margin.
    scale, offset : float
        From coordinates of the axis to units of the data.
    """

    axis: Axis | MapAxis | None
    low: float
    high: float
    scale: float = 1.0
    offset: float = 0.0

    @property
    def name(self) -> str:
        """Name of the axis; "" for heights."""
        return "" if self.axis is None else self.axis.name

    def quantized(self, positions: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return coordinates on the axis as 65535ths of its length.

        ``numbers`` are the numbers of the points. A height depends on nothing else, so that a point
        keeps it on its climb.
        """
        if self.axis is None:
            return ((numbers * 40503) % 65536).astype(np.uint16)  # Knuth's multiplicative hash
        span = self.high - self.low
        shares = (self.axis.place(positions) - self.low) / (span if span > 0 else 1.0)
        return np.rint(np.clip(shares, 0, 1) * 65535).astype(np.uint16)


class View(NamedTuple):
    """The axes that a reader can choose from, and a remark about them. The first two are shown.

    ``on_map`` is the map that the axes belong to; None: there is none.
    """

    axes: list[ViewAxis]
    note: str
    on_map: Map | None = None

    def quantized(self, positions: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return coordinates as 65535ths of each axis, axis by axis."""
        return np.stack([axis.quantized(positions, numbers) for axis in self.axes])


def make_view(points: np.ndarray, preparation: Preparation) -> View:
    """Return the axes of points: their two features, or two principal axes and then features.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Points as they were clustered.
    preparation : Preparation
        Scaling of the data.
    """
    points = points.astype(np.float64)
    names = preparation.columns
    d = len(names)
    features = [
        _in_units(points, feature_axis(names, k), preparation) for k in range(d)[:_FEATURES]
    ]
    if d == 1:
        note = "There is only one feature; the height of a point has no meaning."
        return View([*features, ViewAxis(None, 0.0, 0.0)], note)
    if d == 2:
        return View(features, "")
    first, second, share = principal_axes(points)
    note = (
        f"Choose the axes below the picture. The first two principal axes of the {d} features hold "
        f"{share:.0%} of their variance. Points that look close may be far apart."
    )
    return View([_with_ends(points, first), _with_ends(points, second), *features], note)


def make_map_view(points: np.ndarray, feature_scale: tuple[float, ...] | None) -> View:
    """Return the axes of a map of latitudes and longitudes, in the units of the user."""
    across, up = map_axes(points.astype(np.float64), feature_scale)
    on_map, scale = across.map, np.array(across.feature_scale)
    ends = window(on_map, points.astype(np.float64) / scale)
    (left, right), (low, high) = ends.tolist()
    in_degrees = 1.0 / on_map.stretch if on_map.period else 1.0
    axes = [ViewAxis(across, left, right, in_degrees), ViewAxis(up, low, high)]
    note = on_map.describe()
    if has_land(ends):
        note += f" Land: {SOURCE}, exact to some 10 km."
    return View(axes, note, on_map)


def _with_ends(points: np.ndarray, axis: Axis) -> ViewAxis:
    places = axis.place(points)
    low, high = float(places.min()), float(places.max())
    room = _MARGIN * (high - low)
    return ViewAxis(axis, low - room, high + room)


def _in_units(points: np.ndarray, axis: Axis, preparation: Preparation) -> ViewAxis:
    """Return the axis of a feature, with the units of the data."""
    found = _with_ends(points, axis)
    if preparation.offset is None or preparation.scale is None:
        return found
    scale, offset = preparation.scale[axis.feature], preparation.offset[axis.feature]
    return found._replace(scale=float(scale), offset=float(offset))
