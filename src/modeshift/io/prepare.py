"""Scaling of the data before a fit, and back into the user's units."""

from typing import NamedTuple

import numpy as np


class Preparation(NamedTuple):
    """Which columns are the features, and how they are scaled: (x - offset) / scale.

    Attributes
    ----------
    columns : list of str
    offset, scale : ndarray of shape (d,), or None without ``--standardize``
    """

    columns: list[str]
    offset: np.ndarray | None
    scale: np.ndarray | None

    def apply(self, points: np.ndarray) -> np.ndarray:
        """Scale points."""
        if self.offset is None or self.scale is None:
            return points
        return ((points - self.offset) / self.scale).astype(points.dtype)

    def undo(self, positions: np.ndarray) -> np.ndarray:
        """Bring positions back into the units of the data."""
        if self.offset is None or self.scale is None:
            return positions
        return positions * self.scale + self.offset


def prepare(
    points: np.ndarray, columns: list[str], weight: np.ndarray | None, standardize: bool
) -> Preparation:
    """Return the scaling: every feature to mean 0 and deviation 1, or none."""
    if not standardize:
        return Preparation(columns, None, None)
    exponent = magnitude(points)
    offset = np.ldexp(
        np.average(np.ldexp(points, -exponent), axis=0, weights=weight), exponent
    ).astype(np.float64)
    squares = np.ldexp(points - offset, -exponent) ** 2
    scale = np.ldexp(np.sqrt(np.average(squares, axis=0, weights=weight)), exponent)
    scale[scale == 0] = 1.0  # a constant feature stays constant
    return Preparation(columns, offset, scale)


def magnitude(points: np.ndarray) -> int:
    """Return an exponent e with all values below 2 ** e, so that scaled squares stay in range."""
    return int(np.frexp(np.abs(points).max(initial=0.0))[1])
