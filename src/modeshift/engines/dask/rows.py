"""Rows of Dask data, as an array with one chunk of columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from modeshift.checks import check_each_weight
from modeshift.engines.cpu.chart import Chart
from modeshift.engines.cpu.units import check_length, check_weight_range, to_units
from modeshift.engines.dask.lookout import Lookout


class Rows(NamedTuple):
    """Points and weights in chunks.

    Attributes
    ----------
    points : dask array of shape (n, d)
        One chunk of columns; chunk sizes may be unknown.
    weights : dask array of shape (n,), or None
        Weights, in the same chunks.
    dtype : dtype
        float32 or float64, the type of the results.
    lookout : Lookout
        Computes what is asked of the rows.
    """

    points: Any
    weights: Any
    dtype: np.dtype
    lookout: Lookout

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return int(self.points.numblocks[0])

    @property
    def starts(self) -> np.ndarray:
        """Number of the first row of each chunk; if sizes are unknown, any rising numbers."""
        sizes = np.asarray(self.points.chunks[0], dtype=float)
        if np.isnan(sizes).any():
            return np.arange(len(sizes)) << 40
        return np.concatenate([[0], np.cumsum(sizes.astype(np.int64))[:-1]])

    def blocks(self) -> list[tuple[Any, Any]]:
        """Chunks of points and weights, as delayed objects."""
        points = self.points.to_delayed().ravel().tolist()
        if self.weights is None:
            return [(block, None) for block in points]
        return list(zip(points, self.weights.to_delayed().ravel().tolist(), strict=True))


class Form(NamedTuple):
    """Conversion of a chunk into points of a problem.

    Attributes
    ----------
    dtype : dtype
        Type of the points.
    n_features : int
    chart : Chart
        How rows become points.
    exponent : int
        The unit of length is ``2 ** exponent``.
    """

    dtype: np.dtype
    n_features: int
    chart: Chart
    exponent: int

    def points(self, block: Any, chunk: int) -> np.ndarray:
        """Check a chunk; return its points in the units of the problem."""
        values = check_chunk(block, self.dtype, self.n_features, chunk)
        if len(values) == 0:
            return np.empty((0, self.chart.n_coordinates(self.n_features)))
        values = self.chart.points(values, f"chunk {chunk} of X")
        check_length(values, self.exponent, f"chunk {chunk} of X")
        return to_units(values, self.exponent)


@contextmanager
def in_chunk(chunk: int) -> Iterator[None]:
    """Put the number of the chunk in front of errors about X."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"In chunk {chunk} of X: {error}") from error


def check_chunk(block: Any, dtype: np.dtype, n_features: int, chunk: int) -> np.ndarray:
    """Return a chunk as an array of floats, finite throughout; it may have no rows."""
    with in_chunk(chunk):
        values = np.ascontiguousarray(np.asarray(block), dtype=dtype)
    if not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(
            f"chunk {chunk} of X contains {what}. Drop these rows, or fill the values in; see "
            "docs/missing-values.md."
        )
    if values.shape[1] != n_features:
        raise ValueError(
            f"chunk {chunk} of X has {values.shape[1]} columns, but X has {n_features}. All "
            "chunks need the same columns."
        )
    return values


def check_chunk_weights(block: Any, n: int, chunk: int) -> np.ndarray:
    """Return the weights of a chunk as float64, all ones for None; all may be 0."""
    if block is None:
        return np.ones(n)
    name = f"chunk {chunk} of sample_weight"
    weights = check_each_weight(name, block, n)
    check_weight_range(weights, name, "Dask data")
    return weights


def example_of(X: Any) -> Any:
    """Check the shape of X; return one row, with names, number and type of the features."""
    points = _as_array(X)
    if points.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, got a Dask array of shape {points.shape}; "
            "reshape it to (rows, features)."
        )
    if np.isnan(points.shape[1]):
        raise ValueError(
            "The number of columns of X is unknown; call X.compute_chunk_sizes() first."
        )
    if 0 in points.shape:
        raise ValueError(f"X must have at least one row and one column, got shape {points.shape}.")
    if hasattr(X, "_meta_nonempty"):
        return X._meta_nonempty.head(1)  # the second row of nullable types is missing
    return np.ones((1, points.shape[1]), dtype=points.dtype)


def as_rows(X: Any, dtype: np.dtype, sample_weight: Any) -> Rows:
    """Return a collection as rows of a type, with weights in the same chunks."""
    points = _as_array(X).rechunk({1: -1})
    return Rows(points, _weights_like(points, sample_weight), dtype, Lookout())


def _as_array(X: Any) -> Any:
    if isinstance(X, da.Array):
        return X
    if hasattr(X, "_meta_nonempty"):  # dataframes and series
        return X.to_dask_array()
    raise TypeError(
        f"X must be a Dask array or dataframe, got {type(X).__name__}; convert it with "
        "dask.array.from_delayed or .to_dataframe() first."
    )


def _weights_like(points: Any, sample_weight: Any) -> Any:
    """Return the weights as a Dask array with the chunks of the points."""
    if sample_weight is None:
        return None
    sizes = points.chunks[0]
    known = not np.isnan(sizes).any()
    if not isinstance(sample_weight, da.Array):
        if hasattr(sample_weight, "_meta_nonempty"):
            sample_weight = sample_weight.to_dask_array()
        elif known:
            sample_weight = da.from_array(np.asarray(sample_weight), chunks=-1)
        else:
            raise ValueError(
                "sample_weight must be a Dask collection with the same chunks as X, because the "
                "chunk sizes of X are unknown. Or call X.compute_chunk_sizes() first."
            )
    if sample_weight.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got {sample_weight.ndim}.")
    if known and not np.isnan(sample_weight.shape[0]):
        if sample_weight.shape[0] != points.shape[0]:
            raise ValueError(
                f"sample_weight must have shape ({points.shape[0]},), one weight for each row of "
                f"X, got {sample_weight.shape}."
            )
        return sample_weight.rechunk((sizes,))
    if sample_weight.numblocks[0] != len(sizes):
        raise ValueError(
            f"sample_weight has {sample_weight.numblocks[0]} chunks and X has {len(sizes)}, and "
            "their sizes are unknown. Take both from one dataframe, or call compute_chunk_sizes() "
            "on both."
        )
    return sample_weight
