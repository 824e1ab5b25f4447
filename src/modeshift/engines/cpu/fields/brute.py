"""The plain field: every query visits every point. It also finds neighbours by PLDA score."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.heap import average_held, clear_heap, offer
from modeshift.engines.cpu.fields.protocol import average_near, implements, move
from modeshift.engines.rule import Nearest, Rule, excess_of, excesses_of, reach_of, worth_of


class BruteState(NamedTuple):
    """Positions (n, d), by what their squared distances exceed coordinates, weights, the rule."""

    points: np.ndarray
    excess: np.ndarray
    weights: np.ndarray
    rule: Rule


class BruteField(Field):
    """Field that compares all points, O(n d) per query. Every other field must agree with it."""

    def _build(self, points: np.ndarray) -> BruteState:
        return BruteState(points, excesses_of(self.rule.space, points), self.weights, self.rule)


@implements(average_near, BruteState)
def _average_near(state, x, radius, out):
    """Sum offsets from x rather than positions: far from the origin no digit is lost.

    m_h(x) = sum_i w_i (x_i - x) / sum_i w_i over |x_i - x| <= h (paper, Section 2), out = x + m.
    """
    reach = reach_of(state.rule, radius)
    own = excess_of(state.rule.space, x)
    mass = 0.0
    d = x.shape[0]
    for k in range(d):
        out[k] = 0.0
    for i in range(state.points.shape[0]):
        square = squared_distance(state.points[i], x) + (state.excess[i] + own)
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
    own = excess_of(state.rule.space, x)
    for i in range(state.points.shape[0]):
        square = squared_distance(state.points[i], x) + (state.excess[i] + own)
        offer(heap, state.rule, state.weights, square, i)
    return average_held(heap, state.rule, state.points, state.weights, x, radius, out)


@implements(move, BruteState)
def _move(state, j, x):
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
    state.excess[j] = excess_of(state.rule.space, state.points[j])
