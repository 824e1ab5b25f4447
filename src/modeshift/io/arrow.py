"""Parquet, Arrow and Feather, through pyarrow.

Polars reads these too, but a damaged Parquet file can make it end the whole process.
"""

from pathlib import Path
from typing import Any

from modeshift.io.limits import check_fits, check_unpacked, size_of
from modeshift.io.optional import require

_COPIES = 5.0  # memory that reading takes, as a multiple of the columns as float64
_WIDTH = 8  # bytes of a value


def frame_of_parquet(name: str, content: bytes | Path, columns: list[str]) -> Any:
    """Return a Parquet file as a lazy frame. From a file on disk only needed columns are read.

    ``columns`` are the needed ones; none: all may be.
    """
    import polars as pl

    require("pyarrow", "cli")
    from pyarrow import BufferReader, dataset, parquet

    file = BufferReader(content) if isinstance(content, bytes) else content
    about = parquet.read_metadata(file)
    n_values = about.num_rows * (len(columns) or about.num_columns)
    check_unpacked(name, size_of(content), n_values * _WIDTH)
    check_fits(name, _COPIES * n_values * _WIDTH)
    if isinstance(content, bytes):
        return checked(parquet.ParquetFile(BufferReader(content)).read())
    schema = parquet.read_schema(content)  # its errors are clearer than those of a dataset
    for column in schema.names:
        column.encode()  # a damaged name is an error here, and a panic in polars
    return pl.scan_pyarrow_dataset(
        dataset.dataset(content, schema=schema.remove_metadata(), format="parquet")
    )


def frame_of_arrow(content: bytes | Path) -> Any:
    """Return an Arrow file (or Feather, version 2) as a frame."""
    require("pyarrow", "cli")
    from pyarrow import ipc

    return checked(ipc.open_file(_opened(content)).read_all())


def frame_of_stream(content: bytes | Path) -> Any:
    """Return an Arrow stream as a frame."""
    require("pyarrow", "cli")
    from pyarrow import ipc

    return checked(ipc.open_stream(_opened(content)).read_all())


def _opened(content: bytes | Path) -> Any:
    from pyarrow import BufferReader, OSFile

    # No memory map: a file that another program cuts short would end the process.
    return BufferReader(content) if isinstance(content, bytes) else OSFile(str(content))


def checked(table: Any) -> Any:
    """Return an Arrow table as a frame. A damaged file may hold any lengths and offsets."""
    import polars as pl

    table.validate(full=True)
    frame: Any = pl.from_arrow(table)
    return frame.lazy()
