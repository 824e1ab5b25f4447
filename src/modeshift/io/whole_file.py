"""Complete files: written under another name, then renamed."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file next to ``path`` for writing; rename it to ``path`` when it is complete."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def is_left_over(path: Path) -> bool:
    """Return whether a file is a part of one that a killed process did not complete."""
    return re.fullmatch(r"\..*\.\d+\.part", path.name) is not None
