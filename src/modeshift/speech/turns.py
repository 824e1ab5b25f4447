"""Plain data of the steps: stretches of speech, windows, and turns of speakers."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Segment(NamedTuple):
    """A stretch of speech of a recording, in seconds."""

    recording: str
    start: float
    end: float


class Turn(NamedTuple):
    """A stretch of speech of one speaker, in seconds."""

    recording: str
    start: float
    end: float
    speaker: str


class Windows(NamedTuple):
    """Windows of speech, each inside a segment; one entry for each window.

    Attributes
    ----------
    segment : ndarray of int
        Number of the segment.
    start, end : ndarray
        Seconds from the start of the recording.
    """

    segment: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @property
    def overlap(self) -> int:
        """Number of windows in a row with common sound; 1 if windows do not overlap."""
        steps = np.diff(self.start)
        follows = (self.segment[1:] == self.segment[:-1]) & (steps > 0.0)
        if not follows.any():
            return 1
        lengths = (self.end - self.start)[:-1]
        return max(1, int(np.ceil(np.median(lengths[follows] / steps[follows]) - 1e-6)))


def as_milliseconds(turn: Turn) -> tuple[int, int]:
    """Return start and end in whole milliseconds, so that turns that touch still do in files."""
    return round(1000 * turn.start), round(1000 * turn.end)


def by_recording(turns: Iterable[Turn]) -> dict[str, list[Turn]]:
    """Return the turns of each recording, in the order of time."""
    found: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        found[turn.recording].append(turn)
    return {name: sorted(group, key=lambda turn: turn[1:]) for name, group in found.items()}


def joined(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns with those of one speaker joined that touch or overlap."""
    result: list[Turn] = []
    for group in by_recording(turns).values():
        last: dict[str, int] = {}  # place in the result of each speaker's last turn
        for turn in group:
            place = last.get(turn.speaker)
            if place is not None and turn.start <= result[place].end:
                before = result[place]
                result[place] = before._replace(end=max(before.end, turn.end))
            else:
                last[turn.speaker] = len(result)
                result.append(turn)
    return result


def speech_of(turns: Iterable[Turn]) -> dict[str, float]:
    """Return the seconds of each speaker, most first."""
    seconds: dict[str, float] = defaultdict(float)
    for turn in turns:
        seconds[turn.speaker] += turn.end - turn.start
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))
