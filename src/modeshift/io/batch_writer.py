"""Write a long table batch by batch. The file is complete or absent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from modeshift.io.errors import FileError
from modeshift.io.geojson import GeoJsonWriter
from modeshift.io.optional import require
from modeshift.io.whole_file import whole_file

_NPY_HEAD = 128  # bytes of the head of an NPY file with one column, whatever its length

Write = Callable[[Any], None]
"""Writes a batch: a frame, or features for GeoJSON."""


@contextmanager
def batch_writer(path: Path) -> Iterator[Write]:
    """Return a function that writes one batch after another, in the format of the ending."""
    try:
        with whole_file(path) as file, _WRITERS[path.suffix.lower()](file) as write:
            yield write
    except OSError as error:
        reason = error.strerror or error
        raise OSError(f"{path} could not be written: {reason}; no partial file was left") from error


def check_batch_ending(path: Path) -> None:
    """Refuse a file name whose format cannot be written batch by batch."""
    if path.suffix.lower() not in _WRITERS:
        raise FileError(
            f"{path} cannot be written batch by batch", f"take one of {', '.join(_WRITERS)}"
        )


@contextmanager
def _csv(file: IO[bytes], separator: str = ",") -> Iterator[Write]:
    begun = False

    def write(frame: Any) -> None:
        nonlocal begun
        frame.write_csv(file, include_header=not begun, separator=separator)
        begun = True

    yield write


@contextmanager
def _tsv(file: IO[bytes]) -> Iterator[Write]:
    with _csv(file, "\t") as write:
        yield write


@contextmanager
def _parquet(file: IO[bytes]) -> Iterator[Write]:
    require("pyarrow", "cli")
    from pyarrow import parquet

    with _arrow_tables(lambda schema: parquet.ParquetWriter(file, schema)) as write:
        yield write


@contextmanager
def _arrow(file: IO[bytes]) -> Iterator[Write]:
    require("pyarrow", "cli")
    from pyarrow import ipc

    with _arrow_tables(lambda schema: ipc.new_file(file, schema)) as write:
        yield write


@contextmanager
def _arrow_tables(open_writer: Callable[[Any], Any]) -> Iterator[Write]:
    """Write tables of Arrow, all with the columns and types of the first."""
    writer: Any = None
    schema: Any = None

    def write(frame: Any) -> None:
        nonlocal writer, schema
        table = frame.to_arrow()
        if writer is None:
            schema = table.schema
            writer = open_writer(schema)
        writer.write_table(table.cast(schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _npy(file: IO[bytes]) -> Iterator[Write]:
    """Write the last column; its length is known at the end, when the head is written."""
    length, dtype = 0, np.dtype(np.int64)
    file.write(bytes(_NPY_HEAD))

    def write(frame: Any) -> None:
        nonlocal length
        column = frame[:, -1].to_numpy().astype(dtype)
        file.write(column.tobytes())
        length += len(column)

    yield write
    head = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    file.seek(0)
    np.lib.format.write_array_header_1_0(file, head)
    assert file.tell() == _NPY_HEAD  # NumPy pads it


@contextmanager
def _geojson(file: IO[bytes]) -> Iterator[Write]:
    writer = GeoJsonWriter(file)
    yield writer.write
    writer.close()


_WRITERS: dict[str, Any] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
    ".npy": _npy,
    ".geojson": _geojson,
}
