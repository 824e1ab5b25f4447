"""Open a file as a lazy frame. Its first bytes decide the format."""

import gzip
import io
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.io.errors import FileChanged, FileError, TooLarge
from modeshift.io.geojson import looks_like_json
from modeshift.io.limits import check_fits, gunzipped_size, size_of, unzipped_size
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
_GZIP = b"\x1f\x8b"
_MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"\x93NUMPY": "NPY",
    b"PK\x03\x04": _ZIP,
}


_COPIES = {TEXT: 2.5, GEOJSON: 12.0, EXCEL: 8.0}
"""Memory that reading takes, as a multiple of the unpacked file: measured on tables of 50 to 100 MB
(docs/reliability.md)."""

_COPIES_OF_BINARY = 5.0


class Stamp(NamedTuple):
    """Size and time of a file when it was opened. Both are None for a stream."""

    path: Path | None = None
    size: int | None = None
    changed: int | None = None

    @classmethod
    def of(cls, path: Path) -> "Stamp":
        """Return the stamp that a file has now."""
        state = path.stat()
        return cls(path, state.st_size, state.st_mtime_ns)

    def check(self) -> None:
        """Refuse a file that has changed since: parts of what was read belong to other data."""
        if self.path is None:
            return
        try:
            changed = Stamp.of(self.path) != self
        except OSError:  # removed
            changed = True
        if changed:
            raise FileChanged(f"{self.path} was changed while it was read", "read it again")


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
    stamp : Stamp
        State of the file when it was opened.
    """

    name: str
    kind: str
    frame: Any
    arrays: dict[str, list[str]]
    features: Sequence[dict[str, Any]] = ()
    rows_before: int = 0
    stamp: Stamp = Stamp()

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
    stamp = Stamp() if isinstance(content, bytes) else Stamp.of(content)
    with reading(name, kind):
        _check_size(name, kind, content, head)
        return _opened(name, kind, content, head, columns or [], sheet)._replace(stamp=stamp)


def _opened(
    name: str, kind: str, content: bytes | Path, head: bytes, columns: list[str], sheet: str | None
) -> Source:
    if kind == TEXT:
        from modeshift.io.text import layout_of, scan_text

        return Source(name, kind, scan_text(name, content, layout_of(name, unpacked(head))), {})
    if kind == GEOJSON:
        from modeshift.io.geojson import frame_of_geojson

        frame, features = frame_of_geojson(name, content, columns)
        return Source(name, kind, frame, {}, features)
    if kind == EXCEL:
        from modeshift.io.excel import frame_of_excel

        return Source(name, kind, frame_of_excel(name, content, sheet), {})
    if kind == "NPZ":
        from modeshift.io.arrays import frame_of_npz

        return Source(name, kind, *frame_of_npz(name, content, columns))
    return Source(name, kind, _scan(name, kind, content, columns), {})


def _check_size(name: str, kind: str, content: bytes | Path, head: bytes) -> None:
    """Refuse a file that is made to fill memories, or does not fit into this one."""
    unpacked_size = size_of(content)
    if head.startswith(_GZIP):
        unpacked_size = gunzipped_size(name, content)
    elif kind in (EXCEL, "NPZ"):
        unpacked_size = unzipped_size(name, content)
    if kind != "Parquet":  # of which only some columns are read
        check_fits(name, _COPIES.get(kind, _COPIES_OF_BINARY) * unpacked_size)


@contextmanager
def reading(name: str, kind: str) -> Iterator[None]:
    """Turn any error while a file is read into one line about the file."""
    import polars as pl

    try:
        yield
    except (FileError, ImportError):
        raise
    except MemoryError as error:
        raise TooLarge(
            f"{name} does not fit into memory ({error or 'of this process'})",
            "name fewer columns, or fit batches with partial_fit (docs/streams.md)",
        ) from error
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
    if not head.startswith(_GZIP):
        return head
    import zlib

    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, HEAD)
    except zlib.error as error:
        raise gzip.BadGzipFile(str(error)) from error


def _scan(name: str, kind: str, content: bytes | Path, columns: list[str]) -> Any:
    from modeshift.io.arrays import frame_of_npy
    from modeshift.io.arrow import frame_of_arrow, frame_of_parquet, frame_of_stream
    from modeshift.io.vectors import spread_vectors

    if kind == "NPY":
        return frame_of_npy(name, content)
    if kind == "Parquet":
        return spread_vectors(name, frame_of_parquet(name, content, columns))
    read = frame_of_arrow if kind == "Arrow" else frame_of_stream
    return spread_vectors(name, read(content))
