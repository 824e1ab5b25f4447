"""From labels of windows to turns: overlapping windows vote.

At each moment a window votes for its speaker with a weight that falls from 1 in its middle to 0 at
its ends. So two windows that disagree change speakers halfway between their middles, and a turn of
a single window keeps the time around its middle. The turns of a recording cover its segments and
nothing else: no gap and no speech is made up.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modeshift.speech.segments import rows_of_segments
from modeshift.speech.turns import Segment, Turn, Windows, joined

_FRAME = 0.01  # seconds; changes of speakers are exact to half of it


def speaker_name(label: int) -> str:
    """Return the name of a label, as other tools write it."""
    return f"SPEAKER_{label:02d}"


def speaker_turns(
    segments: Sequence[Segment],
    windows: Windows,
    labels: Any,
    names: Sequence[str] | None = None,
) -> list[Turn]:
    """Return who spoke when.

    Every speaker of ``labels`` has a turn: one who is outvoted everywhere gets the middle of one
    window.

    Parameters
    ----------
    segments : sequence of Segment
    windows : Windows
        Only windows of the same segment vote together.
    labels : array-like of int
        The speaker of each window, from 0.
    names : sequence of str, default=None
        Name of each speaker. None: SPEAKER_00, SPEAKER_01 and so on.

    Returns
    -------
    list of Turn
        In the order of the recordings' first segments, then of time.

    Examples
    --------
    >>> from modeshift.speech import Segment, cut_windows, speaker_turns
    >>> segments = [Segment("talk", 0.0, 2.9)]
    >>> windows = cut_windows(segments)  # from 0, 0.7 and 1.4 s
    >>> for turn in speaker_turns(segments, windows, [0, 0, 1], ["Ann", "Zoë"]):
    ...     print(f"{turn.start:.2f} {turn.end:.2f} {turn.speaker}")
    0.00 1.80 Ann
    1.80 2.90 Zoë
    """
    labels = np.asarray(labels, dtype=np.int64)
    owners = {
        number: _elected(segments[number], windows, labels, rows)
        for number, rows in rows_of_segments(windows)
    }
    _give_back(segments, windows, labels, owners)
    turns = []
    for number, elected in owners.items():
        segment = segments[number]
        edges = np.linspace(segment.start, segment.end, len(elected) + 1)
        changes = np.flatnonzero(np.diff(elected)) + 1
        for first, last in zip((0, *changes), (*changes, len(elected)), strict=True):
            label = int(elected[first])
            name = speaker_name(label) if names is None else names[label]
            turns.append(Turn(segment.recording, float(edges[first]), float(edges[last]), name))
    return joined(turns)


def _elected(
    segment: Segment, windows: Windows, labels: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return the speaker of each frame of a segment."""
    speakers, columns = np.unique(labels[rows], return_inverse=True)
    moments = _moments(segment)
    if len(speakers) == 1:
        return np.full(len(moments), speakers[0])
    starts, ends = windows.start[rows], windows.end[rows]
    firsts, lasts = np.searchsorted(moments, starts), np.searchsorted(moments, ends)
    votes = np.zeros((len(moments), len(speakers)))
    for start, end, first, last, column in zip(starts, ends, firsts, lasts, columns, strict=True):
        offset = np.abs(moments[first:last] - (start + end) / 2.0)
        votes[first:last, column] += 1.0 - 2.0 * offset / (end - start)
    elected = speakers[votes.argmax(axis=1)]
    silent = ~votes.any(axis=1)  # no window covers these
    if silent.any():
        elected[silent] = labels[rows[_nearest((starts + ends) / 2.0, moments[silent])]]
    return elected


def _moments(segment: Segment) -> np.ndarray:
    """Return the middle of each frame."""
    n = max(1, round((segment.end - segment.start) / _FRAME))
    return segment.start + (np.arange(n) + 0.5) * ((segment.end - segment.start) / n)


def _nearest(middles: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Return the number of the nearest middle for each moment."""
    order = np.argsort(middles)
    between = (middles[order][1:] + middles[order][:-1]) / 2.0
    return order[np.searchsorted(between, moments)]


def _give_back(
    segments: Sequence[Segment],
    windows: Windows,
    labels: np.ndarray,
    owners: dict[int, np.ndarray],
) -> None:
    """Give speakers who were outvoted everywhere the middle half of their longest window."""
    elected = {int(label) for found in owners.values() for label in np.unique(found)}
    for label in sorted(set(np.unique(labels).tolist()) - elected):
        rows = np.flatnonzero(labels == label)
        row = rows[np.argmax((windows.end - windows.start)[rows])]
        number, start, end = (int(windows.segment[row]), windows.start[row], windows.end[row])
        moments = _moments(segments[number])
        offset = np.abs(moments - (start + end) / 2.0)
        owners[number][offset <= max((end - start) / 4.0, offset.min())] = label
