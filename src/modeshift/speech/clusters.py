"""Which windows of speech are of the same speaker: vectors in, labels out.

Mean-shift labels the windows at many bandwidths and numbers of neighbours. Speakers with hardly any
speech are dissolved, and their windows go to the most similar speaker. The answer with the best
silhouette (Rousseeuw 1987) is taken, of about equal ones that with the fewest speakers. Nothing
here knows files or sound. Memory grows with the number of windows, never with its square.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from modeshift.checks import check_choice, check_real, check_whole
from modeshift.estimators.mean_shift import MeanShift
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.speech.geometry import Geometry, geometry_of
from modeshift.speech.partition import dissolve, linked, merge_to, order_by, parts_of, silhouette

_NEIGHBOURS = (3, 5, 8, 12, 20, 32, 50, 80)
_RADII = 6
_FEWER = 0.25  # how much fewer speakers count, in a choice between answers
_DUST = 0.05  # of the speech of a typical speaker
_SAMPLE = 1500  # windows that mean-shift labels; all others join the most similar speaker
_ONE = 0.16  # silhouette below which there is one speaker, if up to four were found


class Trial(NamedTuple):
    """An answer that was tried.

    Attributes
    ----------
    bandwidth : float
    n_neighbors : int
    n_speakers : int
    quality : float
        Mean silhouette of the windows; 0 for one speaker.
    """

    bandwidth: float
    n_neighbors: int
    n_speakers: int
    quality: float


class Speakers(NamedTuple):
    """Speakers of some windows.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The speaker of each window; 0 has the most speech.
    centers : ndarray of shape (s, d)
        Vector in the middle of each speaker; with cosine distance of unit length.
    scores : ndarray of shape (n,)
        Similarity of each window with its speaker: the cosine, or the PLDA score.
    margins : ndarray of shape (n,)
        By what that exceeds the similarity with the next speaker; inf if there is none.
    reassigned : ndarray of shape (n,) of bool
        Whether mean-shift put the window with none of the speakers, so that it joined the most
        similar one.
    bandwidth : float or None
        The choice; None where mean-shift was not asked.
    n_neighbors : int or None
    curve : tuple of Trial
        All answers that were tried.
    """

    labels: np.ndarray
    centers: np.ndarray
    scores: np.ndarray
    margins: np.ndarray
    reassigned: np.ndarray
    bandwidth: float | None
    n_neighbors: int | None
    curve: tuple[Trial, ...]

    @property
    def n_speakers(self) -> int:
        """Number of speakers."""
        return len(self.centers)


class Wish(NamedTuple):
    """What the caller knows: the fewest and the most speakers, and the least speech of one."""

    fewest: int
    most: int
    least: float | None


class _Answer(NamedTuple):
    trial: Trial
    labels: np.ndarray
    raw: np.ndarray  # before speakers were dissolved


def cluster_speakers(
    vectors: Any,
    *,
    durations: Any = None,
    overlap: int = 1,
    n_speakers: int | None = None,
    min_speakers: int | None = None,
    max_speakers: int | None = None,
    min_speech: float | None = None,
    metric: Any = "cosine",
    method: str = "stochastic",
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Speakers:
    """Find the speakers of windows of speech.

    For several recordings pass the windows of all of them: the same speaker then has the same
    label everywhere.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        One row for each window (i-vectors, x-vectors, CAM++ and the like).
    durations : array-like of shape (n,), default=None
        Speech in each window, in seconds. None: 1 each.
    overlap : int, default=1
        Number of windows in a row with common sound: 2 for windows of 1.5 s every 0.75 s, 1 if
        windows do not overlap. Common sound makes windows more alike than a common speaker does, so
        mean-shift labels only one of ``overlap`` windows, and the others join the most similar
        speaker.
    n_speakers : int, default=None
        Number of speakers, if it is known. It is always obeyed.
    min_speakers, max_speakers : int, default=None
        Fewest and most speakers. They are always obeyed.
    min_speech : float, default=None
        Least speech of a speaker, in the unit of ``durations``. Speakers with less are dissolved,
        and their windows go to the most similar speaker; the wished number of speakers is stronger.
        None: a twentieth of the speech of a typical speaker, and two windows.
    metric : "cosine", or a fitted TwoCovariancePLDA, default="cosine"
    method : {"stochastic", "deterministic"}, default="stochastic"
        :class:`modeshift.StochasticMeanShift` or :class:`modeshift.MeanShift`.
    random_state : int, RandomState instance or None, default=None
        Draws the sample and the order of the stochastic steps.
    n_jobs : int, default=None
        Threads, as in the estimators.
    progress : function of two ints, default=None
        Called with the number of trials that are done and that of all.

    Returns
    -------
    Speakers

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.speech import cluster_speakers
    >>> rng = np.random.RandomState(0)
    >>> voices = np.eye(3, 20).repeat(15, axis=0)
    >>> found = cluster_speakers(voices + 0.1 * rng.standard_normal(voices.shape), random_state=0)
    >>> found.n_speakers
    3
    """
    vectors = _checked_vectors(vectors)
    n = len(vectors)
    durations = _checked_durations(durations, n)
    wish = _checked_wish(n, n_speakers, min_speakers, max_speakers, min_speech)
    check_choice("method", method, choices=("stochastic", "deterministic"))
    geometry = geometry_of(metric)
    rng = _random_state(random_state)
    points = geometry.points(vectors)
    rows = _sample(n, check_whole("overlap", overlap, low=1), wish.fewest, rng)
    seed = int(rng.randint(2**31 - 1))
    part = _Part(vectors[rows], points[rows], durations[rows] * (n / len(rows)), geometry)
    answers = list(_answers(part, wish, method, seed, n_jobs, progress))
    answer = _choose(part, answers, wish)
    labels, reassigned = _for_all(geometry, points, rows, answer)
    labels = order_by(labels, durations)
    sums, counts = parts_of(points, labels)
    scores, margins = _certainty(geometry, points, labels, sums, counts)
    asked = answers and answer.trial.n_neighbors > 0
    return Speakers(
        labels=labels,
        centers=geometry.centers(sums, counts),
        scores=scores,
        margins=margins,
        reassigned=reassigned,
        bandwidth=answer.trial.bandwidth if asked else None,
        n_neighbors=answer.trial.n_neighbors if asked else None,
        curve=tuple(each.trial for each in answers),
    )


class _Part(NamedTuple):
    """The windows that mean-shift labels."""

    vectors: np.ndarray
    points: np.ndarray
    durations: np.ndarray
    geometry: Geometry


def _answers(
    part: _Part,
    wish: Wish,
    method: str,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> Iterator[_Answer]:
    """Label the windows with each number of neighbours and radius."""
    n = len(part.points)
    if n < 3:
        return
    numbers = [k for k in _NEIGHBOURS if k <= n // 2] or [2]
    widths = _radii(part.points)
    if len(widths) == 0:
        return
    done, total = 0, len(numbers) * len(widths)
    for k in numbers:
        for width in widths:
            bandwidth = part.geometry.bandwidth(float(width))
            raw = _labels_of(part, bandwidth, k, method, seed, n_jobs)
            labels = _without_dust(part, raw, wish.least)
            found = int(labels.max()) + 1
            quality = silhouette(part.points, labels)
            yield _Answer(Trial(bandwidth, k, found, quality), labels, raw)
            done += 1
            if progress is not None:
                progress(done, total)


def _radii(points: np.ndarray) -> np.ndarray:
    """Return dissimilarities from that of close windows to that of any two; none if all coincide.

    Close: the median over windows of the third nearest.
    """
    asked = points[:: max(1, len(points) // 500)]
    squares = 0.5 * (points * points).sum(axis=1)
    apart = squares - asked @ points.T + 0.5 * (asked * asked).sum(axis=1)[:, np.newaxis]
    third = min(2, len(points) - 1)
    close = np.median(np.partition(apart, third, axis=1)[:, third])
    far = float(np.median(apart))
    if not far > 1e-12:
        return np.empty(0)
    return np.geomspace(max(float(close), 1e-3 * far), 1.01 * far, _RADII)


def _labels_of(
    part: _Part, bandwidth: float, k: int, method: str, seed: int, n_jobs: int | None
) -> np.ndarray:
    settings: dict[str, Any] = {
        "bandwidth": bandwidth,
        "n_neighbors": k,
        "metric": part.geometry.metric,
        "tol": 0.03,
        "n_jobs": n_jobs,
    }
    if method == "deterministic":
        model: Any = MeanShift(**settings)
    else:
        batch = max(1, len(part.points) // 24)
        model = StochasticMeanShift(**settings, batch_size=batch, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a trial need not converge
        return model.fit(part.vectors).labels_


def _without_dust(part: _Part, labels: np.ndarray, least: float | None) -> np.ndarray:
    """Dissolve speakers with too little speech; the largest stays."""
    speech = np.bincount(labels, weights=part.durations)
    counts = np.bincount(labels)
    if least is None:
        shares = speech[speech > 0] / speech.sum()
        typical = speech.sum() / np.exp(-(shares * np.log(shares)).sum())
        keep = (speech >= _DUST * typical) & (counts >= 2)
    else:
        keep = speech >= least
    if not keep.any():
        keep[np.argmax(speech)] = True
    return dissolve(part.geometry, part.points, labels, keep)


def _choose(part: _Part, answers: list[_Answer], wish: Wish) -> _Answer:
    """Return the best answer that obeys the wish."""
    one = np.zeros(len(part.points), dtype=np.int64)
    fitting = [a for a in answers if wish.fewest <= a.trial.n_speakers <= wish.most]
    exactly = wish.fewest == wish.most
    clear = any(a.trial.quality >= _least_quality(a.trial.n_speakers) for a in fitting)
    if wish.fewest == 1 and not clear and not (answers and exactly and wish.most > 1):
        if len(one) == 2 and wish.most > 1 and not _alike(part):
            one = np.arange(2)
        return _Answer(Trial(0.0, 0, int(one.max()) + 1, 0.0), one, one)
    if fitting and not exactly:
        return max(fitting, key=_merit)
    wanted = wish.fewest if not answers else _nearest_number(answers, wish)
    return _forced(part, answers, wanted)


def _merit(answer: _Answer) -> float:
    """Return the silhouette, a little more for few speakers.

    If two of s speakers are merged, the windows of these two change, so the silhouette changes by a
    share of about 1 / s.
    """
    return answer.trial.quality * (1.0 + _FEWER / answer.trial.n_speakers)


def _least_quality(n_speakers: int) -> float:
    """Return the silhouette from which a number of speakers is believed.

    One voice that is split in two to four reaches 0.14, and less when it is split in more.
    """
    return _ONE * min(1.0, 2.0 / np.sqrt(n_speakers))


def _nearest_number(answers: list[_Answer], wish: Wish) -> int:
    """Return the wished number of speakers that is nearest to what would be found."""
    best = max(answers, key=_merit)
    return int(np.clip(best.trial.n_speakers, wish.fewest, wish.most))


def _forced(part: _Part, answers: list[_Answer], wanted: int) -> _Answer:
    """Return an answer with exactly a number of speakers.

    Every answer with as many or more is merged down to the number, and so are the single windows:
    a speaker with few windows is in no answer. The best silhouette counts.
    """
    alone = linked(part.points, wanted)
    candidates = [_Answer(Trial(0.0, 0, wanted, 0.0), alone, alone)]
    candidates += [
        answer._replace(labels=merge_to(part.points, answer.labels, wanted))
        for answer in answers
        if answer.trial.n_speakers >= wanted
    ]
    return max(candidates, key=lambda answer: silhouette(part.points, answer.labels))


def _alike(part: _Part) -> bool:
    scores = part.geometry.scores(part.points[:1], part.points[1:], np.ones(1))
    return bool(scores[0, 0] >= part.geometry.same_from)


def _for_all(
    geometry: Geometry, points: np.ndarray, rows: np.ndarray, answer: _Answer
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of all windows from those of the sample, and which were reassigned."""
    joined = _joined(answer)
    if len(rows) == len(points):
        return answer.labels, joined
    sums, counts = parts_of(points[rows], answer.labels)
    labels = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), _SAMPLE):
        block = slice(start, start + _SAMPLE)
        labels[block] = geometry.scores(points[block], sums, counts).argmax(axis=1)
    labels[rows] = answer.labels
    reassigned = np.zeros(len(points), dtype=bool)
    reassigned[rows] = joined
    return labels, reassigned


def _joined(answer: _Answer) -> np.ndarray:
    """Return which windows are not with the speaker that has most of their cluster."""
    raw, labels = answer.raw, answer.labels
    table = np.zeros((raw.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(table, (raw, labels), 1)
    owners = np.zeros(table.shape[0], dtype=bool)
    owners[table.argmax(axis=0)] = True  # the largest cluster of each speaker
    whole = (table > 0).sum(axis=1) == 1
    return ~(owners[raw] | (whole[raw] & (np.bincount(raw)[raw] > 1)))


def _certainty(
    geometry: Geometry, points: np.ndarray, labels: np.ndarray, sums: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the similarity of each window with its speaker, and by what it exceeds the next."""
    scores, margins = np.empty(len(points)), np.full(len(points), np.inf)
    for start in range(0, len(points), _SAMPLE):
        block = slice(start, start + _SAMPLE)
        table = geometry.scores(points[block], sums, counts)
        own = np.arange(len(table)), labels[block]
        scores[block] = table[own]
        if table.shape[1] > 1:
            table[own] = -np.inf
            margins[block] = scores[block] - table.max(axis=1)
    return scores, margins


def _sample(n: int, overlap: int, fewest: int, rng: np.random.RandomState) -> np.ndarray:
    """Return the windows that mean-shift labels, at least as many as there are speakers."""
    rows = np.arange(0, n, overlap)
    if len(rows) < fewest:
        rows = np.arange(n)
    m = max(_SAMPLE, fewest, int(12 * np.sqrt(len(rows))))
    return rows if len(rows) <= m else np.sort(rng.choice(rows, m, replace=False))


def _random_state(seed: Any) -> np.random.RandomState:
    return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)


def _checked_vectors(vectors: Any) -> np.ndarray:
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"vectors must have one row for each window, and at least one; got shape {array.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        raise ValueError(f"vectors must be finite, and row {bad[0]} is not.")
    return array


def _checked_durations(durations: Any, n: int) -> np.ndarray:
    if durations is None:
        return np.ones(n)
    array = np.asarray(durations, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(
            f"durations must have one number for each of the {n} windows, got shape {array.shape}."
        )
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError("durations must be finite numbers above 0.")
    return array


def _checked_wish(n: int, exactly: Any, fewest: Any, most: Any, least: float | None) -> Wish:
    if least is not None:
        least = check_real("min_speech", least, low=0.0)
    given = {"n_speakers": exactly, "min_speakers": fewest, "max_speakers": most}
    for name, value in given.items():
        if value is not None:
            check_whole(name, value, low=1)
    if exactly is not None and (fewest is not None or most is not None):
        raise ValueError("n_speakers cannot be combined with min_speakers or max_speakers.")
    low, high = exactly or fewest or 1, exactly or most or n
    if low > n:
        name = "n_speakers" if exactly else "min_speakers"
        raise ValueError(
            f"{name}={low}, but there {'is' if n == 1 else 'are'} only {n} "
            f"window{'' if n == 1 else 's'} of speech."
        )
    if low > high:
        raise ValueError(f"min_speakers={fewest} is more than max_speakers={most}.")
    return Wish(int(low), int(min(high, n)), least)
