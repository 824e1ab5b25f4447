"""The units in which a fit computes: the bandwidth lies between 1 and 2."""

from typing import NamedTuple

import numpy as np

LARGEST = 2.0**1000
"""No coordinate of a point reaches this, so differences are finite and there is room beyond."""


class Problem(NamedTuple):
    """Checked input, divided by a power of two.

    Such a division rounds nothing, and in these units the squares of distances neither overflow
    nor vanish, whatever units the user has. (Where data exceed the bandwidth by 1e301 and more, the
    unit is larger and the bandwidth less than 1.)

    Attributes
    ----------
    points : ndarray of shape (n, d), float64
    weights : ndarray of shape (n,), float64
    bandwidth : float or (low, high)
    radius : float
        The bandwidth, or the higher one of a pair.
    exponent, weight_exponent : int
        The units of length and weight are ``2 ** exponent`` and ``2 ** weight_exponent``.
    """

    points: np.ndarray
    weights: np.ndarray
    bandwidth: float | tuple[float, float]
    radius: float
    exponent: int
    weight_exponent: int


def in_units(X: np.ndarray, weights: np.ndarray, bandwidth: float | tuple[float, float]) -> Problem:
    """Scale points, weights and bandwidth."""
    high = bandwidth[1] if isinstance(bandwidth, tuple) else bandwidth
    exponent = max(_magnitude(high) - 1, _magnitude(np.abs(X).max()) - 1000)
    if _magnitude(high) - exponent < -500:
        raise ValueError(
            f"bandwidth={high!r} is too small for values as large as {np.abs(X).max():.2g}: "
            "float64 cannot hold both. Take a larger bandwidth."
        )

    def scaled(length: float) -> float:
        return float(np.ldexp(length, -exponent))

    if isinstance(bandwidth, tuple):
        in_unit: float | tuple[float, float] = (scaled(bandwidth[0]), scaled(bandwidth[1]))
    else:
        in_unit = scaled(bandwidth)
    # Sums of weights stay finite, and their products with offsets are not subnormal.
    heaviest = _magnitude(weights.max())
    weight_exponent = heaviest - int(np.clip(heaviest, -500, 1000 - _magnitude(len(X))))
    return Problem(
        points=to_units(X, exponent),
        weights=np.ldexp(weights, -weight_exponent),
        bandwidth=in_unit,
        radius=scaled(high),
        exponent=exponent,
        weight_exponent=weight_exponent,
    )


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
