"""Tables in batches, for files that are larger than memory and for standard input."""

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from modeshift.io.errors import FileError
from modeshift.io.optional import require
from modeshift.io.source import (
    HEAD,
    STDIN,
    TEXT,
    Source,
    Stamp,
    kind_of,
    opening,
    reading,
    unpacked,
)

_BLOCK = 1 << 23  # bytes of text that are read at once
_LONGEST = 1 << 28  # bytes without the end of a row
_ROWS = 1 << 17  # rows of a batch of the other formats

_GZIP = b"\x1f\x8b"


class Batches:
    """The batches of a table, one after another.

    Text (gzipped too), Parquet, Arrow, Feather and NPY can be read in batches; from standard input
    only text and streams of Arrow.

    Parameters
    ----------
    path : str
        "-" is standard input.

    Attributes
    ----------
    name : str
        Name of the file in errors.
    kind : str
        Its format.
    can_repeat : bool
        Whether the batches can be read again: a file can, standard input cannot.
    """

    def __init__(self, path: str) -> None:
        require("polars", "cli")
        self._path = Path(path)
        self.name = "standard input" if path == STDIN else path
        with opening(path):
            self.can_repeat = path != STDIN and self._path.is_file()
            self._file: Any = sys.stdin.buffer if path == STDIN else self._path.open("rb")
            self._head = self._file.read(HEAD)
        self._stamp = Stamp.of(self._path) if self.can_repeat else Stamp()
        if self.can_repeat:
            self._file.close()
        if not self._head:
            raise FileError(f"{self.name} is empty")
        self._share = 0.0
        self.kind = kind_of(self.name, self._head, self._path if self.can_repeat else self._head)
        self._frames = self._reader()

    @property
    def share(self) -> float | None:
        """Share of the file that was read; None for standard input."""
        return self._share if self.can_repeat else None

    def __iter__(self) -> Iterator[Source]:
        """Yield the batches; from the beginning, if the file can be read again."""
        rows = 0
        frames = self._frames()
        while True:
            with reading(self.name, self.kind):
                table = next(frames, None)
            if table is None:
                break
            yield Source(self.name, self.kind, table.lazy(), {}, rows_before=rows)
            rows += table.height
        self._stamp.check()
        if rows == 0:
            raise FileError(f"{self.name} has columns but no rows")
        self._share = 1.0

    def _reader(self) -> Any:
        """Return the function that yields frames; refuse formats that cannot be cut."""
        if self.kind == TEXT:
            return self._text
        if self.kind == "Arrow stream":
            return self._arrow_stream
        readers = {"Parquet": self._parquet, "Arrow": self._arrow, "NPY": self._npy}
        if self.kind not in readers:
            raise FileError(
                f"{self.name} is {self.kind}, which cannot be read in batches; save it as CSV, "
                "Parquet, Arrow or NPY"
            )
        if not self.can_repeat:
            raise FileError(
                f"{self.name} is {self.kind}, which needs a file to be read in batches; save it to "
                "one, or send CSV"
            )
        return readers[self.kind]

    @contextmanager
    def _bytes(self) -> Iterator[IO[bytes]]:
        """Give the file from its first byte on."""
        if not self.can_repeat:
            yield io.BufferedReader(_Joined(self._head, self._file))
            return
        with self._path.open("rb") as self._file:
            yield self._file

    def _text(self) -> Iterator[Any]:
        from modeshift.io.text import layout_of, scan_text

        layout = layout_of(self.name, unpacked(self._head))
        with self._bytes() as file:
            if self._head.startswith(_GZIP):
                file = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
            newline = layout.newline.encode()
            header = file.readline() if layout.has_header and newline == b"\n" else b""
            rows = 0
            for number, block in enumerate(_blocks(self.name, file, newline)):
                self._note_place()
                table = scan_text(self.name, header + block, layout, rows).collect()
                if number == 0 and layout.has_header and not header:  # lines end with returns
                    header = block[: block.find(newline) + 1]
                rows += table.height
                yield table
            if rows == 0:  # only a header
                scan_text(self.name, header, layout).collect()

    def _parquet(self) -> Iterator[Any]:
        require("pyarrow", "cli")
        from pyarrow import Table, parquet

        file = parquet.ParquetFile(self._path)
        done, total = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(batch_size=_ROWS):
            done += batch.num_rows
            self._share = done / total
            yield self._frame(Table.from_batches([batch]))

    def _arrow(self) -> Iterator[Any]:
        require("pyarrow", "cli")
        from pyarrow import OSFile, Table, ipc

        file = ipc.open_file(OSFile(str(self._path)))
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            for start in range(0, batch.num_rows, _ROWS):
                self._share = (number + start / batch.num_rows) / file.num_record_batches
                yield self._frame(Table.from_batches([batch.slice(start, _ROWS)]))

    def _arrow_stream(self) -> Iterator[Any]:
        require("pyarrow", "cli")
        from pyarrow import Table, ipc

        with self._bytes() as file:
            for batch in ipc.open_stream(file):
                self._note_place()
                for start in range(0, batch.num_rows, _ROWS):
                    yield self._frame(Table.from_batches([batch.slice(start, _ROWS)]))

    def _npy(self) -> Iterator[Any]:
        from modeshift.io.arrays import NpyRows, frame_of_array

        array = NpyRows(self._path)
        for start in range(0, len(array), _ROWS):
            self._share = start / len(array)
            rows = array.read(start, min(start + _ROWS, len(array)))
            yield frame_of_array(self.name, rows).collect()

    def _frame(self, table: Any) -> Any:
        from modeshift.io.arrow import checked
        from modeshift.io.vectors import spread_vectors

        return spread_vectors(self.name, checked(table)).collect()

    def _note_place(self) -> None:
        if self.can_repeat:
            self._share = self._file.tell() / max(self._path.stat().st_size, 1)


class _Joined(io.RawIOBase):
    """The first bytes of a stream that were read already, and then the rest."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes."""
        if self._head:
            part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            part = self._rest.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def _blocks(name: str, file: IO[bytes], newline: bytes) -> Iterator[bytes]:
    """Yield whole rows of text, in blocks."""
    rest = b""
    while data := file.read(_BLOCK):
        block, rest = _cut(rest + data, newline)
        if block:
            yield block
        elif len(rest) > _LONGEST:
            raise FileError(
                f"{name} has a row of more than {_LONGEST >> 20} MiB, or a quote that is not closed"
            )
    if rest.strip():
        yield rest


def _cut(text: bytes, newline: bytes) -> tuple[bytes, bytes]:
    """Cut text behind its last whole row, and return both parts.

    A line break inside quotes ends no row. Blank lines at the end go to the second part: whether
    they are the end of the file is not yet known.
    """
    end = text.rfind(newline) + 1
    quoted = text.find(b'"') >= 0
    while quoted and end > 0 and text.count(b'"', 0, end) % 2:
        end = text.rfind(newline, 0, end - 1) + 1
    whole = len(text[:end].rstrip())
    end = text.find(newline, whole, end) + 1 if whole else 0
    return text[:end], text[end:]
