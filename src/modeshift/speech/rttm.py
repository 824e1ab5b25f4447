"""RTTM and UEM, the files of NIST: who spoke when, and which parts are scored.

A line of RTTM is ``SPEAKER file channel onset duration <NA> <NA> name <NA> <NA>``, one of UEM
``file channel onset offset``, in seconds. Fields are separated by blanks, so blanks in names become
underscores. Other letters stay as they are.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from modeshift.io.errors import FileError
from modeshift.io.write import write_whole
from modeshift.speech.turns import Turn, as_milliseconds

_RTTM = "SPEAKER file channel onset duration <NA> <NA> name <NA> <NA>"
_UEM = "file channel onset offset"


def read_rttm(path: Any) -> list[Turn]:
    """Return the turns of an RTTM file, of all its recordings.

    Lines of other types than SPEAKER, empty lines, comments (``;;``) and turns of no length are
    left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift.speech import read_rttm
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "talk.rttm"
    ...     line = "SPEAKER talk 1 0.5 2 <NA> <NA> Zoë <NA> <NA>"
    ...     _ = place.write_text(line, encoding="utf-8")
    ...     read_rttm(place)
    [Turn(recording='talk', start=0.5, end=2.5, speaker='Zoë')]
    """
    turns = []
    for number, fields in _lines(path):
        if fields[0] != "SPEAKER":
            continue
        if len(fields) < 8:
            raise _wrong(path, number, f"has {len(fields)} fields instead of 10", _RTTM)
        start, duration = _numbers(path, number, fields[3:5], _RTTM)
        if duration > 0.0:
            turns.append(Turn(fields[1], start, start + duration, fields[7]))
    return turns


def write_rttm(path: Any, turns: Iterable[Turn]) -> None:
    """Write turns as RTTM, in whole milliseconds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift.speech import Turn, write_rttm
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "talk.rttm"
    ...     write_rttm(place, [Turn("talk", 0.5, 2.5, "Zoë")])
    ...     print(place.read_text(encoding="utf-8"), end="")
    SPEAKER talk 1 0.500 2.000 <NA> <NA> Zoë <NA> <NA>
    """
    lines = [f"{_rttm_line(turn)}\n" for turn in turns]
    write_whole(Path(path), lambda file: file.write("".join(lines).encode()))


def read_uem(path: Any) -> dict[str, list[tuple[float, float]]]:
    """Return the scored parts of each recording, as (start, end), in the order of time.

    An empty file has no recordings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift.speech import read_uem
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "scored.uem"
    ...     _ = place.write_text("talk NA 0.000 30.000")
    ...     read_uem(place)
    {'talk': [(0.0, 30.0)]}
    """
    parts = defaultdict(list)
    for number, fields in _lines(path):
        if len(fields) != 4:
            raise _wrong(path, number, f"has {len(fields)} fields instead of 4", _UEM)
        start, end = _numbers(path, number, fields[2:], _UEM)
        if end < start:
            raise _wrong(path, number, f"ends at {end:g}, before its start {start:g}", _UEM)
        parts[fields[0]].append((start, end))
    return {name: sorted(found) for name, found in parts.items()}


def read_text(path: Any) -> str:
    """Return the text of a file in UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no text in UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error


def _lines(path: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is neither empty nor a comment."""
    for number, line in enumerate(re.split(r"\r?\n", read_text(path)), start=1):
        fields = [field for field in re.split(r"[ \t]+", line) if field]
        if fields and not fields[0].startswith(";;"):
            yield number, fields


def _numbers(path: Any, number: int, fields: list[str], form: str) -> list[float]:
    """Return times; they must be finite and not negative."""
    values = []
    for field in fields:
        try:
            value = float(field)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= 0.0):
            raise _wrong(path, number, f"has {field!r} instead of a time in seconds", form)
        values.append(value)
    return values


def _wrong(path: Any, number: int, what: str, form: str) -> FileError:
    return FileError(f"{path}: line {number} {what}", f"a line is: {form}")


def _rttm_line(turn: Turn) -> str:
    start, end = as_milliseconds(turn)
    recording, speaker = (re.sub(r"\s+", "_", name) for name in (turn.recording, turn.speaker))
    times = f"{start / 1000:.3f} {(end - start) / 1000:.3f}"
    return f"SPEAKER {recording} 1 {times} <NA> <NA> {speaker} <NA> <NA>"
