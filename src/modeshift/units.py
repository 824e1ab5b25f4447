"""The units in which a fit computes: the scale, as a rule the bandwidth, lies between 1 and 2."""

from typing import NamedTuple

import numpy as np

from modeshift.fields.rule import Rule

LARGEST = 2.0**1000
"""No coordinate of a point reaches this, so differences are finite and there is room beyond."""


class Problem(NamedTuple):
    """Checked input, divided by a power of two.

    Such a division rounds nothing, and in these units the squares of distances neither overflow
    nor vanish, whatever units the user has. (Where data exceed the bandwidth by 1e301 and more, the
    unit is larger and the bandwidth less than 1. Unit vectors stay unit vectors.)

    Attributes
    ----------
    points : ndarray of shape (n, d), float64
    weights : ndarray of shape (n,), float64
    radius : float
        The bandwidth, or the higher one of a pair, as a length.
    scale : float
        What ``tol`` and ``merge_radius`` are fractions of: the radius, if that is finite.
    exponent, weight_exponent : int
        The units of length and weight are ``2 ** exponent`` and ``2 ** weight_exponent``.
    rule : Rule
        Which points count in a mean.
    factors : ndarray of shape (d,) or None
        By which features are multiplied to measure distances, when their weights were learned.
    """

    points: np.ndarray
    weights: np.ndarray
    radius: float
    scale: float
    exponent: int
    weight_exponent: int
    rule: Rule
    factors: np.ndarray | None = None

    def measured(self, positions: np.ndarray) -> np.ndarray:
        """Return positions in the coordinates in which distances are measured."""
        return positions if self.factors is None else positions * self.factors


class Units(NamedTuple):
    """Exponents of the units of length and weight."""

    length: int
    weight: int


def choose_units(X: np.ndarray, weights: np.ndarray, scale: float) -> Units:
    """Choose units in which the scale is between 1 and 2, and neither sums nor squares overflow."""
    length = max(_magnitude(scale) - 1, _magnitude(np.abs(X).max()) - 1000)
    if _magnitude(scale) - length < -500:
        raise ValueError(
            f"bandwidth={scale!r} is too small for values as large as {np.abs(X).max():.2g}: "
            "float64 cannot hold both. Take a larger bandwidth."
        )
    # Sums of weights stay finite, and their products with offsets are not subnormal.
    heaviest = _magnitude(weights.max())
    weight = heaviest - int(np.clip(heaviest, -500, 1000 - _magnitude(len(X))))
    return Units(length, weight)


def to_units(X: np.ndarray, exponent: int) -> np.ndarray:
    """Scale positions; those beyond all points of a problem are brought to where nobody is."""
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(X, -exponent, dtype=np.float64), -2 * LARGEST, 2 * LARGEST)


def from_units(positions: np.ndarray, problem: Problem, dtype: np.dtype | type) -> np.ndarray:
    """Scale positions back."""
    return np.ldexp(positions, problem.exponent).astype(dtype)


def _magnitude(value: float) -> int:
    """Exponent e with value < 2 ** e."""
    return int(np.frexp(value)[1])
