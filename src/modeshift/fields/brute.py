"""The plain field: every question visits every point."""

from typing import NamedTuple

import numpy as np

from modeshift.fields.distance import squared_distance
from modeshift.fields.field import Field
from modeshift.fields.protocol import implements, mean_near, move


class BruteState(NamedTuple):
    """Positions (n, d) and weights (n,)."""

    points: np.ndarray
    weights: np.ndarray


class BruteField(Field):
    """Field that looks at all points, O(n d) a question. Every other field must agree with it."""

    def _build(self, points: np.ndarray) -> BruteState:
        return BruteState(points, self.weights)


@implements(mean_near, BruteState)
def _mean_near(state, x, radius, out):
    """Sum offsets from x rather than positions: far from the origin no digit is lost.

    m_h(x) = sum_i w_i (x_i - x) / sum_i w_i over |x_i - x| <= h (paper, Section 2), out = x + m.
    """
    reach = radius * radius
    mass = 0.0
    d = x.shape[0]
    for k in range(d):
        out[k] = 0.0
    for i in range(state.points.shape[0]):
        if squared_distance(state.points[i], x) <= reach:
            weight = state.weights[i]
            mass += weight
            for k in range(d):
                out[k] += weight * (state.points[i, k] - x[k])
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass


@implements(move, BruteState)
def _move(state, j, x):
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
