"""Balls that cover the points, to find the nearest points in many dimensions.

About 2 sqrt(n) points are chosen as centres, and every point belongs to the ball of a near centre
(a ball cover: Cayton 2012). If the data have groups, the balls are small compared with the
distances between them. A query computes its distance D to every centre. No point of a ball of
radius t is nearer than D - t, and a point at the distance s from the centre is not nearer than
|D - s|. So the query searches the nearest ball first, and then only balls and points that may be
nearer than the points found so far.

A point that moves stays in its ball if the ball need not grow; otherwise it goes to the nearest
centre. Balls do not shrink. When the searches after moves have cost as much as new balls, new balls
are made (``wants_care``, ``Field.tend``).

Every comparison agrees with the plain field. Quick sums only exclude points that are certainly
farther away.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import quick_doubt, quick_square, squared_distance
from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.heap import average_held, bound_of, clear_heap, heap_length, offer
from modeshift.engines.cpu.fields.protocol import (
    average_near,
    average_of,
    implements,
    make_out,
    move,
    wants_care,
)
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.rule import Nearest, reach_of

_CENTRES = 2.0  # centres, in units of the square root of the number of points
_LARGEST = 2.0**900  # squares are limited to this, so that their sums are finite


class BallState(NamedTuple):
    """Balls as arrays; n points, P balls.

    Attributes
    ----------
    points : (n, d)
    weights : (n,)
    rule : Nearest
    centres : (P, d)
    spreads : (P,)
        Radius of each ball, an upper bound.
    heads : (P,)
        First point of the chain of each ball, -1 if there is none.
    homes : (n,)
        The ball of each point.
    offsets : (n,)
        Distance of each point from the centre of its ball.
    followers, leaders : (n,)
        The next and the previous point in the chain of the ball; -1 at the ends.
    tally : (2,)
        Number of moves, and of points compared, since the balls were made.
    doubt : float
        Largest relative error of quick sums.
    """

    points: np.ndarray
    weights: np.ndarray
    rule: Nearest
    centres: np.ndarray
    spreads: np.ndarray
    heads: np.ndarray
    homes: np.ndarray
    offsets: np.ndarray
    followers: np.ndarray
    leaders: np.ndarray
    tally: np.ndarray
    doubt: float


class BallField(Field):
    """Field of balls that cover the points, for the nearest points in many dimensions."""

    state: BallState
    rule: Nearest

    def _build(self, points: np.ndarray) -> BallState:
        n, d = points.shape
        n_balls = min(n, int(np.ceil(_CENTRES * np.sqrt(n))))
        state = BallState(
            points=points,
            weights=self.weights,
            rule=self.rule,
            centres=np.empty((n_balls, d)),
            spreads=np.empty(n_balls),
            heads=np.empty(n_balls, dtype=np.int64),
            homes=np.empty(n, dtype=np.int64),
            offsets=np.empty(n),
            followers=np.empty(n, dtype=np.int64),
            leaders=np.empty(n, dtype=np.int64),
            tally=np.zeros(2, dtype=np.int64),
            doubt=quick_doubt(d),
        )
        _cover(state)
        return state

    def make_out(self) -> np.ndarray:
        """Return an array with room for the heap and for the distances to all centres."""
        n_balls = len(self.state.centres)
        return make_out(self.points.shape[1], heap_length(self.rule.room) + n_balls)

    def tend(self) -> None:
        """Make new balls, if the field needs it."""
        if wants_care(self.state):
            _cover(self.state)


def _cover(state: BallState) -> None:
    """Choose centres, and assign every point to the nearest.

    Each centre is drawn with probability proportional to the squared distance from the centres
    chosen so far (the seeding of k-means++). So every group gets one centre before any group gets
    two, and single points far out do not get all centres.
    """
    n, n_balls = len(state.points), len(state.centres)
    draws = np.random.RandomState(0).uniform(size=n_balls)
    squares = np.full(n, np.inf)
    chosen = 0
    for ball in range(n_balls):
        state.centres[ball] = state.points[chosen]
        _claim(state, ball, squares)
        shares = np.cumsum(np.minimum(squares, _LARGEST / n))
        chosen = min(int(np.searchsorted(shares, draws[ball] * shares[-1], "right")), n - 1)
    np.sqrt(squares, out=state.offsets)
    _settle(state)


@bare_kernel
def _claim(state, ball, squares):
    """Assign the points that are nearest to a new centre to its ball."""
    for i in range(state.points.shape[0]):
        square = quick_square(state.centres[ball], state.points[i])
        if square < squares[i] or ball == 0:
            squares[i] = square
            state.homes[i] = ball


@bare_kernel
def _settle(state):
    """Add all points to the chains of their balls."""
    state.heads[:] = -1
    state.spreads[:] = 0.0
    state.tally[:] = 0
    for j in range(state.points.shape[0]):
        _join(state, state.homes[j], state.offsets[j], j)


@bare_kernel
def _join(state, ball, offset, j):
    head = state.heads[ball]
    if head >= 0:
        state.leaders[head] = j
    state.followers[j] = head
    state.leaders[j] = -1
    state.heads[ball] = j
    state.homes[j] = ball
    state.offsets[j] = offset
    state.spreads[ball] = max(state.spreads[ball], offset)


@bare_kernel
def _leave(state, j):
    follower, leader = state.followers[j], state.leaders[j]
    if follower >= 0:
        state.leaders[follower] = leader
    if leader >= 0:
        state.followers[leader] = follower
    else:
        state.heads[state.homes[j]] = follower


@bare_kernel
def _search(state, x, heap):
    """Fill the heap with the points nearest to x; return the number of points compared."""
    n_balls = state.centres.shape[0]
    distances = heap[heap.shape[0] - n_balls :]
    first = 0
    for ball in range(n_balls):
        distances[ball] = sqrt(quick_square(state.centres[ball], x))
        if distances[ball] < distances[first]:
            first = ball
    looked = _look_through(state, first, distances[first], x, heap)
    for ball in range(n_balls):
        if ball != first and not _farther(state, distances[ball], state.spreads[ball], heap):
            looked += _look_through(state, ball, distances[ball], x, heap)
    return looked


@bare_kernel
def _farther(state, distance, offset, heap):
    """Return whether points within ``offset`` of a place at ``distance`` are certainly too far."""
    gap = distance - offset - state.doubt * (distance + offset)
    return gap > 0.0 and gap * gap > bound_of(heap) * (1.0 + state.doubt)


@bare_kernel
def _look_through(state, ball, distance, x, heap):
    """Offer the points of a ball with its centre at ``distance``; return their number."""
    looked = 0
    i = state.heads[ball]
    while i >= 0:
        offset = state.offsets[i]
        if not (_farther(state, distance, offset, heap) or _farther(state, offset, distance, heap)):
            looked += 1
            square = quick_square(state.points[i], x)
            if not square > bound_of(heap) * (1.0 + state.doubt):
                offer(heap, state.rule, state.weights, squared_distance(state.points[i], x), i)
        i = state.followers[i]
    return looked


@implements(average_near, BallState)
def _average_near(state, x, radius, out):
    heap = out[x.shape[0] :]
    clear_heap(heap, reach_of(state.rule, radius))
    _search(state, x, heap)
    return average_held(heap, state.rule, state.points, state.weights, x, radius, out)


@implements(average_of, BallState)
def _average_of(state, j, radius, out):
    x = state.points[j]
    heap = out[x.shape[0] :]
    clear_heap(heap, reach_of(state.rule, radius))
    state.tally[1] += _search(state, x, heap)
    return average_held(heap, state.rule, state.points, state.weights, x, radius, out)


@implements(move, BallState)
def _move(state, j, x):
    home, offset = _find_home(state, state.homes[j], x)
    _leave(state, j)
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
    _join(state, home, offset, j)
    state.tally[0] += 1


@bare_kernel
def _find_home(state, old, x):
    """Return the ball for a point that moves from ``old`` to x, and the distance to its centre."""
    home, offset = old, sqrt(quick_square(state.centres[old], x))
    if offset > state.spreads[old]:
        for ball in range(state.centres.shape[0]):
            distance = sqrt(quick_square(state.centres[ball], x))
            if distance < offset:
                home, offset = ball, distance
    return home, offset


@implements(wants_care, BallState)
def _wants_care(state):
    """Return whether searches since the last moves have cost as much as new balls."""
    n = state.points.shape[0]
    return state.tally[0] >= n and state.tally[1] >= n * state.centres.shape[0]
