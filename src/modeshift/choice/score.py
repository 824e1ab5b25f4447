"""Which radius: a score of the labels at each radius, its peaks, and the middle of a plateau."""

import numpy as np

from modeshift.choice.factors import Factors

_FLOOR = 0.1  # added to the depth, so that no single factor decides; 0.05 to 0.2 are alike
_MANY_CLUSTERS = 0.25  # exponent of the effective number; 0 and 0.4 lose 0.03 to 0.05
_KEPT = 10  # exponent of the share of kept neighbours: 7% lost halve the score; 4 to 20 are alike
_WORTH, _DIP = 0.5, 0.97  # of the score: an alternative has half of it, beyond a dip of 3%
ALIKE = 0.95
"""Adjusted Rand index of labels that count as the same clusters."""


def scores_of(factors: Factors, many: bool) -> np.ndarray:
    """Return the score of the labels at each radius.

    With P the persistence and E the effective number of clusters::

        P (0.1 + depth) E^-0.25            in few dimensions
        P (depth + distinct) kept^10       in many

    Without E long thin clusters are chopped. In many dimensions, where hundreds of speakers are
    hundreds of clusters, the kept neighbours take its place.
    """
    if many:
        return factors.persistence * (factors.depth + factors.distinct) * factors.kept**_KEPT
    return factors.persistence * (_FLOOR + factors.depth) * factors.effective**-_MANY_CLUSTERS


def peaks_of(score: np.ndarray) -> list[int]:
    """Return the highest score and other peaks, half as high or more and beyond a dip of 3%."""
    found = [int(np.argmax(score))]
    for i in np.argsort(-score, kind="stable"):
        dips = [score[min(i, j) : max(i, j) + 1].min() for j in found]
        if score[i] >= _WORTH * score[found[0]] and max(dips) < _DIP * score[i]:
            found.append(int(i))
    return found


def middle_of(agreement: np.ndarray, best: int) -> int:
    """Return the middle of the radii around the best one whose labels agree with it (0.95).

    All these radii make the same clusters of the sample. The middle one is the safest for all data.
    """
    low = high = best
    while low > 0 and agreement[best, low - 1] >= ALIKE:
        low -= 1
    while high < len(agreement) - 1 and agreement[best, high + 1] >= ALIKE:
        high += 1
    return (low + high) // 2
