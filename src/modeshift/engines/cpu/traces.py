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
def sum_traces(traces, first, last, rule, x, radius, sums, worths):
    """Sum the offsets of the traces ``first`` to before ``last`` that are near x.

    Returns their worths, with their signs and without. ``worths`` is scratch space for ``TOGETHER``
    numbers.
    """
    if x.shape[0] == 2:
        change, touched, sums[0], sums[1] = _sum_traces_2(
            rule, traces.places[0, first:last], traces.places[1, first:last],
            traces.weights[first:last], x[0], x[1], radius,
        )  # fmt: skip
        return change, touched
    return _sum_traces(rule, traces, first, last, x, radius, sums, worths)


@fast_sums
def _sum_traces_2(rule, firsts, seconds, weights, x, y, radius):
    """Do so in two dimensions: a squared distance has two terms, so their order is free."""
    reach = reach_of(rule, radius)
    change, touched, first, second = 0.0, 0.0, 0.0, 0.0
    for i in range(weights.shape[0]):
        u = firsts[i] - x
        v = seconds[i] - y
        square = u * u + v * v
        worth = weights[i] * worth_of(rule, square, radius) if square <= reach else 0.0
        change += worth
        touched += abs(worth)
        first += worth * u
        second += worth * v
    return change, touched, first, second


@inlined_kernel
def _sum_traces(rule, traces, first, last, x, radius, sums, worths):
    """Do so in any number of dimensions."""
    d = x.shape[0]
    change, touched = 0.0, 0.0
    for k in range(d):
        sums[k] = 0.0
    for start in range(first, last, TOGETHER):
        stop = min(last, start + TOGETHER)
        part = worths[: stop - start]
        part[:] = 0.0
        for k in range(d):
            _add_squares(traces.places[k, start:stop], x[k], part)
        change_here, touched_here = _weigh(rule, traces.weights[start:stop], radius, part)
        if touched_here > 0.0:
            change += change_here
            touched += touched_here
            for k in range(d):
                sums[k] += _sum_offsets(traces.places[k, start:stop], x[k], part)
    return change, touched


@bare_kernel
def _add_squares(places, x, squares):
    for i in range(squares.shape[0]):
        offset = places[i] - x
        squares[i] += offset * offset


@fast_sums
def _weigh(rule, weights, radius, worths):
    """Turn squared distances into worths; return their sums, with their signs and without."""
    reach = reach_of(rule, radius)
    change, touched = 0.0, 0.0
    for i in range(worths.shape[0]):
        near = worths[i] <= reach
        worths[i] = weights[i] * worth_of(rule, worths[i], radius) if near else 0.0
        change += worths[i]
        touched += abs(worths[i])
    return change, touched


@fast_sums
def _sum_offsets(places, x, worths):
    total = 0.0
    for i in range(worths.shape[0]):
        total += worths[i] * (places[i] - x)
    return total
