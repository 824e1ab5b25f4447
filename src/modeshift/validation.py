"""Checks of what users pass in. Every error names the parameter, the value and the remedy."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data


def check_real(
    name: str, value: Any, *, low: float, high: float = np.inf, low_allowed: bool = True
) -> float:
    """Return value as a float if it lies between low and high (high itself excluded)."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    number = float(value)
    inside = (low <= number if low_allowed else low < number) and number < high
    if not inside:  # NaN ends here as well
        lower = f"at least {low:g}" if low_allowed else f"greater than {low:g}"
        upper = "finite" if high == np.inf else f"less than {high:g}"
        raise ValueError(f"{name} must be {lower} and {upper}, got {value!r}.")
    return number


def check_whole(name: str, value: Any, *, low: int) -> int:
    """Return value as an int if it is a whole number of at least low."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple) -> Any:
    """Return value if it is one of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        named = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {named}, got {value!r}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return value if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_bandwidth(value: Any) -> float:
    """Return the bandwidth as a float if it is one positive number."""
    if isinstance(value, tuple | list | np.ndarray):
        raise TypeError(
            f"bandwidth must be one number, got {value!r}; "
            "only StochasticMeanShift takes a pair (low, high)."
        )
    return check_real("bandwidth", value, low=0.0, low_allowed=False)


def check_bandwidth_pair(value: Any) -> float | tuple[float, float]:
    """Return a positive number, or a pair of them in rising order, as floats."""
    if not isinstance(value, tuple | list | np.ndarray):
        return check_bandwidth(value)
    if len(value) != 2:
        raise ValueError(f"bandwidth must be one number or a pair (low, high), got {value!r}.")
    low, high = (check_real("bandwidth", end, low=0.0, low_allowed=False) for end in value)
    if low > high:
        raise ValueError(
            f"bandwidth must be a pair (low, high) with low <= high, got {value!r}; swap the two."
        )
    return low, high


def check_points(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Return X as a C-contiguous float32 or float64 array of shape (n, d), finite throughout."""
    if getattr(getattr(X, "dtype", None), "kind", None) in {"U", "S", "T"}:
        raise ValueError(
            "X must be numeric, got an array of strings; convert it with X.astype(float)."
        )
    try:
        return validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], order="C")
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"X must be numeric, but holds other values ({error}); "
            "encode or drop such columns first."
        ) from error


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return one weight a point as float64, all ones for None."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers ({error}).") from error
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), one weight a point of X, got {weights.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if bad.size:
        raise ValueError(
            "sample_weight must be finite and not negative, "
            f"got {weights[bad[0]]!r} at position {bad[0]}."
        )
    if not weights.any():
        raise ValueError("sample_weight must hold at least one weight above 0, got only zeros.")
    return weights
