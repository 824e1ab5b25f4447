"""Parquet, Arrow and Feather, through pyarrow.

Polars reads these too, but a damaged Parquet file can make it end the whole process.
"""

from pathlib import Path
from typing import Any

from modeshift.io.optional import require


def frame_of_parquet(content: bytes | Path) -> Any:
    """Return a Parquet file as a lazy frame. From a file on disk only needed columns are read."""
    import polars as pl

    require("pyarrow", "cli")
    from pyarrow import BufferReader, dataset, parquet

    if isinstance(content, bytes):
        return checked(parquet.ParquetFile(BufferReader(content)).read())
    schema = parquet.read_schema(content)  # its errors are clearer than those of a dataset
    for name in schema.names:
        name.encode()  # a damaged name is an error here, and a panic in polars
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
    from pyarrow import BufferReader, memory_map

    return BufferReader(content) if isinstance(content, bytes) else memory_map(str(content))


def checked(table: Any) -> Any:
    """Return an Arrow table as a frame. A damaged file may hold any lengths and offsets."""
    import polars as pl

    table.validate(full=True)
    frame: Any = pl.from_arrow(table)
    return frame.lazy()
