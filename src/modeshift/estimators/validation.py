"""Checks of arrays that users pass in, by scikit-learn. Errors name the parameter."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from modeshift.engines.kinds import has_dates, is_lazy_frame
from modeshift.globe import find_columns

_FLOATS = [np.float64, np.float32]


def check_randomness(random_state: Any) -> np.random.RandomState:
    """Return the random generator of a random_state, as scikit-learn makes it."""
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a RandomState "
            f"instance, got {random_state!r}."
        ) from error


def check_points(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Return X as a C-contiguous float32 or float64 array of shape (n, d), finite throughout."""
    with _errors_name("X", X):
        return validate_data(estimator, X, reset=reset, dtype=_FLOATS, order="C")


def as_places(X: Any, metric: Any) -> Any:
    """Return the columns of latitude and longitude of a frame, in this order, by their names.

    Frames without such names, arrays, and data of other metrics stay as they are.
    """
    names = None if is_lazy_frame(X) else getattr(X, "columns", None)
    if metric != "haversine" or names is None:
        return X
    try:
        columns = find_columns(list(names))
    except ValueError as error:
        raise ValueError(f"X is not usable with metric='haversine': {error}") from None
    return X if columns is None else X[columns]


def check_matrix(name: str, values: Any) -> np.ndarray:
    """Return a parameter as a float64 array of two dimensions, finite throughout."""
    with _errors_name(name, values):
        return check_array(values, dtype=np.float64, input_name=name)


@contextmanager
def _errors_name(name: str, values: Any) -> Iterator[None]:
    """Refuse values that are not numeric. Errors are one line and name the parameter."""
    if is_lazy_frame(values):
        raise TypeError(
            f"{name} is a polars LazyFrame, which holds no data; pass {name}.collect()."
        )
    if has_dates(values):
        raise TypeError(_about_dates(name))
    if issparse(values):
        raise TypeError(
            f"{name} is sparse, and mean-shift needs dense data. Reduce it with "
            "sklearn.decomposition.TruncatedSVD (docs/sparse-data.md), or take "
            f"{name}.toarray() if that is small."
        )
    array = _as_array(values)
    kind = getattr(getattr(array, "dtype", None), "kind", None)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} must be real.")
    if kind in {"U", "S", "T", "M", "m"} and array.size:
        what = "dates or times" if kind in "Mm" else "strings"
        example = array.ravel()[:1].tolist()[0]
        raise ValueError(
            f"{name} must be numeric, got {what} such as {example!r}; convert it to floats first."
        )
    try:
        with np.errstate(invalid="ignore"):  # scikit-learn sums values, and inf - inf may come
            yield
    except (TypeError, ValueError) as error:
        message = _in_our_words(name, values, str(error))
        if message is not None:  # without the original, so that a traceback does not show it
            raise type(error)(message) from None
        message = " ".join(str(error).split())
        if "could not convert" in message:
            message += "; encode or drop columns that are not numeric"
        if not message.startswith((f"{name} ", f"Input {name} ")):
            message = f"{name} is not usable: {message}"
        raise type(error)(message) from error


def _in_our_words(name: str, values: Any, message: str) -> str | None:
    """Return a short message instead of a long one of scikit-learn or NumPy; None to keep it."""
    if "contains NaN" in message:
        fill = ", or fill the values in (sklearn.impute.SimpleImputer)" if name == "X" else ""
        return f"Input {name} contains NaN. Drop these rows{fill}; see docs/missing-values.md."
    if "contains infinity" in message:
        fill = ", or replace the values" if name == "X" else ""
        limit = "float32" if "float32" in message else "float64"
        return (
            f"Input {name} contains infinity, or a value too large for {limit}. "
            f"Drop these rows{fill}."
        )
    if message.startswith(("Expected 2D", "Expected a 2-dim")):
        shape = np.shape(values)
        got = f"shape {shape}" if shape else repr(values)
        remedy = (
            " Reshape your data: reshape(-1, 1) if it is one feature, reshape(1, -1) if it is one "
            "point."
        )
        return (
            f"{name} must have two dimensions (points, features), got {got}."
            f"{remedy if len(shape) == 1 and shape[0] else ''}"
        )
    if "inhomogeneous" in message:
        return f"{name} must have rows of the same length."
    if "could not be promoted" in message:
        return _about_dates(name)
    if message.startswith("Feature names are only supported"):
        return (
            f"{name} has column names that are strings and others that are not; make all of them "
            "strings."
        )
    if message.startswith("The feature names should match"):
        differing = re.findall(r"(unseen|missing)[^\n]*:\n((?:- [^\n]*\n?)+)", message)
        return f"{name} must have the columns of the fit, in the same order." + "".join(
            f" {'Unknown' if kind == 'unseen' else 'Missing'}: "
            + ", ".join(line.removeprefix("- ") for line in lines.splitlines())
            + "."
            for kind, lines in differing
        )
    return None


def _about_dates(name: str) -> str:
    return f"{name} has columns of dates or times; convert them to numbers, or drop them."


def _as_array(values: Any) -> Any:
    """Return a list as an array; None if its rows have different lengths."""
    if not isinstance(values, list | tuple):
        return values
    try:
        return np.asarray(values)
    except ValueError:  # ragged
        return None
