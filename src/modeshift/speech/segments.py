"""Given segments: files that say where speech is, and windows cut from segments."""

import csv
import io
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from modeshift.checks import check_real
from modeshift.io.errors import FileError
from modeshift.speech.rttm import read_rttm, read_text
from modeshift.speech.turns import Segment, Windows


def read_segments(path: Any, recording: str | None = None) -> list[Segment]:
    r"""Return the segments of a file: RTTM (.rttm), or CSV (.csv, .tsv) with a head line.

    Parameters
    ----------
    path : str or path
        CSV has the columns ``start``, ``end`` and, for several recordings, ``recording``; other
        columns are left out.
    recording : str, default=None
        Name of the recording where the file has none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift.speech import read_segments
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "speech.csv"
    ...     _ = place.write_text("start,end\n0.5,2\n")
    ...     read_segments(place, "talk")
    [Segment(recording='talk', start=0.5, end=2.0)]
    """
    ending = Path(path).suffix.lower()
    if ending == ".rttm":
        return [Segment(*turn[:3]) for turn in read_rttm(path)]
    if ending in (".csv", ".tsv"):
        return _of_table(path, "\t" if ending == ".tsv" else ",", recording)
    raise FileError(f"{path} does not end in .rttm, .csv or .tsv", "name a file of segments")


def cut_windows(
    segments: Iterable[Segment], *, length: float | None = 1.5, step: float = 0.75
) -> Windows:
    """Cut segments into windows.

    Parameters
    ----------
    segments : iterable of Segment
    length : float, default=1.5
        Seconds of a window. A shorter segment is one window. None: every segment is one window.
    step : float, default=0.75
        Most seconds from one window to the next. The windows of a segment are evenly spaced, the
        first begins and the last ends with the segment.

    Examples
    --------
    >>> from modeshift.speech import Segment, cut_windows
    >>> cut_windows([Segment("talk", 10.0, 12.0)]).start
    array([10. , 10.5])
    """
    length = np.inf if length is None else check_real("length", length, low=0.0, low_allowed=False)
    step = check_real("step", step, low=0.0, low_allowed=False)
    rows, starts, ends = [], [], []
    for number, (_, start, end) in enumerate(segments):
        beyond = max(end - start - length, 0.0)
        n = 1 + math.ceil(beyond / step - 1e-9)
        rows.append(np.full(n, number))
        starts.append(np.linspace(start, start + beyond, n))
        ends.append(np.minimum(starts[-1] + length, end))
    if not rows:
        return Windows(np.empty(0, np.int64), np.empty(0), np.empty(0))
    return Windows(*(np.concatenate(parts) for parts in (rows, starts, ends)))


def own_time(segments: list[Segment], windows: Windows) -> np.ndarray:
    """Return the seconds of each window that are nearer to its middle than to any other.

    So the seconds of overlapping windows add up to the seconds of speech.
    """
    middle = (windows.start + windows.end) / 2.0
    seconds = np.empty(len(middle))
    for number, rows in rows_of_segments(windows):
        order = rows[np.argsort(middle[rows], kind="stable")]
        between = (middle[order][1:] + middle[order][:-1]) / 2.0
        edges = np.concatenate([[segments[number].start], between, [segments[number].end]])
        seconds[order] = np.maximum(np.diff(edges), 1e-6)  # of two at the same place
    return seconds


def rows_of_segments(windows: Windows) -> list[tuple[int, np.ndarray]]:
    """Return the rows of the windows of each segment that has some."""
    order = np.argsort(windows.segment, kind="stable")
    numbers, firsts = np.unique(windows.segment[order], return_index=True)
    parts = np.split(order, firsts)[1:]
    return [(int(number), rows) for number, rows in zip(numbers, parts, strict=True)]


def _of_table(path: Any, separator: str, recording: str | None) -> list[Segment]:
    reader = csv.DictReader(io.StringIO(read_text(path)), delimiter=separator)
    missing = [name for name in ("start", "end") if name not in (reader.fieldnames or ())]
    if missing:
        raise FileError(
            f"{path} has no column {missing[0]!r}", "the head line must name start and end"
        )
    segments = []
    for row in reader:
        name = row.get("recording") or recording
        if not name:
            raise FileError(
                f"{path}: line {reader.line_num} names no recording", "add a column 'recording'"
            )
        start, end = (_time(path, reader.line_num, column, row) for column in ("start", "end"))
        if not start < end:
            raise FileError(f"{path}: line {reader.line_num} ends at {end:g}, not after its start")
        segments.append(Segment(name, start, end))
    return segments


def _time(path: Any, line: int, column: str, row: dict[str, Any]) -> float:
    try:
        value = float(row[column])
    except (TypeError, ValueError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise FileError(f"{path}: line {line} has {row[column]!r} as {column}, not a time")
    return value
