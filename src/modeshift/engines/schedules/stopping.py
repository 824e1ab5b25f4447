"""Stopping rules of a blurring run, by the squared shifts of all points in a sweep."""

import numpy as np

_ENTROPY_CHANGE = 1e-8
_BINS = 0.9  # bins per point


class LargestShift:
    """The run ends with a sweep in which no point moves further than ``tol``."""

    def __init__(self, tol: float) -> None:
        self.tol = tol

    def ends(self, squares: np.ndarray) -> bool:
        """Return whether this was the last sweep."""
        return bool(squares.max() <= self.tol * self.tol)


class ShiftEntropy:
    """The rule of Carreira-Perpinan (ICML 2006) for Gaussian blurring mean-shift.

    The run ends when the mean shift is at most ``tol``, or when the entropy of the histogram of the
    shifts, with 0.9 n bins from 0 to the largest, changes by less than 1e-8 from one sweep to the
    next. Then clusters may still move, but no longer shrink.
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._last = np.inf

    def ends(self, squares: np.ndarray) -> bool:
        """Return whether this was the last sweep."""
        shifts = np.sqrt(squares)
        entropy = _histogram_entropy(shifts)
        change, self._last = abs(entropy - self._last), entropy
        return bool(shifts.mean() <= self.tol or change < _ENTROPY_CHANGE)


def _histogram_entropy(shifts: np.ndarray) -> float:
    """Return -sum_b p_b log p_b over the bins of the histogram."""
    largest = shifts.max()
    if largest == 0.0:
        return 0.0
    n_bins = max(1, int(_BINS * len(shifts)))
    counts, _ = np.histogram(shifts, bins=n_bins, range=(0.0, largest))
    shares = counts[counts > 0] / len(shifts)
    return float(-(shares * np.log(shares)).sum())
