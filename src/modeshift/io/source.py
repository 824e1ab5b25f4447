"""Open a file as a lazy frame. Its first bytes decide the format."""

import gzip
import io
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.io.errors import FileError
from modeshift.io.geojson import looks_like_json
from modeshift.io.optional import require

STDIN = "-"
TEXT = "CSV or TSV"
EXCEL = "Excel"
GEOJSON = "GeoJSON"
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
    ".xlsx": EXCEL,
    ".geojson": GEOJSON,
}
_ZIP = "zip"
_MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"\x93NUMPY": "NPY",
    b"PK\x03\x04": _ZIP,
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
    arrays : dict of str to list of str
        Names of the arrays of an NPZ file, and the columns that each array became. The first array
        holds the points. Empty for other formats.
    features : list of dict
        Features of a GeoJSON file, one for each row. Empty for other formats.
    rows_before : int
        Number of rows of the file before these, if they are a batch of it.
    """

    name: str
    kind: str
    frame: Any
    arrays: dict[str, list[str]]
    features: Sequence[dict[str, Any]] = ()
    rows_before: int = 0

    @property
    def may_be_text(self) -> bool:
        """Whether a column of text may hold numbers."""
        return self.kind in (TEXT, EXCEL)


def open_source(path: str, columns: list[str] | None = None, sheet: str | None = None) -> Source:
    """Open a file, or standard input for "-".

    CSV and TSV (gzipped too), Excel, Parquet, Arrow and Feather, NPY and NPZ, GeoJSON.

    Parameters
    ----------
    path : str
    columns : list of str, default=None
        The features, if they are known. In an NPZ file such a name may be that of an array; in a
        GeoJSON file names of latitude and longitude stand for the coordinates.
    sheet : str, default=None
        Sheet of an Excel file. None: the first sheet.
    """
    require("polars", "cli")
    name = "standard input" if path == STDIN else path
    content = _content(path)
    head = content[:HEAD] if isinstance(content, bytes) else _head(content)
    if not head:
        raise FileError(f"{name} is empty")
    kind = kind_of(name, head, content)
    if sheet is not None and kind != EXCEL:
        raise FileError(
            f"{name} is {kind} and has no sheet {sheet!r}; only Excel files have sheets"
        )
    with reading(name, kind):
        if kind == TEXT:
            from modeshift.io.text import layout_of, scan_text

            return Source(name, kind, scan_text(name, content, layout_of(name, unpacked(head))), {})
        if kind == GEOJSON:
            from modeshift.io.geojson import frame_of_geojson

            frame, features = frame_of_geojson(name, content, columns or [])
            return Source(name, kind, frame, {}, features)
        if kind == EXCEL:
            from modeshift.io.excel import frame_of_excel

            return Source(name, kind, frame_of_excel(name, content, sheet), {})
        if kind == "NPZ":
            from modeshift.io.arrays import frame_of_npz

            return Source(name, kind, *frame_of_npz(name, content, columns or []))
        return Source(name, kind, _scan(name, kind, content), {})


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
    with opening(path):
        return place if place.is_file() else place.read_bytes()


@contextmanager
def opening(path: str) -> Iterator[None]:
    """Turn any error while a file is opened into one line about its path."""
    try:
        if Path(path).is_dir():
            raise FileError(f"{path} is a folder; name a file in it")
        yield
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


def kind_of(name: str, head: bytes, content: bytes | Path) -> str:
    """Return the format, by the first bytes; text if no other format fits."""
    if head.startswith(b"FEA1"):
        raise FileError(f"{name} is a Feather file of version 1; save it as version 2")
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), TEXT)
    expected = _ENDINGS.get(Path(name).suffix.lower())
    if kind == _ZIP:
        return _kind_of_archive(name, content)
    if kind == TEXT:
        with reading(name, kind):
            if looks_like_json(unpacked(head)):
                return GEOJSON
    if kind == TEXT and expected is not None:
        raise FileError(
            f"{name} is no {expected} file, although its name says so; is the file complete, and "
            "its ending right?"
        )
    return kind


def _kind_of_archive(name: str, content: bytes | Path) -> str:
    """Return the format of a zip archive, by the names of its members."""
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return _ENDINGS.get(Path(name).suffix.lower(), "NPZ")  # its reader says what is wrong
    if "xl/workbook.xml" in members:
        return EXCEL
    if any(member.endswith(".npy") for member in members):
        return "NPZ"
    raise FileError(f"{name} is a zip archive, but neither NPZ nor Excel; unpack it first")


def unpacked(head: bytes) -> bytes:
    """Return the first bytes, unpacked if they are gzipped."""
    if not head.startswith(b"\x1f\x8b"):
        return head
    import zlib

    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error as error:
        raise gzip.BadGzipFile(str(error)) from error


def _scan(name: str, kind: str, content: bytes | Path) -> Any:
    from modeshift.io.arrays import frame_of_npy
    from modeshift.io.arrow import frame_of_arrow, frame_of_parquet, frame_of_stream
    from modeshift.io.vectors import spread_vectors

    if kind == "NPY":
        return frame_of_npy(name, content)
    if kind == "Parquet":
        return spread_vectors(name, frame_of_parquet(content))
    read = frame_of_arrow if kind == "Arrow" else frame_of_stream
    return spread_vectors(name, read(content))
