"""Climbs by scikit-learn's rules, on the engine of this library."""

from typing import NamedTuple, Self

import numpy as np

from modeshift.compat.rounding import NumpyRounding
from modeshift.engines.cpu.fields import make_field
from modeshift.engines.cpu.hashing import number_rows
from modeshift.engines.schedules.climb import LastSteps, climb

_TOLERANCE = 1e-3
"""A climb ends with a step of at most this share of the bandwidth (scikit-learn's constant)."""


class Ends(NamedTuple):
    """Ends of climbs.

    Attributes
    ----------
    means : ndarray of shape (m, d)
        Where each climb ended: the mean of its last ball.
    places : ndarray of shape (m, d)
        Centre of the last ball, one step before the end.
    counts : ndarray of shape (m,)
        Number of points in the last ball.
    """

    means: np.ndarray
    places: np.ndarray
    counts: np.ndarray

    def where(self, mask: np.ndarray) -> Self:
        """Return some of the ends, by a mask or by their numbers."""
        return type(self)(*(values[mask] for values in self))


def climb_from(
    seeds: np.ndarray, points: np.ndarray, bandwidth: float, max_iter: int, n_threads: int
) -> tuple[Ends, int]:
    """Climb from every seed; return the different ends, and the steps of the longest climb.

    scikit-learn does not count the step with which a climb ends, so ``max_iter`` and the result
    are one less than the number of steps. A seed with no point within the bandwidth has no end.
    """
    places = np.ascontiguousarray(points, dtype=np.float64)
    starts = np.array(seeds, dtype=np.float64)
    field = make_field(places, np.ones(len(places)), bandwidth, n_jobs=n_threads)
    rounded = NumpyRounding(field, points)
    last = LastSteps(field.space, starts)
    outcome = climb(rounded, starts, tol=_TOLERANCE * bandwidth, max_iter=max_iter + 1, last=last)
    ends = Ends(outcome.ends, last.places, last.masses)
    return _different(ends.where(last.masses > 0.0)), outcome.n_iter - 1


def _different(ends: Ends) -> Ends:
    """Return one end for each mean: that of the last seed, whose count scikit-learn keeps."""
    backwards = ends.where(np.arange(len(ends.means))[::-1])
    _, firsts = number_rows(backwards.means + 0.0)  # a zero has no sign
    return backwards.where(firsts)
