"""Internal units of a fit, in which the scale (mostly the bandwidth) is between 1 and 2."""

import numpy as np

from modeshift.engines.problem import Units

LARGEST = 2.0**1000
"""Upper bound of all coordinates, so that differences are finite."""

_HIGHEST = 1000  # exponent of the largest coordinate and weight, in the units of a fit
_LOWEST = -500  # exponent of the smallest weight that counts alone


def choose_units(X: np.ndarray, weights: np.ndarray, scale: float) -> Units:
    """Choose units in which the scale is between 1 and 2, and neither sums nor squares overflow."""
    length = max(_magnitude(scale) - 1, _magnitude(np.abs(X).max()) - 1000)
    if _magnitude(scale) - length < -500:
        raise ValueError(
            f"bandwidth={scale!r} is too small for values as large as {np.abs(X).max():.2g}: "
            "float64 cannot represent both. Take a larger bandwidth."
        )
    # Sums of weights stay finite, and their products with offsets are not subnormal.
    heaviest = _magnitude(weights.max())
    weight = heaviest - int(np.clip(heaviest, -500, 1000 - _magnitude(len(X))))
    return Units(length, weight)


def to_units(X: np.ndarray, exponent: int) -> np.ndarray:
    """Scale positions. Positions far beyond all points are moved closer, but stay beyond them."""
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(X, -exponent, dtype=np.float64), -2 * LARGEST, 2 * LARGEST)


def check_length(values: np.ndarray, exponent: int, where: str) -> None:
    """Refuse values that are too large for the unit of length, which the bandwidth decides."""
    if _magnitude(np.abs(values).max()) - exponent > _HIGHEST:
        raise ValueError(
            f"bandwidth is too small for values as large as {np.abs(values).max():.2g}, which "
            f"are in {where}. Take a larger bandwidth."
        )


def check_weight_range(weights: np.ndarray, name: str, where: str) -> None:
    """Refuse weights so heavy or light that sums of parts would overflow or vanish."""
    counting = weights[weights > 0]
    exponents = np.frexp(counting)[1]
    if exponents.size and (exponents.max() > _HIGHEST - 64 or exponents.min() < _LOWEST):
        large = exponents.max() > _HIGHEST - 64
        raise ValueError(
            f"{name} must be between 1e-150 and 1e280 for {where}, got "
            f"{counting.max() if large else counting.min():.2g}. "
            f"{'Divide' if large else 'Multiply'} all weights by a common number."
        )


def _magnitude(value: float) -> int:
    """Return an exponent e with value < 2 ** e."""
    return int(np.frexp(value)[1])
