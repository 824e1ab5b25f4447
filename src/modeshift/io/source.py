"""Open a file as a lazy frame. Its first bytes decide the format."""

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.io.errors import FileError
from modeshift.io.optional import require

STDIN = "-"
TEXT = "CSV or TSV"
HEAD = 1 << 16
"""Number of bytes that decide the format."""

_ENDINGS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".npy": "NPY",
    ".npz": "NPZ",
}
_MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"\x93NUMPY": "NPY",
    b"PK\x03\x04": "NPZ",
}


class Source(NamedTuple):
    """An open table.

    Attributes
    ----------
    name : str
        Name of the file as the user gave it.
    kind : str
        Its format.
    frame : polars.LazyFrame
    """

    name: str
    kind: str
    frame: Any

    @property
    def is_text(self) -> bool:
        """Whether all columns are text, numbers included."""
        return self.kind == TEXT


def open_source(path: str) -> Source:
    """Open a file, or standard input for "-".

    CSV and TSV (gzipped too), Parquet, Arrow and Feather, NPY and NPZ.
    """
    require("polars", "cli")
    name = "standard input" if path == STDIN else path
    content = _content(path)
    head = content[:HEAD] if isinstance(content, bytes) else _head(content)
    if not head:
        raise FileError(f"{name} is empty")
    kind = _kind(name, head)
    with reading(name, kind):
        if kind == TEXT:
            from modeshift.io.text import scan_text

            return Source(name, kind, scan_text(name, content, _unpacked(head)))
        return Source(name, kind, _scan(name, kind, content))


@contextmanager
def reading(name: str, kind: str) -> Iterator[None]:
    """Turn any error while a file is read into one line about the file."""
    import polars as pl

    try:
        yield
    except (FileError, ImportError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # readers raise many kinds of errors
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise FileError(
            f"{name} cannot be read as {kind} ({reason}); is the file complete?"
        ) from error


def _content(path: str) -> bytes | Path:
    """Return the path of a plain file, or the bytes of a stream."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    place = Path(path)
    try:
        if place.is_dir():
            raise FileError(f"{path} is a folder; name a file in it")
        if place.is_file():
            return place
        return place.read_bytes()
    except FileNotFoundError:
        raise FileError(f"there is no file {path}; check its name and folder") from None
    except OSError as error:
        raise FileError(f"{path} cannot be opened: {error.strerror}") from error
    except FileError:
        raise
    except ValueError as error:  # a null character
        raise FileError(f"{path!r} is no valid file name: {error}") from error


def _head(place: Path) -> bytes:
    try:
        with place.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        raise FileError(f"{place} cannot be opened: {error.strerror}") from error


def _kind(name: str, head: bytes) -> str:
    """Return the format, by the first bytes; text if no other format fits."""
    if head.startswith(b"FEA1"):
        raise FileError(f"{name} is a Feather file of version 1; save it as version 2")
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), TEXT)
    expected = _ENDINGS.get(Path(name).suffix.lower())
    if kind == TEXT and expected is not None:
        raise FileError(
            f"{name} is no {expected} file, although its name says so; is the file complete, and "
            "its ending right?"
        )
    return kind


def _unpacked(head: bytes) -> bytes:
    """Return the first bytes, unpacked if they are gzipped."""
    if not head.startswith(b"\x1f\x8b"):
        return head
    import zlib

    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error as error:
        raise gzip.BadGzipFile(str(error)) from error


def _scan(name: str, kind: str, content: bytes | Path) -> Any:
    from modeshift.io.arrays import frame_of_npy, frame_of_npz
    from modeshift.io.arrow import frame_of_arrow, frame_of_parquet, frame_of_stream
    from modeshift.io.vectors import spread_vectors

    if kind == "NPY":
        return frame_of_npy(name, content)
    if kind == "NPZ":
        return frame_of_npz(name, content)
    if kind == "Parquet":
        return spread_vectors(name, frame_of_parquet(content))
    read = frame_of_arrow if kind == "Arrow" else frame_of_stream
    return spread_vectors(name, read(content))
