"""Gaussian weights in a field of anchors.

A Gaussian reaches many bandwidths, so anchors rarely have lists here. They save time on points that
have gathered: an anchor whose points are all within ``TINY`` bandwidths counts by its mass and mean
(``gaussian_in_tree.py`` has the error bound).

Anchors notice that their points have gathered when the field is tended. The field is tended when
comparing points one by one has cost as much as tending it. Only steps count: how many points are
compared in a test of all points depends on threads and on a clock.
"""

from math import sqrt

import numpy as np

from modeshift.engines.cpu.distance import quick_square
from modeshift.engines.cpu.fields.anchors import (
    LIVE_ONCE,
    LOOKED,
    AnchorState,
    extent,
    is_listed,
    is_near,
)
from modeshift.engines.cpu.fields.gaussian_in_tree import TINY
from modeshift.engines.cpu.fields.protocol import (
    WASTE,
    average_near,
    average_of,
    implements,
    note_waste,
)
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.rule import Gaussian, reach_of, worth_of


@implements(average_near, AnchorState, Gaussian)
def _average_near(state, x, radius, out):
    mass, _ = _gather(state, -1, x, radius, out)
    return mass


@implements(average_of, AnchorState, Gaussian)
def _average_of(state, j, radius, out):
    mass, looked = _gather(state, state.homes[j], state.points[j], radius, out)
    out[WASTE] += looked
    return mass


@implements(note_waste, AnchorState, Gaussian)
def _note_waste(state, waste):
    n = state.points.shape[0]
    state.book[LOOKED] += np.int64(waste)
    if state.book[LOOKED] > n * n:
        state.book[LIVE_ONCE] = -1


@bare_kernel
def _gather(state, a, x, radius, out):
    """Write the mean near x to ``out``; a is the anchor of x, or -1.

    Returns the mass, and the number of points that were compared one by one.
    """
    d = x.shape[0]
    reach = reach_of(state.rule, radius)
    mass = 0.0
    looked = 0
    for k in range(d):
        out[k] = 0.0
    start, stop = extent(state, a)
    for e in range(start, stop):
        b = np.int64(state.lists.pool[e]) if is_listed(state, a) else e
        if state.masses[b] > 0.0:
            square = quick_square(state.anchors[b], x)
            if _is_one(state, b, sqrt(square), sqrt(reach), radius):
                mass += _add_whole(state, b, x, radius, out)
            else:
                mass += _add_members(state, b, x, radius, reach, out)
                looked += state.counts[b]
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass, looked


@bare_kernel
def _is_one(state, b, distance, far, radius):
    """Return whether the points of anchor b count as one: close together, and within reach."""
    spread = state.spreads[b]
    sure = state.doubt * (distance + spread + far)
    return spread <= 0.5 * TINY * radius and distance + spread < far - sure


@bare_kernel
def _add_whole(state, b, x, radius, out):
    """Add the points of anchor b as if all were at their mean; return their mass."""
    square = 0.0
    for k in range(x.shape[0]):
        offset = state.anchors[b, k] + state.sums[b, k] / state.masses[b] - x[k]
        square += offset * offset
    mass = state.masses[b] * worth_of(state.rule, square, radius)
    for k in range(x.shape[0]):
        offset = state.anchors[b, k] + state.sums[b, k] / state.masses[b] - x[k]
        out[k] += mass * offset
    return mass


@bare_kernel
def _add_members(state, b, x, radius, reach, out):
    """Add the points of anchor b one by one; return their mass."""
    mass = 0.0
    i = state.heads[b]
    while i >= 0:
        if state.weights[i] > 0.0 and is_near(state, i, x, reach):
            square = quick_square(state.points[i], x)
            weight = state.weights[i] * worth_of(state.rule, square, radius)
            mass += weight
            for k in range(x.shape[0]):
                out[k] += weight * (state.points[i, k] - x[k])
        i = state.followers[i]
    return mass
