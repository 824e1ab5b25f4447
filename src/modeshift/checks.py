"""Checks of single values. Every error names the parameter, the value and the remedy."""

from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np  # imported in functions at run time, so that the command starts fast


def check_real(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = inf,
    low_allowed: bool = True,
    high_allowed: bool = False,
) -> float:
    """Return value as a float if it is between low and high."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    number = float(value)
    above = low <= number if low_allowed else low < number
    below = number <= high if high_allowed else number < high
    if not (above and below):  # NaN ends here as well
        lower = f"at least {low:g}" if low_allowed else f"greater than {low:g}"
        limit = f"at most {high:g}" if high_allowed else f"less than {high:g}"
        upper = "finite" if high == inf else limit
        raise ValueError(f"{name} must be {lower} and {upper}, got {value!r}.")
    return number


def check_whole(name: str, value: Any, *, low: int) -> int:
    """Return value as an int if it is a whole number of at least low."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return value if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        named = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {named}, got {value!r}.")
    return value


def refuse(option: str, other: str, why: str) -> None:
    """Raise the error that two options do not go together."""
    raise ValueError(f"{option} and {other} do not go together: {why}")


def check_flag(name: str, value: Any) -> bool:
    """Return value if it is True or False."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_jobs(name: str, value: Any) -> int:
    """Return a number of threads: a whole number other than 0."""
    number = check_whole(name, value, low=-(2**31))
    if number == 0:
        raise ValueError(f"{name} must not be 0; use 1 for one thread or -1 for all cores.")
    return number


def check_seeding(name: str, value: Any) -> Any:
    """Return None, a number of points or "bins"; an array is checked later."""
    allowed = f"{name} must be None, a number of points, 'bins' or an array of starting positions"
    if isinstance(value, str) and value != "bins":
        raise ValueError(f"{allowed}, got {value!r}.")
    if not isinstance(value, Real):
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{allowed}, got {value!r}.")
    return check_whole(name, value, low=1)


def check_feature_weights(name: str, value: Any) -> Any:
    """Return None, "learned", or a temperature as a float."""
    if value is None or (isinstance(value, str) and value == "learned"):
        return value
    allowed = f"{name} must be None, 'learned' or a temperature (a finite number above 0)"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{allowed}, got {value!r}.")
    temperature = float(value)
    if not 0 < temperature < inf:  # NaN ends here as well
        raise ValueError(f"{allowed}, got {value!r}.")
    return temperature


def check_feature_scale(name: str, value: Any) -> tuple[float, ...] | None:
    """Return a positive length for each feature; None divides nothing."""
    if value is None:
        return None
    if isinstance(value, str) or getattr(value, "ndim", 1) != 1 or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{name} must be None, or a sequence with one number for each feature, got {value!r}."
        )
    return tuple(
        check_real(f"{name}[{i}]", each, low=0.0, low_allowed=False) for i, each in enumerate(value)
    )


def check_bandwidth(value: Any, *, cosine: bool = False, infinite: bool = False) -> float:
    """Return the bandwidth as a float if it is one positive number.

    A cosine distance is at most 2. With ``infinite`` the bandwidth may be infinite.
    """
    if _is_sequence(value):
        raise TypeError(
            f"bandwidth must be one number, got {value!r}; "
            "only StochasticMeanShift takes a pair (low, high)."
        )
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"bandwidth must be a number, or None to choose it from the data, got {value!r}."
        )
    if value == inf:
        if infinite:
            return inf
        raise ValueError(
            f"bandwidth must be finite, got {value!r}; it may be infinite only together with "
            "n_neighbors=k."
        )
    if not cosine:
        return check_real("bandwidth", value, low=0.0, low_allowed=False)
    try:
        return check_real(
            "bandwidth", value, low=0.0, high=2.0, low_allowed=False, high_allowed=True
        )
    except ValueError as error:
        raise ValueError(
            f"{error} With metric='cosine' the bandwidth is a distance 1 - cos."
        ) from error


def check_bandwidth_pair(
    value: Any, *, cosine: bool = False, infinite: bool = False
) -> float | tuple[float, float]:
    """Return a positive number, or a pair of them in rising order, as floats.

    The ends of a pair must be finite: a radius is drawn between them.
    """
    if not _is_sequence(value):
        return check_bandwidth(value, cosine=cosine, infinite=infinite)
    if len(value) != 2:
        raise ValueError(f"bandwidth must be one number or a pair (low, high), got {value!r}.")
    try:
        low, high = (check_bandwidth(end, cosine=cosine) for end in value)
    except TypeError as error:
        raise TypeError(
            f"bandwidth must be one number or a pair of numbers (low, high), got {value!r}."
        ) from error
    except ValueError as error:
        raise ValueError(f"{error} The pair was {value!r}.") from error
    if low > high:
        raise ValueError(
            f"bandwidth must be a pair (low, high) with low <= high, got {value!r}; swap the two."
        )
    return low, high


def _is_sequence(value: Any) -> bool:
    return isinstance(value, tuple | list) or getattr(value, "ndim", 0) > 0


def check_weights(sample_weight: Any, n: int) -> "np.ndarray":
    """Return the weights as float64, one for each point; all ones for None."""
    import numpy as np

    if sample_weight is None:
        return np.ones(n)
    weights = check_each_weight("sample_weight", sample_weight, n)
    if not weights.any():
        raise ValueError(ONLY_ZEROS)
    return weights


ONLY_ZEROS = "sample_weight must contain a weight above 0, got only zeros."


def check_each_weight(name: str, values: Any, n: int) -> "np.ndarray":
    """Return n weights as float64; all of them may be 0."""
    import numpy as np

    try:
        weights = np.asarray(values)
        if weights.dtype.kind not in "biufO":
            raise TypeError(f"got {weights.dtype} such as {weights.ravel()[:1].tolist()[0]!r}")
        weights = weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        reason = str(error).split(". ")[0]
        raise ValueError(f"{name} must contain real numbers ({reason}).") from error
    if weights.shape != (n,):
        raise ValueError(
            f"{name} must have shape ({n},), one weight for each point of X, got {weights.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if bad.size:
        raise ValueError(
            f"{name} must be finite and not negative, "
            f"got {float(weights[bad[0]])!r} at position {bad[0]}."
        )
    return weights
