"""The plain field: every query visits every point."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.heap import average_held, clear_heap, offer
from modeshift.engines.cpu.fields.protocol import average_near, implements, move
from modeshift.engines.rule import Nearest, Rule, reach_of, worth_of


class BruteState(NamedTuple):
    """Positions (n, d), weights (n,) and the rule."""

    points: np.ndarray
    weights: np.ndarray
    rule: Rule


class BruteField(Field):
    """Field that compares all points, O(n d) per query. Every other field must agree with it."""

    def _build(self, points: np.ndarray) -> BruteState:
        return BruteState(points, self.weights, self.rule)


@implements(average_near, BruteState)
def _average_near(state, x, radius, out):
    """Sum offsets from x rather than positions: far from the origin no digit is lost.

    m_h(x) = sum_i w_i (x_i - x) / sum_i w_i over |x_i - x| <= h (paper, Section 2), out = x + m.
    """
    reach = reach_of(state.rule, radius)
    mass = 0.0
    d = x.shape[0]
    for k in range(d):
        out[k] = 0.0
    for i in range(state.points.shape[0]):
        square = squared_distance(state.points[i], x)
        if square <= reach:
            weight = state.weights[i] * worth_of(state.rule, square, radius)
            mass += weight
            for k in range(d):
                out[k] += weight * (state.points[i, k] - x[k])
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass


@implements(average_near, BruteState, Nearest)
def _average_nearest(state, x, radius, out):
    heap = out[x.shape[0] :]
    clear_heap(heap, reach_of(state.rule, radius))
    for i in range(state.points.shape[0]):
        offer(heap, state.rule, state.weights, squared_distance(state.points[i], x), i)
    return average_held(heap, state.rule, state.points, state.weights, x, radius, out)


@implements(move, BruteState)
def _move(state, j, x):
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
