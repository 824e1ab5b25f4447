"""Limits for files: what they may unpack to, and that they fit into memory."""

import gzip
import io
import zipfile
from pathlib import Path

from modeshift.io.errors import FileError, TooLarge
from modeshift.io.memory import available

FREE = 1 << 30
"""Number of bytes that any file may unpack to."""

TIMES = 100
"""A larger file may unpack to this many times its size."""

_BLOCK = 1 << 20


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than its size, as files made to fill memories do."""
    if unpacked > max(FREE, TIMES * packed):
        raise FileError(
            f"{name} has {_size(packed)} and unpacks to {_size(unpacked)} or more, over {TIMES} "
            "times its size, as files do that are made to fill memories; if you trust it, save it "
            "without compression"
        )


def check_fits(name: str, needed: float) -> None:
    """Refuse a file whose table needs more memory than there is."""
    free = available()
    if needed > free:
        raise TooLarge(
            f"{name} needs about {_size(needed)} of memory to be read, and {_size(free)} are free",
            "name fewer columns, or fit batches with partial_fit (docs/streams.md)",
        )


def unzipped_size(name: str, content: bytes | Path) -> int:
    """Return the size of all members of a ZIP archive; refuse it if that is too large.

    A member that says less than it holds fails when it is read: Python stops at the size it says.
    """
    with zipfile.ZipFile(io.BytesIO(content) if isinstance(content, bytes) else content) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    check_unpacked(name, size_of(content), unpacked)
    return unpacked


def gunzipped_size(name: str, content: bytes | Path) -> int:
    """Return the size of a gzipped file when it is unpacked; refuse it if that is too large."""
    packed = size_of(content)
    unpacked = 0
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
        stream = gzip.GzipFile(fileobj=file)
        while block := stream.read(_BLOCK):
            unpacked += len(block)
            check_unpacked(name, packed, unpacked)
    return unpacked


def size_of(content: bytes | Path) -> int:
    """Return the number of bytes of a file or a stream."""
    return content.stat().st_size if isinstance(content, Path) else len(content)


def _size(n: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("bytes", "KB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"
