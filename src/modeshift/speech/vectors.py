"""Windows with their vectors, and the files that hold them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from modeshift.io.errors import FileError
from modeshift.io.limits import unzipped_size
from modeshift.io.write import write_whole
from modeshift.speech.turns import Segment, Windows

_SAVED = {"X", "start", "end", "segment", "asked"} | {
    f"segment_{key}" for key in ("recording", "start", "end")
}


class Vectors(NamedTuple):
    """Windows of recordings, and the vectors of the first of them.

    Attributes
    ----------
    segments : list of Segment
    windows : Windows
    X : ndarray of shape (m, d)
        Fewer rows than windows: not all vectors are computed yet.
    asked : dict
        What the vectors were made from; those of another request are made again.
    """

    segments: list[Segment]
    windows: Windows
    X: np.ndarray
    asked: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every window has its vector."""
        return len(self.X) == len(self.windows.start)

    def save(self, path: Any) -> None:
        """Write an NPZ file without pickle."""
        arrays = {
            "X": self.X,
            "start": self.windows.start,
            "end": self.windows.end,
            "segment": self.windows.segment,
            "segment_recording": np.array([s.recording for s in self.segments], dtype=str),
            "segment_start": np.array([s.start for s in self.segments]),
            "segment_end": np.array([s.end for s in self.segments]),
            "asked": np.array(json.dumps(self.asked)),
        }
        write_whole(Path(path), lambda file: np.savez(file, allow_pickle=False, **arrays))

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read a file that ``save`` wrote."""
        return cls.of_arrays(path, load_arrays(path))

    @classmethod
    def of_arrays(cls, path: Any, arrays: dict[str, np.ndarray]) -> Self:
        """Return the vectors in the arrays of a file; ``path`` is its name in errors."""
        missing = sorted(_SAVED - arrays.keys())
        if missing:
            raise FileError(f"{path} has no array {missing[0]!r}")
        names, starts, ends = (arrays[f"segment_{key}"] for key in ("recording", "start", "end"))
        times = zip(names.tolist(), starts.tolist(), ends.tolist(), strict=True)
        return cls(
            [Segment(*each) for each in times],
            Windows(arrays["segment"], arrays["start"], arrays["end"]),
            arrays["X"],
            json.loads(str(arrays["asked"])),
        )


def is_saved(arrays: dict[str, np.ndarray]) -> bool:
    """Return whether arrays are those of a file that ``Vectors.save`` wrote."""
    return arrays.keys() >= _SAVED


def load_arrays(path: Any) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file; nothing is unpickled."""
    try:
        unzipped_size(str(path), Path(path))
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # damaged archives raise all kinds of errors
        raise FileError(f"{path} cannot be read as NPZ: {error}") from error


def gathered(parts: Iterable[Vectors]) -> Vectors:
    """Return the windows and vectors of several recordings as one."""
    parts = [part for part in parts if part.segments]
    if not parts:
        return Vectors([], Windows(*np.empty((3, 0))), np.empty((0, 0)), {})
    offsets = np.cumsum([0, *(len(part.segments) for part in parts)])
    windows = Windows(
        np.concatenate([p.windows.segment + o for p, o in zip(parts, offsets, strict=False)]),
        np.concatenate([part.windows.start for part in parts]),
        np.concatenate([part.windows.end for part in parts]),
    )
    segments = [segment for part in parts for segment in part.segments]
    return Vectors(segments, windows, np.concatenate([part.X for part in parts]), {})
