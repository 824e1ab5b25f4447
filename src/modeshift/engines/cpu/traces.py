"""Traces of moves that the field does not know yet: their sums near a place.

A move of a point of weight w from p to q leaves two *traces*: (p, -w) and (q, w). Added to the sums
of a field over the old positions, the traces near a place x give the sums over the new ones.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel, fast_sums, inlined_kernel
from modeshift.engines.rule import reach_of, worth_of

TOGETHER = 64  # traces that are compared together


class Traces(NamedTuple):
    """Traces in d dimensions, at most C of them.

    Attributes
    ----------
    places : (d, C)
    weights : (C,)
    filled : (1,)
        Number of traces.
    """

    places: np.ndarray
    weights: np.ndarray
    filled: np.ndarray


def make_traces(d: int, most: int) -> Traces:
    """Return room for the given number of traces."""
    return Traces(np.empty((d, most)), np.empty(most), np.zeros(1, dtype=np.int64))


@inlined_kernel
def leave_trace(traces, place, weight):
    """Add a trace."""
    i = traces.filled[0]
    for k in range(place.shape[0]):
        traces.places[k, i] = place[k]
    traces.weights[i] = weight
    traces.filled[0] = i + 1


@inlined_kernel
def sum_traces(traces, rule, x, radius, sums, worths):
    """Sum the offsets of the traces near x; return their worths, with their signs and without.

    ``worths`` is scratch space for ``TOGETHER`` numbers.
    """
    if x.shape[0] == 2:
        change, touched, sums[0], sums[1] = _sum_traces_2(
            rule, traces.places, traces.weights, traces.filled[0], x[0], x[1], radius
        )
        return change, touched
    return _sum_traces(rule, traces, x, radius, sums, worths)


@fast_sums
def _sum_traces_2(rule, places, weights, filled, x, y, radius):
    """Do so in two dimensions: a squared distance has two terms, so their order is free."""
    reach = reach_of(rule, radius)
    change, touched, first, second = 0.0, 0.0, 0.0, 0.0
    for i in range(filled):
        u = places[0, i] - x
        v = places[1, i] - y
        square = u * u + v * v
        worth = weights[i] * worth_of(rule, square, radius) if square <= reach else 0.0
        change += worth
        touched += abs(worth)
        first += worth * u
        second += worth * v
    return change, touched, first, second


@bare_kernel
def _sum_traces(rule, traces, x, radius, sums, worths):
    """Do so in any number of dimensions."""
    places, weights, filled = traces.places, traces.weights, traces.filled[0]
    reach = reach_of(rule, radius)
    change, touched = 0.0, 0.0
    for k in range(x.shape[0]):
        sums[k] = 0.0
    for start in range(0, filled, TOGETHER):
        n = min(TOGETHER, filled - start)
        for i in range(n):
            worths[i] = 0.0
        for k in range(x.shape[0]):
            for i in range(n):
                offset = places[k, start + i] - x[k]
                worths[i] += offset * offset
        for i in range(n):
            near = worths[i] <= reach
            worths[i] = weights[start + i] * worth_of(rule, worths[i], radius) if near else 0.0
            change += worths[i]
            touched += abs(worths[i])
        for k in range(x.shape[0]):
            for i in range(n):
                sums[k] += worths[i] * (places[k, start + i] - x[k])
    return change, touched
