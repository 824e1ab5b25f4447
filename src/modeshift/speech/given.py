"""Vectors that somebody else computed: NPZ, NPY, CSV, and archives of Kaldi (.ark)."""

import csv
import io
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeshift.io.errors import FileError
from modeshift.speech.rttm import read_text
from modeshift.speech.segments import read_segments
from modeshift.speech.turns import Segment, Windows
from modeshift.speech.vectors import Vectors, is_saved, load_arrays

_TIMES = ("recording", "start", "end")


class _Rows(NamedTuple):
    """Vectors, their names in an archive, and their windows if the file has them."""

    X: np.ndarray
    keys: list[str] | None
    windows: list[Segment] | None


def read_vectors(path: Any, times: Any = None, recording: str | None = None) -> Vectors:
    """Return the vectors of a file, with their windows.

    Parameters
    ----------
    path : str or path
        NPZ with the arrays ``X``, ``start`` and ``end`` (and ``recording``), CSV with these columns
        and one for each number of a vector, NPY, or an archive of Kaldi (.ark), text or binary.
    times : str or path, default=None
        File of the windows, one for each vector in the same order (RTTM or CSV). For an archive
        also the file ``segments`` of Kaldi: name, recording, start, end.
    recording : str, default=None
        Name of the recording where no file has one.

    Returns
    -------
    Vectors
        Windows that touch or overlap make up a segment.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from modeshift.speech import read_vectors
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "vectors.npz"
    ...     np.savez(place, X=np.eye(3), start=[0.0, 0.75, 9.0], end=[1.5, 2.25, 10.5])
    ...     read_vectors(place, recording="talk").segments
    [Segment(recording='talk', start=0.0, end=2.25), Segment(recording='talk', start=9.0, end=10.5)]
    """
    ending = Path(path).suffix.lower()
    readers = {".npz": _of_npz, ".npy": _of_npy, ".csv": _of_csv, ".tsv": _of_csv, ".ark": _of_ark}
    if ending not in readers:
        raise FileError(f"{path} does not end in {', '.join(readers)}", "name a file of vectors")
    if ending == ".npz" and is_saved(arrays := load_arrays(path)):
        return Vectors.of_arrays(path, arrays)
    rows = readers[ending](path, recording)
    if rows.X.ndim != 2 or not np.isfinite(rows.X).all():
        raise FileError(f"{path} must hold rows of finite numbers, one row for each window")
    return _with_windows(rows.X, _windows_of(path, rows, times, recording))


def _windows_of(path: Any, rows: _Rows, times: Any, recording: str | None) -> list[Segment]:
    """Return the window of each vector."""
    found = rows.windows
    if times is not None:
        if rows.keys is not None and Path(times).suffix.lower() not in (".rttm", ".csv", ".tsv"):
            found = _of_kaldi(path, times, rows.keys)
        else:
            found = read_segments(times, recording)
    if found is None:
        raise FileError(f"{path} does not say when its vectors are", "name a file of segments")
    if len(found) != len(rows.X):
        raise FileError(f"{path} has {len(rows.X)} vectors, and {times} has {len(found)} segments")
    return found


def _with_windows(X: np.ndarray, found: list[Segment]) -> Vectors:
    """Make segments of windows that touch or overlap."""
    segments: list[Segment] = []
    numbers = np.empty(len(found), dtype=np.int64)
    place = {name: k for k, name in enumerate(dict.fromkeys(window.recording for window in found))}
    for row in sorted(range(len(found)), key=lambda row: (place[found[row][0]], *found[row][1:])):
        name, start, end = found[row]
        if segments and segments[-1].recording == name and start <= segments[-1].end:
            segments[-1] = Segment(name, segments[-1].start, max(end, segments[-1].end))
        else:
            segments.append(found[row])
        numbers[row] = len(segments) - 1
    starts, ends = (np.array([window[k] for window in found]) for k in (1, 2))
    return Vectors(segments, Windows(numbers, starts, ends), X, {})


def _of_npz(path: Any, recording: str | None) -> _Rows:
    arrays = load_arrays(path)
    if "X" not in arrays:
        raise FileError(f"{path} has no array 'X'", "name the array of the vectors X")
    X = np.asarray(arrays["X"], dtype=np.float64)
    if not {"start", "end"} <= arrays.keys():
        return _Rows(X, None, None)
    names = arrays.get("recording", np.full(len(X), recording or Path(path).stem))
    columns = [array.tolist() for array in (names, arrays["start"], arrays["end"])]
    if {len(column) for column in columns} != {len(X)}:
        raise FileError(f"{path}: X, start, end and recording must be of the same length")
    return _Rows(X, None, [_window(path, *each) for each in zip(*columns, strict=True)])


def _of_npy(path: Any, recording: str | None) -> _Rows:
    try:
        return _Rows(np.asarray(np.load(path, allow_pickle=False), dtype=np.float64), None, None)
    except (OSError, ValueError) as error:
        raise FileError(f"{path} cannot be read as NPY: {error}") from error


def _of_csv(path: Any, recording: str | None) -> _Rows:
    separator = "\t" if Path(path).suffix.lower() == ".tsv" else ","
    table = list(csv.reader(io.StringIO(read_text(path)), delimiter=separator))
    head, lines = (table[0], [line for line in table[1:] if line]) if table else ([], [])
    numbers = [k for k, name in enumerate(head) if name not in _TIMES]
    try:
        X = np.array([[float(line[k]) for k in numbers] for line in lines])
    except (ValueError, IndexError) as error:
        raise FileError(f"{path} has a line without a number in each column: {error}") from error
    if not {"start", "end"} <= set(head):
        return _Rows(X, None, None)
    places = [head.index(name) if name in head else None for name in _TIMES]
    name = recording or Path(path).stem
    found = [_window(path, *(name if k is None else line[k] for k in places)) for line in lines]
    return _Rows(X, None, found)


def _window(path: Any, recording: Any, start: Any, end: Any) -> Segment:
    try:
        window = Segment(str(recording), float(start), float(end))
    except ValueError as error:
        raise FileError(f"{path} has a time that is no number: {error}") from error
    if not 0.0 <= window.start < window.end < np.inf:
        raise FileError(f"{path} has a window from {start} to {end}")
    return window


def _of_kaldi(path: Any, times: Any, keys: list[str]) -> list[Segment]:
    """Return the windows of the names in an archive, from Kaldi's file of segments."""
    known = {}
    for line in read_text(times).splitlines():
        fields = line.split()
        if len(fields) != 4:
            raise FileError(f"{times} has a line of {len(fields)} fields instead of 4")
        known[fields[0]] = _window(times, *fields[1:])
    missing = [key for key in keys if key not in known]
    if missing:
        raise FileError(f"{times} has no segment {missing[0]!r}, which {path} has")
    return [known[key] for key in keys]


def _of_ark(path: Any, recording: str | None) -> _Rows:
    """Read an archive: names with a vector each, ``[ 1 2 ]`` or binary."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error
    try:
        found = _binary(content) if b" \0B" in content[:1000] else _text(content)
        X = np.array(list(found.values()), dtype=np.float64)
    except (ValueError, struct.error) as error:
        raise FileError(f"{path} is no archive of vectors: {error}") from error
    return _Rows(X, list(found), None)


def _text(content: bytes) -> dict[str, list[float]]:
    found = {}
    for line in content.decode().splitlines():
        fields = line.split()
        if len(fields) < 4 or fields[1] != "[" or fields[-1] != "]":
            raise ValueError(f"the line {line[:30]!r} is not: name [ 1 2 3 ]")
        found[fields[0]] = [float(field) for field in fields[2:-1]]
    return found


def _binary(content: bytes) -> dict[str, np.ndarray]:
    found, place = {}, 0
    while place < len(content):
        space = content.index(b" ", place)
        key = content[place:space].decode()
        mark, kind, width, length = struct.unpack_from("<2s3sbi", content, space + 1)
        if mark != b"\0B" or kind not in (b"FV ", b"DV ") or width != 4 or length < 1:
            raise ValueError(f"{key!r} has no vector")
        place = space + 1 + struct.calcsize("<2s3sbi")
        size = 4 if kind == b"FV " else 8
        if len(content) < place + size * length:
            raise ValueError("it ends too early")
        found[key] = np.frombuffer(content, f"<f{size}", length, place)
        place += size * length
    return found
