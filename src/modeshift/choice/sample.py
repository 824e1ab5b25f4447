"""The points that a rule looks at: all of them, or a sample where there are many."""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

MANY_DIMENSIONS = 4.0
"""Correlation dimension from which radii hardly tell near from far.

The range from "one neighbour" to "most points" is then a factor below 5, and it shrinks quickly.
"""
_ENOUGH = 500_000  # pairs from which quantiles are taken


class Sample(NamedTuple):
    """Points with all their distances, in a unit in which nothing overflows or vanishes.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Which points of the data these are; of points that coincide the first.
    points : ndarray of shape (m, d)
        As users have them.
    places : ndarray of shape (m, d)
        The points in the unit of the distances.
    weights : ndarray of shape (m,)
        How often each point counts.
    distances : ndarray of shape (m, m)
        Between the points, in the unit ``2 ** exponent``.
    exponent : int
    total : float
        Weight of all the data that the sample stands for.
    """

    rows: np.ndarray
    points: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    distances: np.ndarray
    exponent: int
    total: float

    @property
    def share(self) -> float:
        """Share of all the data, by weight, that is in the sample."""
        return float(self.weights.sum() / self.total)

    def in_user_units(self, length: Any) -> Any:
        """Return a length, or several, in the unit of the points: finite, and never 0."""
        with np.errstate(over="ignore"):
            lengths = np.ldexp(length, self.exponent)
        limits = np.finfo(np.float64)
        return np.clip(lengths, limits.smallest_subnormal, limits.max)


def draw_sample(points: np.ndarray, weights: np.ndarray, n_samples: int, rng: Any) -> Sample:
    """Take the points that have weight, or above ``n_samples`` of them so many at random.

    Heavy points are drawn more often, and then all count alike. Points that coincide become one
    point with their weight, in an order of their own: repeated points are the same sample as
    weighted ones, and the order of the data does not matter.
    """
    rows = np.flatnonzero(weights > 0)
    weights = as_counts(weights[rows])
    total = float(weights.sum())
    if len(rows) > n_samples:
        chosen = rng.choice(len(rows), n_samples, replace=False, p=weights / total)
        rows, weights = rows[chosen], np.ones(n_samples)
    points, firsts, owners = np.unique(
        points[rows].astype(np.float64), axis=0, return_index=True, return_inverse=True
    )
    weights = np.bincount(owners.ravel(), weights=weights)
    # A power of two as the unit keeps squares of tiny and huge numbers within range, exactly.
    exponent = int(np.frexp(np.abs(points).max())[1])
    places = np.ldexp(points, -exponent)
    return Sample(rows[firsts], points, places, weights, cdist(places, places), exponent, total)


def as_counts(weights: np.ndarray) -> np.ndarray:
    """Scale weights that are not counts to a mean of 1, so that their unit does not matter."""
    counts = (weights == np.rint(weights)).all() and weights.max() < 2.0**53
    return weights if counts else weights / weights.max() / (weights / weights.max()).mean()


def pair_quantiles(sample: Sample, levels: tuple[float, ...]) -> np.ndarray:
    """Quantiles of the distances between points that do not coincide; empty if all do.

    A pair counts the product of its weights, as the pairs of repeated points would. Of many points
    only some have their distances looked at.
    """
    m = len(sample.rows)
    if m == 1:
        return np.empty(0)
    some = np.arange(0, m, -(-m * m // _ENOUGH))
    others = ~np.eye(m, dtype=bool)[some]
    distances = sample.distances[some][others]
    counts = (sample.weights[some, np.newaxis] * sample.weights)[others]
    if (counts == counts[0]).all():
        ranks = [max(0, int(np.ceil(level * distances.size)) - 1) for level in levels]
        return np.partition(distances, ranks)[ranks]
    order = np.argsort(distances)
    below = np.cumsum(counts[order])
    return distances[order[np.searchsorted(below, np.array(levels) * below[-1] * (1 - 1e-12))]]
