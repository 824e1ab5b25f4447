"""Axes of a plane picture of points of any dimension: features, or principal axes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from modeshift.plots.maps import MapAxis, map_of

MOST_UNEQUAL = 3.0  # a picture whose sides differ by more than this factor is stretched


class Axis(NamedTuple):
    """One axis of a picture: point x is drawn at ``(x - center) @ direction``.

    Attributes
    ----------
    name : str
    center, direction : ndarray of shape (d,)
    feature : int or None
        Number of the feature; None for other directions.
    """

    name: str
    center: np.ndarray
    direction: np.ndarray
    feature: int | None = None

    def place(self, points: np.ndarray) -> np.ndarray:
        """Return the coordinates of points on this axis."""
        if self.feature is not None:
            return points[..., self.feature]
        return (points - self.center) @ self.direction


def feature_axis(names: Sequence[str], k: int) -> Axis:
    """Return the axis of feature k."""
    d = len(names)
    return Axis(names[k], np.zeros(d), np.eye(d)[k], k)


def principal_axes(points: np.ndarray) -> tuple[Axis, Axis, float]:
    """Return the two directions of the largest variance, and their share of all variance."""
    center = points.mean(axis=0)
    offsets = (points - center) / (np.abs(points).max() or 1.0)  # keeps squares in range
    values, vectors = np.linalg.eigh(offsets.T @ offsets)
    first, second = vectors[:, -1], vectors[:, -2]
    share = values[[-1, -2]].sum() / max(values.sum(), np.finfo(float).tiny)
    return (
        Axis("first principal axis", center, _with_fixed_sign(first)),
        Axis("second principal axis", center, _with_fixed_sign(second)),
        float(share),
    )


def chosen_axes(points: np.ndarray, names: Sequence[str], wanted: Any) -> tuple[list[Axis], str]:
    """Return the axes of a picture, and a remark about them.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    names : list of str
        Names of the features.
    wanted : pair of names or indices of features, or None
        None: the features up to two dimensions, the two principal axes above.
    """
    d = len(names)
    if wanted is not None:
        return [feature_axis(names, k) for k in _numbers(names, wanted)], ""
    if d <= 2:
        return [feature_axis(names, k) for k in range(d)], ""
    first, second, share = principal_axes(points)
    return [first, second], f"two principal axes of {d} features, {share:.0%} of the variance"


def map_axes(points: np.ndarray, feature_scale: Sequence[float] | None) -> list[MapAxis]:
    """Return the axes of a map of latitudes and longitudes, in the units of the user."""
    scale = tuple(feature_scale) if feature_scale is not None else (1.0, 1.0)
    on_map = map_of(points / np.array(scale))
    names = ("", "") if on_map.pole else ("longitude", "latitude")
    return [MapAxis(name, on_map, k, scale) for k, name in enumerate(names)]


def looks_equal(*spans: float) -> bool:
    """Return whether a picture is legible with the same unit on both axes."""
    return bool(0 < max(spans) <= MOST_UNEQUAL * min(spans))


def _with_fixed_sign(direction: np.ndarray) -> np.ndarray:
    """Return the direction or its opposite, so that the same data give the same picture."""
    return -direction if direction.sum() < 0 else direction


def _numbers(names: Sequence[str], wanted: Any) -> list[int]:
    """Return the numbers of two features that are given by name or number."""
    pair = () if isinstance(wanted, str) else tuple(wanted)
    if len(pair) != 2:
        raise ValueError(f"axes={wanted!r} must be two features, by name or number.")
    return [_number(names, each) for each in pair]


def _number(names: Sequence[str], wanted: Any) -> int:
    if wanted in names:
        return list(names).index(wanted)
    if isinstance(wanted, int | np.integer) and -len(names) <= wanted < len(names):
        return int(wanted) % len(names)
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise ValueError(
        f"axes has {wanted!r}, which is no feature; take a name ({listed}) or a number from 0 to "
        f"{len(names) - 1}."
    )
