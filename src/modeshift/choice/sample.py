"""The points that a rule looks at: all of them, or a sample where there are many."""

from typing import Any, NamedTuple, Self

import numpy as np


class Sample(NamedTuple):
    """Points in a unit in which nothing overflows or vanishes.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Which points of the data these are; of points that coincide the first.
    places : ndarray of shape (m, d)
        The points in the unit ``2 ** exponent``.
    weights : ndarray of shape (m,)
        How often each point counts.
    exponent : int
    total : float
        Weight of all the data that the sample stands for.
    """

    rows: np.ndarray
    places: np.ndarray
    weights: np.ndarray
    exponent: int
    total: float

    @property
    def points(self) -> np.ndarray:
        """The points in the unit of the user."""
        return np.ldexp(self.places, self.exponent)

    @property
    def share(self) -> float:
        """Share of all the data, by weight, that is in the sample."""
        return float(self.weights.sum() / self.total)

    def in_own_unit(self) -> Self:
        """Return the same points in the power of two next above the largest coordinate.

        This keeps squares of tiny and huge numbers within range, exactly.
        """
        larger = int(np.frexp(np.abs(self.places).max())[1])
        places = np.ldexp(self.places, -larger)
        return self._replace(places=places, exponent=self.exponent + larger)

    def in_user_units(self, length: Any) -> Any:
        """Return a length, or several, in the unit of the points: finite, and never 0."""
        with np.errstate(over="ignore"):
            lengths = np.ldexp(length, self.exponent)
        limits = np.finfo(np.float64)
        return np.clip(lengths, limits.smallest_subnormal, limits.max)


def draw_sample(points: np.ndarray, weights: np.ndarray, n_samples: int, rng: Any) -> Sample:
    """Take the points that have weight; if there are more than ``n_samples``, draw that number.

    Heavy points are drawn more often, and then all count alike. Points that coincide become one
    point with their weight, in sorted order. So repeated points are the same sample as weighted
    ones, and the order of the data does not matter.
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
    return Sample(rows[firsts], points, weights, 0, total).in_own_unit()


def as_counts(weights: np.ndarray) -> np.ndarray:
    """Scale weights that are not counts to a mean of 1, so that their unit does not matter."""
    counts = (weights == np.rint(weights)).all() and weights.max() < 2.0**53
    return weights if counts else weights / weights.max() / (weights / weights.max()).mean()
