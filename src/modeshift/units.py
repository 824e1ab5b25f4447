"""The units in which a fit computes: the bandwidth lies between 1 and 2."""

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """Checked input, divided by a power of two.

    Such a division rounds nothing, and in these units the squares of distances neither overflow
    nor vanish, whatever units the user has.

    Attributes
    ----------
    points : ndarray of shape (n, d), float64
    weights : ndarray of shape (n,), float64
        The largest lies between 0.5 and 1.
    bandwidth : float or (low, high)
    radius : float
        The bandwidth, or the higher one of a pair.
    exponent : int
        The unit of length is ``2 ** exponent``.
    """

    points: np.ndarray
    weights: np.ndarray
    bandwidth: float | tuple[float, float]
    radius: float
    exponent: int


def in_units(X: np.ndarray, weights: np.ndarray, bandwidth: float | tuple[float, float]) -> Problem:
    """Scale points, weights and bandwidth."""
    high = bandwidth[1] if isinstance(bandwidth, tuple) else bandwidth
    exponent = int(np.frexp(high)[1]) - 1

    def scaled(length: float) -> float:
        return float(np.ldexp(length, -exponent))

    if isinstance(bandwidth, tuple):
        in_unit: float | tuple[float, float] = (scaled(bandwidth[0]), scaled(bandwidth[1]))
    else:
        in_unit = scaled(bandwidth)
    return Problem(
        points=to_units(X, exponent),
        weights=np.ldexp(weights, -int(np.frexp(weights.max())[1])),
        bandwidth=in_unit,
        radius=scaled(high),
        exponent=exponent,
    )


def to_units(X: np.ndarray, exponent: int) -> np.ndarray:
    """Scale positions, or say that they do not fit."""
    with np.errstate(over="ignore"):
        points = np.ldexp(X.astype(np.float64), -exponent)
    if not np.isfinite(points).all():
        raise ValueError(
            f"bandwidth (about {2.0**exponent:.2g}) is too small for values as large as "
            f"{np.abs(X).max():.2g}: float64 cannot hold their ratio. Take a larger bandwidth."
        )
    return points
