"""From recordings to turns of speakers, step by step.

recording -> segments (where somebody speaks) -> windows -> vectors      each recording alone
vectors of all recordings -> labels -> turns                            all together
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from modeshift.speech.activity import Show, find_speech, silently
from modeshift.speech.audio import Recording
from modeshift.speech.clusters import Speakers, cluster_speakers
from modeshift.speech.embedding import DIMENSION, Embedder
from modeshift.speech.segments import cut_windows, own_time
from modeshift.speech.timeline import speaker_name, speaker_turns
from modeshift.speech.turns import Segment, Turn
from modeshift.speech.vectors import Vectors, gathered

_SECONDS_BETWEEN_FILES = 20.0


class Request(NamedTuple):
    """How recordings become windows.

    Attributes
    ----------
    threshold, min_on, min_off : float
        See :func:`find_speech`.
    window, step : float
        Seconds; see :func:`cut_windows`.
    segments : tuple of Segment or None
        Where somebody speaks, if it is known; of any recordings.
    push_to_talk : bool
        Whether each recording, or each of ``segments``, is of one speaker, and so one window.
    """

    threshold: float = 0.05
    min_on: float = 0.25
    min_off: float = 0.5
    window: float = 1.5
    step: float = 0.75
    segments: tuple[Segment, ...] | None = None
    push_to_talk: bool = False

    def of(self, recording: Recording) -> dict[str, Any]:
        """Return what the vectors of a recording depend on, as plain data."""
        plain = self._asdict()
        if self.segments is not None:
            plain["segments"] = zlib.crc32(repr(self.segments).encode())
        return plain | {"samples": recording.n_samples, "rate": recording.rate}


class Diarization(NamedTuple):
    """Who spoke when.

    Attributes
    ----------
    turns : list of Turn
    names : list of str
        Names of the speakers, most speech first.
    speakers : Speakers
        Labels of the windows, and how they were found.
    vectors : Vectors
        The windows of all recordings.
    """

    turns: list[Turn]
    names: list[str]
    speakers: Speakers
    vectors: Vectors


def diarize(
    recordings: Any,
    *,
    segments: Iterable[Segment] | None = None,
    push_to_talk: bool = False,
    threshold: float = 0.05,
    min_on: float = 0.25,
    min_off: float = 0.5,
    window: float = 1.5,
    step: float = 0.75,
    device: str = "auto",
    n_jobs: int | None = None,
    **wishes: Any,
) -> Diarization:
    """Find who spoke when in recordings; the same speaker has the same name in all of them.

    Parameters
    ----------
    recordings : path, or list of paths
        Sound files of any rate and number of channels (which are averaged).
    segments : iterable of Segment, default=None
        Where somebody speaks. None: a voice detector finds it.
    push_to_talk : bool, default=False
        Whether each recording, or each of ``segments``, is of one speaker.
    threshold, min_on, min_off : float
        Options of the voice detector: least probability, least seconds of speech and of a pause.
    window, step : float
        Seconds of a window, and most seconds from one to the next.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where vectors are computed. "auto": on a GPU where there is one.
    n_jobs : int, default=None
        Threads. None or -1: all cores.
    **wishes
        Parameters of :func:`cluster_speakers`, such as ``n_speakers`` and ``random_state``.

    Returns
    -------
    Diarization

    Examples
    --------
    >>> from modeshift.speech import diarize
    >>> meeting = "docs/recordings/two-voices.wav"
    >>> diarize(meeting, random_state=0).turns[0]  # doctest: +SKIP
    Turn(recording='two-voices', start=0.672, end=4.53, speaker='SPEAKER_00')
    """
    paths = recordings if isinstance(recordings, list | tuple) else [recordings]
    known = None if segments is None else tuple(segments)
    request = Request(threshold, min_on, min_off, window, step, known, push_to_talk)
    threads = thread_count(n_jobs)
    opened = [Recording.of(path) for path in paths]
    begun = [cut(recording, request, n_jobs=threads) for recording in opened]
    embedder = Embedder(device, threads)
    parts = [embed(*pair, embedder) for pair in zip(opened, begun, strict=True)]
    return who_spoke(gathered(parts), n_jobs=n_jobs, **wishes)


def cut(
    recording: Recording, request: Request, *, n_jobs: int = 1, show: Show = silently
) -> Vectors:
    """Return the windows of a recording, without vectors yet."""
    if request.segments is not None:
        found = [each for each in request.segments if each.recording == recording.name]
        found = [each._replace(end=min(each.end, recording.duration)) for each in found]
        found = [each for each in found if each.start < each.end]
    elif request.push_to_talk:
        found = [Segment(recording.name, 0.0, recording.duration)]
    else:
        options = {key: getattr(request, key) for key in ("threshold", "min_on", "min_off")}
        found = find_speech(recording, **options, n_jobs=n_jobs, show=show)
    length = None if request.push_to_talk else request.window
    windows = cut_windows(found, length=length, step=request.step)
    return Vectors(found, windows, np.empty((0, DIMENSION), np.float32), request.of(recording))


def embed(
    recording: Recording,
    vectors: Vectors,
    embedder: Embedder,
    *,
    show: Show = silently,
    keep: Callable[[Vectors], Any] = lambda vectors: None,
) -> Vectors:
    """Compute the vectors that are missing.

    Parameters
    ----------
    recording : Recording
    vectors : Vectors
    embedder : Embedder
    show : function, default: none
        Shows progress.
    keep : function, default: none
        Called with the vectors so far, from time to time and at the end.
    """
    starts = range(len(vectors.X), len(vectors.windows.start), embedder.batch_size)
    parts, last = [vectors.X], monotonic()
    with recording.opened() as sound:

        def batches() -> Iterator[list[np.ndarray]]:
            for start in starts:
                rows = slice(start, start + embedder.batch_size)
                times = zip(vectors.windows.start[rows], vectors.windows.end[rows], strict=True)
                yield [sound.read(*window) for window in times]

        title = f"{recording.name}: vectors"
        try:
            for part in show(embedder.vectors(batches()), len(starts), title):
                parts.append(part)
                if monotonic() - last > _SECONDS_BETWEEN_FILES:
                    keep(vectors._replace(X=np.concatenate(parts)))
                    last = monotonic()
        finally:  # also when it is stopped
            keep(vectors._replace(X=np.concatenate(parts)))
    return vectors._replace(X=np.concatenate(parts))


def who_spoke(vectors: Vectors, **wishes: Any) -> Diarization:
    """Return the speakers and turns of windows with vectors.

    ``wishes`` are parameters of :func:`cluster_speakers`.
    """
    if not len(vectors.X):
        raise ValueError("no speech was found")
    durations = own_time(vectors.segments, vectors.windows)
    overlap = vectors.windows.overlap
    speakers = cluster_speakers(vectors.X, durations=durations, overlap=overlap, **wishes)
    turns = speaker_turns(vectors.segments, vectors.windows, speakers.labels)
    names = [speaker_name(label) for label in range(speakers.n_speakers)]
    return Diarization(turns, names, speakers, vectors)


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads; None or -1: all cores that this process may use."""
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
