"""Columns of vectors, such as embeddings, become one column for each feature."""

from typing import Any

from modeshift.io.errors import FileError


def spread_vectors(name: str, frame: Any) -> Any:
    """Replace each column of number lists by columns ``column_0``, ``column_1`` and so on.

    Parameters
    ----------
    name : str
        Name of the file, for errors.
    frame : polars.LazyFrame
    """
    import polars as pl

    schema = frame.collect_schema()
    vectors = [
        column
        for column, dtype in schema.items()
        if isinstance(dtype, pl.List | pl.Array) and dtype.inner.is_numeric()
    ]
    if not vectors:
        return frame
    columns: list[Any] = []
    for column, dtype in schema.items():
        if column not in vectors:
            columns.append(pl.col(column))
        elif isinstance(dtype, pl.Array):
            columns += _entries(pl.col(column).arr, column, dtype.shape[0])
        else:
            columns += _entries(pl.col(column).list, column, _width(name, frame, column))
    return frame.select(columns)


def _entries(vectors: Any, column: str, width: int) -> list[Any]:
    return [vectors.get(k).alias(f"{column}_{k}") for k in range(width)]


def _width(name: str, frame: Any, column: str) -> int:
    """Return the length of the lists in a column."""
    import polars as pl

    lengths = pl.col(column).list.len()
    least, most = frame.select(lengths.min(), lengths.max().alias("most")).collect().row(0)
    if least != most:
        raise FileError(
            f"{name}: column {column!r} holds lists of {least} to {most} numbers; "
            "all lists need the same length"
        )
    return least or 0
