"""The problem that an engine solves: checked points and lengths in internal units."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.rule import Rule


class Problem(NamedTuple):
    """Checked input, divided by a power of two.

    The division rounds nothing. In these units squared distances neither overflow nor vanish,
    whatever the units of the user. (If data exceed the bandwidth by 1e301 or more, the unit is
    larger and the bandwidth is less than 1. Unit vectors stay unit vectors.)

    Attributes
    ----------
    points : array of shape (n, d)
        An ndarray of float64, or a tensor.
    weights : array of shape (n,), float64
    radius : float
        The bandwidth, or the higher one of a pair, as a length.
    scale : float
        Length that ``tol`` and ``merge_radius`` are fractions of: the radius, if it is finite.
    exponent, weight_exponent : int
        The units of length and weight are ``2 ** exponent`` and ``2 ** weight_exponent``.
    rule : Rule
        Which points count in a mean.
    factors : ndarray of shape (d,) or None
        Factors of the features in distances, when their weights were learned.
    """

    points: Any
    weights: Any
    radius: float
    scale: float
    exponent: int
    weight_exponent: int
    rule: Rule
    factors: np.ndarray | None = None

    def measured(self, positions: Any) -> Any:
        """Return positions in the coordinates in which distances are measured."""
        return positions if self.factors is None else positions * self.factors


class Units(NamedTuple):
    """Exponents of the units of length and weight."""

    length: int
    weight: int
