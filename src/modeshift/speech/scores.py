"""How far found speakers are from the true ones: DER, JER, ACP, ASP, K and the number of speakers.

A recording is cut wherever somebody begins or stops. In a piece of the length d, with r true and f
found speakers, of whom c belong together,

    speech      += d r                    missed    += d max(0, r - f)
    false alarm += d max(0, f - r)        confusion += d (min(r, f) - c)

and DER = (missed + false alarm + confusion) / speech. Each found speaker belongs to at most one
true speaker, so that the time they share is longest in all (Hungarian algorithm).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from modeshift.checks import check_flag, check_real
from modeshift.speech.turns import Turn

Span = tuple[float, float, Any]
"""Start and end in seconds, and a speaker."""


class DiarizationErrors(NamedTuple):
    """Errors of the answer to "who spoke when". Times are in seconds.

    Attributes
    ----------
    speech : float
        Time of all true speakers; where two speak at once it counts twice.
    missed, false_alarm, confusion : float
        Time without enough speakers, with too many, and with the wrong ones.
    jaccard : tuple of float
        Jaccard error of each true speaker: 1 - intersection / union with the found speaker that
        belongs to it, 1 without one. The pairs make the sum of these errors least (DIHARD 2019).
    cluster_purities, speaker_purities : tuple of float
        ``sum_r n_qr^2 / n_q.^2`` of each found speaker q, and ``sum_q n_qr^2 / n_.r^2`` of each
        true speaker r. ``n_qr`` is the time that both speak; ``n_q.`` and ``n_.r`` are sums of it.
    n_speakers, n_found : int
        Number of true and of found speakers. Speakers outside of the scored time do not count.
    mapping : dict
        From found speakers to true ones, for DER.
    """

    speech: float
    missed: float
    false_alarm: float
    confusion: float
    jaccard: tuple[float, ...]
    cluster_purities: tuple[float, ...]
    speaker_purities: tuple[float, ...]
    n_speakers: int
    n_found: int
    mapping: dict[Any, Any]

    @property
    def der(self) -> float:
        """Diarization error rate; nan without speech."""
        wrong = self.missed + self.false_alarm + self.confusion
        return wrong / self.speech if self.speech > 0.0 else float("nan")

    @property
    def jer(self) -> float:
        """Jaccard error rate: the mean over the true speakers; nan if there is none."""
        return _mean(self.jaccard)

    @property
    def acp(self) -> float:
        """Average cluster purity: the mean over the found speakers."""
        return _mean(self.cluster_purities)

    @property
    def asp(self) -> float:
        """Average speaker purity: the mean over the true speakers."""
        return _mean(self.speaker_purities)

    @property
    def k(self) -> float:
        """Geometric mean of ACP and ASP."""
        return float(np.sqrt(self.acp * self.asp))


def diarization_errors(
    reference: Iterable[Span],
    found: Iterable[Span],
    *,
    evaluated: Iterable[tuple[float, float]] | None = None,
    collar: float = 0.0,
    skip_overlap: bool = False,
) -> DiarizationErrors:
    """Compare found speakers with the true ones, in one recording.

    Papers use ``collar=0`` with overlap, or ``collar=0.25, skip_overlap=True``.

    Parameters
    ----------
    reference, found : iterable of (start, end, speaker)
        In seconds. Turns of different speakers may overlap; turns of the same speaker that touch or
        overlap are one.
    evaluated : iterable of (start, end), default=None
        The time that is scored (UEM). None: from the first start to the last end of all turns.
    collar : float, default=0.0
        Seconds that are left out on each side of the starts and ends in the reference, as in
        md-eval, dscore and NeMo. pyannote.metrics calls twice this length the collar.
    skip_overlap : bool, default=False
        Whether time with more than one true speaker is left out.

    Returns
    -------
    DiarizationErrors

    Examples
    --------
    >>> from modeshift.speech import diarization_errors
    >>> truth = [(0.0, 6.0, "Ann"), (6.0, 10.0, "Bob")]
    >>> errors = diarization_errors(truth, [(0.0, 5.0, 0), (5.0, 9.0, 1)])
    >>> errors.confusion, errors.missed, errors.der
    (1.0, 1.0, 0.2)
    >>> errors.mapping
    {0: 'Ann', 1: 'Bob'}
    """
    width = check_real("collar", collar, low=0.0)
    check_flag("skip_overlap", skip_overlap)
    true, ours = _merged("reference", reference), _merged("found", found)
    regions = None if evaluated is None else _checked_regions(evaluated)
    cuts = _cuts(true, ours, regions, width)
    truth, answer = _active(true, cuts), _active(ours, cuts)
    scored = _scored(cuts, regions)
    for turns in true.values():
        for boundary in np.ravel(turns):
            scored[_pieces(cuts, boundary - width, boundary + width)] = False
    if skip_overlap:
        scored &= truth.sum(axis=0) <= 1
    return _errors(truth, answer, np.diff(cuts) * scored, list(true), list(ours))


def errors_by_recording(
    reference: Iterable[Turn],
    found: Iterable[Turn],
    *,
    evaluated: Mapping[str, Iterable[tuple[float, float]]] | None = None,
    **options: Any,
) -> dict[str, DiarizationErrors]:
    """Compare the turns of several recordings, as ``read_rttm`` and ``read_uem`` return them.

    Parameters
    ----------
    reference, found : iterable of Turn
    evaluated : dict of str to list of (start, end), default=None
        The time that is scored in each recording. Other recordings are left out. None: all
        recordings of the reference, from their first start to their last end.
    **options
        ``collar`` and ``skip_overlap`` of :func:`diarization_errors`.

    Returns
    -------
    dict of str to DiarizationErrors
        :func:`pooled_errors` adds them up.

    Examples
    --------
    >>> from modeshift.speech import Turn, errors_by_recording
    >>> truth = [Turn("monday", 0.0, 10.0, "Ann"), Turn("tuesday", 0.0, 5.0, "Ann")]
    >>> errors = errors_by_recording(truth, [Turn("monday", 0.0, 8.0, "SPEAKER_00")])
    >>> {name: part.der for name, part in errors.items()}
    {'monday': 0.2, 'tuesday': 1.0}
    """
    true, ours = _by_recording(reference), _by_recording(found)
    return {
        name: diarization_errors(
            true[name],
            ours[name],
            evaluated=None if evaluated is None else evaluated[name],
            **options,
        )
        for name in list(true if evaluated is None else evaluated)
    }


def _by_recording(parts: Iterable[Turn]) -> dict[str, list[Any]]:
    """Return the parts of each recording, without its name; nothing for other recordings."""
    result: dict[str, list[Any]] = defaultdict(list)
    for recording, *rest in parts:
        result[recording].append(tuple(rest))
    return result


def pooled_errors(errors: Iterable[DiarizationErrors]) -> DiarizationErrors:
    """Add up the errors of several recordings.

    Times and numbers of speakers are summed; JER, ACP and ASP are means over the speakers of all
    recordings. Speakers of different recordings are different, so there is no mapping.

    Examples
    --------
    >>> from modeshift.speech import diarization_errors, pooled_errors
    >>> monday = diarization_errors([(0.0, 10.0, "Ann")], [(0.0, 8.0, 0)])
    >>> tuesday = diarization_errors([(0.0, 30.0, "Bob")], [(0.0, 30.0, 0)])
    >>> pooled_errors([monday, tuesday]).der
    0.05
    """
    parts = list(errors)
    return DiarizationErrors(
        speech=sum(part.speech for part in parts),
        missed=sum(part.missed for part in parts),
        false_alarm=sum(part.false_alarm for part in parts),
        confusion=sum(part.confusion for part in parts),
        jaccard=tuple(x for part in parts for x in part.jaccard),
        cluster_purities=tuple(x for part in parts for x in part.cluster_purities),
        speaker_purities=tuple(x for part in parts for x in part.speaker_purities),
        n_speakers=sum(part.n_speakers for part in parts),
        n_found=sum(part.n_found for part in parts),
        mapping={},
    )


def _mean(values: tuple[float, ...]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _merged(name: str, turns: Iterable[Span]) -> dict[Any, np.ndarray]:
    """Return the starts and ends of each speaker; turns that touch or overlap are one."""
    of_speaker: dict[Any, list[tuple[float, float]]] = {}
    for start, end, speaker in turns:
        _check_times(name, start, end)
        of_speaker.setdefault(speaker, []).append((float(start), float(end)))
    return {speaker: _union(parts) for speaker, parts in of_speaker.items()}


def _checked_regions(regions: Iterable[tuple[float, float]]) -> np.ndarray:
    checked = []
    for start, end in regions:
        _check_times("evaluated", start, end)
        checked.append((float(start), float(end)))
    return _union(checked)


def _check_times(name: str, start: float, end: float) -> None:
    if not (np.isfinite(start) and np.isfinite(end) and start <= end):
        raise ValueError(f"{name} has times from {start} to {end}; end must not be before start.")


def _union(parts: list[tuple[float, float]]) -> np.ndarray:
    """Return the union of intervals as disjoint ones, of shape (m, 2)."""
    merged: list[list[float]] = []
    for start, end in sorted(part for part in parts if part[1] > part[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return np.array(merged).reshape(-1, 2)


def _cuts(
    true: dict[Any, np.ndarray],
    ours: dict[Any, np.ndarray],
    regions: np.ndarray | None,
    collar: float,
) -> np.ndarray:
    """Return all times at which something changes, upwards."""
    boundaries = [np.ravel(turns) for turns in true.values()]
    near = [b + side for b in boundaries for side in (-collar, collar)]
    others = [np.ravel(turns) for turns in ours.values()]
    inside = [] if regions is None else [np.ravel(regions)]
    return np.unique(np.concatenate([*boundaries, *near, *others, *inside, np.empty(0)]))


def _pieces(cuts: np.ndarray, start: float, end: float) -> slice:
    """Return the pieces between two cuts."""
    first, last = np.searchsorted(cuts, (start, end))
    return slice(int(first), int(last))


def _active(speakers: dict[Any, np.ndarray], cuts: np.ndarray) -> np.ndarray:
    """Return which speakers speak in which pieces."""
    table = np.zeros((len(speakers), max(len(cuts) - 1, 0)), dtype=bool)
    for row, turns in zip(table, speakers.values(), strict=True):
        for start, end in turns:
            row[_pieces(cuts, start, end)] = True
    return table


def _scored(cuts: np.ndarray, regions: np.ndarray | None) -> np.ndarray:
    """Return which pieces are in the evaluated time."""
    scored = np.full(max(len(cuts) - 1, 0), regions is None)
    for start, end in () if regions is None else regions:
        scored[_pieces(cuts, start, end)] = True
    return scored


def _errors(
    truth: np.ndarray, answer: np.ndarray, lengths: np.ndarray, names: list, found_names: list
) -> DiarizationErrors:
    """Return the errors from tables of who speaks in which piece, and the scored lengths."""
    times, found_times = truth @ lengths, answer @ lengths
    spoken, heard = np.flatnonzero(times > 0.0), np.flatnonzero(found_times > 0.0)
    truth, answer = truth[spoken], answer[heard]
    shared = (truth * lengths) @ answer.T.astype(np.float64)
    pairs = [(r, q) for r, q in zip(*linear_sum_assignment(-shared), strict=True) if shared[r, q]]
    n_true, n_found = truth.sum(axis=0), answer.sum(axis=0)
    both = float(np.minimum(n_true, n_found) @ lengths)
    return DiarizationErrors(
        speech=float(n_true @ lengths),
        missed=float(np.maximum(n_true - n_found, 0) @ lengths),
        false_alarm=float(np.maximum(n_found - n_true, 0) @ lengths),
        confusion=max(both - float(sum(shared[pair] for pair in pairs)), 0.0),
        jaccard=_jaccard_errors(shared, times[spoken], found_times[heard]),
        cluster_purities=_purities(shared.T),
        speaker_purities=_purities(shared),
        n_speakers=len(spoken),
        n_found=len(heard),
        mapping={found_names[heard[q]]: names[spoken[r]] for r, q in pairs},
    )


def _jaccard_errors(shared: np.ndarray, times: np.ndarray, found: np.ndarray) -> tuple[float, ...]:
    ratios = shared / (times[:, np.newaxis] + found - shared)
    errors = np.ones(len(times))
    rows, columns = linear_sum_assignment(-ratios)
    errors[rows] -= ratios[rows, columns]
    return tuple(errors.tolist())


def _purities(shared: np.ndarray) -> tuple[float, ...]:
    """Return sum_j n_ij^2 / n_i.^2 of each row; a row without shared time has 0."""
    totals = shared.sum(axis=1)
    squares = (shared * shared).sum(axis=1)
    return tuple((squares / np.where(totals > 0.0, totals, 1.0) ** 2).tolist())
