"""Anchors, for points in many dimensions: an anchor lists the anchors near it.

Boxes do not help if d is large. But points move little, or to places of other points. So every
point belongs to an *anchor*, a fixed place A at most half a skin s away. The list of an anchor
holds all anchors whose points can be within h of its own points: by the triangle inequality,

    |x - p| <= h  =>  |A(x) - A(p)| <= |A(x) - x| + |x - p| + |p - A(p)| <= s/2 + h + s/2.

The lists are made by matrix products (see ``gram.py``). A point that leaves its anchor joins
another one or founds a new one, which is added to the lists. An anchor B keeps the mass and the sum
of offsets of its points, and the largest offset t. For x at the distance D, all points of B are
within h if D + t <= h, and none if D - t > h; otherwise they are compared one by one.

While points gather, anchors lose all their points. When half of the anchors are empty, the field is
tended: anchors and lists are rebuilt. The costs over a run form a geometric series.

Every comparison agrees with the plain field. Quick sums, in any order, decide only if the margin
exceeds their rounding error; otherwise ``squared_distance`` decides.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import quick_doubt, quick_square, squared_distance
from modeshift.engines.cpu.fields.field import Field, Means
from modeshift.engines.cpu.fields.gram import Gram, certainly_beyond, certainly_within
from modeshift.engines.cpu.fields.lists import Lists, append, close_list, make_lists, open_list
from modeshift.engines.cpu.fields.protocol import (
    average_near,
    average_of,
    implements,
    mean_of,
    move,
    wants_care,
)
from modeshift.engines.cpu.hashing import number_rows
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import TRUNCATION, Flat, Gaussian, Rule, land

_SKIN = 0.2  # the skin s, in bandwidths
_FEW = 8  # up to this number of places a matrix product does not pay
_SPARE = 64  # least number of new anchors before the field is tended
_ENTRIES = 64  # least number of list entries for each point

# Positions in ``AnchorState.book``.
_USED = 0  # anchors, empty ones included
_LIVE = 1  # anchors that have points
LIVE_ONCE = 2  # the same when the field was last tended; -1: the field needs care
_LISTED = 3  # whether the lists are valid; otherwise every query visits every anchor
LOOKED = 4  # points compared one by one since the field was last tended
_BOOK = 5


class AnchorState(NamedTuple):
    """Anchors as arrays; d features, A anchors at most.

    Attributes
    ----------
    points : (n, d)
    weights : (n,)
    rule : Rule
        Flat here; for the Gaussian see ``gaussian_in_anchors.py``.
    homes : (n,)
        The anchor of each point.
    followers, leaders : (n,)
        The next and the previous point in the chain of the anchor; -1 at the ends.
    anchors : (A, d)
        Places of the anchors.
    heads, counts : (A,)
        First point of the chain of each anchor, and its number of points.
    masses, sums : (A,), (A, d)
        Weight of the points of each anchor, and the weighted sum of their offsets from it.
    peaks : (A,)
        Largest mass since mass and sum were last recomputed; it bounds their rounding error.
    spreads : (A,)
        Upper bound of the distance between the anchor and its points.
    lists : Lists
        The anchors within ``span`` of each anchor, itself included.
    book : (_BOOK,)
        Counters.
    slack : float
        Half the skin, the largest distance between a point and its anchor.
    span : float
        h + s.
    doubt : float
        Largest relative error of quick sums.
    """

    points: np.ndarray
    weights: np.ndarray
    rule: Rule
    homes: np.ndarray
    followers: np.ndarray
    leaders: np.ndarray
    anchors: np.ndarray
    heads: np.ndarray
    counts: np.ndarray
    masses: np.ndarray
    sums: np.ndarray
    peaks: np.ndarray
    spreads: np.ndarray
    lists: Lists
    book: np.ndarray
    slack: float
    span: float
    doubt: float


class AnchorField(Field):
    """Field of anchors with lists of neighbours, for points in many dimensions."""

    state: AnchorState

    def _build(self, points: np.ndarray) -> AnchorState:
        n, d = points.shape
        homes, firsts = number_rows(points)
        room = n + max(_SPARE, n // 2)
        reach = self.radius * (TRUNCATION if isinstance(self.rule, Gaussian) else 1.0)
        state = AnchorState(
            points=points,
            weights=self.weights,
            rule=self.rule,
            homes=homes,
            followers=np.empty(n, dtype=np.int64),
            leaders=np.empty(n, dtype=np.int64),
            anchors=np.empty((room, d)),
            heads=np.empty(room, dtype=np.int64),
            counts=np.empty(room, dtype=np.int64),
            masses=np.empty(room),
            sums=np.empty((room, d)),
            peaks=np.empty(room),
            spreads=np.empty(room),
            lists=make_lists(room, n * max(2 * d, _ENTRIES)),
            book=np.zeros(_BOOK, dtype=np.int64),
            slack=0.5 * _SKIN * reach,
            span=(1.0 + _SKIN) * reach,
            doubt=quick_doubt(d),
        )
        state.anchors[: len(firsts)] = points[firsts]
        state.book[_USED] = len(firsts)
        _settle(state)
        state.book[LIVE_ONCE] = -1
        return state

    def tend(self) -> None:
        """Drop empty anchors and rebuild the lists, if the field needs it."""
        state = self.state
        if not wants_care(state):
            return
        used = state.book[_USED]
        live = np.flatnonzero(state.counts[:used] > 0)
        names = np.empty(used, dtype=np.int64)
        names[live] = np.arange(len(live))
        state.homes[:] = names[state.homes]
        state.anchors[: len(live)] = state.anchors[live]
        state.book[_USED] = len(live)
        _settle(state)
        _centre(state)
        self._list_neighbours()

    def _list_neighbours(self) -> None:
        """Make all lists; no lists if the pool would be nearly full."""
        state = self.state
        state.lists.top[0] = 0
        anchors = state.anchors[: state.book[_USED]]
        gram = Gram(anchors)
        for start, squares, products in gram.blocks(anchors):
            _list_block(state, start, squares, gram.squares, products, gram.doubt)
            if state.lists.top[0] > 0.8 * len(state.lists.pool):
                return
        state.book[_LISTED] = 1

    def means_near(
        self, places: np.ndarray, radius: float | None = None, tol: float = np.inf
    ) -> Means:
        """Return means near many places, with distances by matrix products where these suffice."""
        if len(places) < _FEW or not isinstance(self.rule, Flat):
            return super().means_near(places, radius, tol)
        radius = self.radius if radius is None else radius
        answer = Means(np.empty_like(places), np.empty(len(places)), np.zeros(len(places)))
        gram = Gram(self.points)
        for start, squares, products in gram.blocks(places):
            part = slice(start, start + len(products))
            within = Means(answer.means[part], answer.masses[part], answer.squares[part])
            if self._answer(places[part], squares, gram, products, radius, tol, within):
                break
        return answer

    def _answer(
        self,
        places: np.ndarray,
        squares: np.ndarray,
        gram: Gram,
        products: np.ndarray,
        radius: float,
        tol: float,
        answer: Means,
    ) -> bool:
        """Compute the means of a block of places; return whether a shift was longer than tol."""

        def rows(start: int, stop: int) -> bool:
            largest = _answer_rows(
                self.state, places, squares, gram.squares, products, gram.doubt,
                radius, start, stop, answer,
            )  # fmt: skip
            return largest > tol * tol

        return run_blocks(rows, len(places), self.n_jobs)

    def is_quiet(self, tol: float) -> bool:
        """Return whether no point would move further than ``tol``, by the lists if any."""
        if not self.state.book[_LISTED]:
            return super().is_quiet(tol)

        def members(start: int, stop: int) -> bool:
            out = self.make_out()
            return _largest_shift(self.state, start, stop, self.radius, out) > tol * tol

        return not run_blocks(members, len(self.points), self.n_jobs)


@implements(wants_care, AnchorState)
def _wants_care(state):
    """Return whether half of the anchors are empty, no new one fits, or lists are needed."""
    book = state.book
    if book[LIVE_ONCE] < 0 or book[_USED] == state.anchors.shape[0]:
        return True
    return 2 * book[_LIVE] < book[LIVE_ONCE]


@bare_kernel
def _settle(state):
    """Add all points to their anchors, before there are lists."""
    book = state.book
    book[_LIVE] = 0
    book[_LISTED] = 0
    book[LOOKED] = 0
    for a in range(book[_USED]):
        _clear(state, a)
    for j in range(state.points.shape[0]):
        _join(state, state.homes[j], j)
    book[LIVE_ONCE] = book[_LIVE]


@bare_kernel
def _centre(state):
    """Move anchors to the means of their points, so that the spreads become small."""
    for a in range(state.book[_USED]):
        if state.spreads[a] > 0.0 and state.masses[a] > 0.0:
            place = state.sums[a]
            for k in range(place.shape[0]):
                place[k] = state.anchors[a, k] + place[k] / state.masses[a]
            if _all_fit(state, a, place):
                for k in range(place.shape[0]):
                    state.anchors[a, k] = place[k]
            _sum_up(state, a)


@bare_kernel
def _all_fit(state, a, place):
    """Return whether all points of anchor a would be near enough if it were at ``place``."""
    j = state.heads[a]
    while j >= 0:
        if not _fits(state, place, state.points[j]):
            return False
        j = state.followers[j]
    return True


@bare_kernel
def _clear(state, a):
    """Make an anchor without points."""
    state.heads[a] = -1
    state.counts[a] = 0
    _reset_sums(state, a)


@bare_kernel
def _reset_sums(state, a):
    state.masses[a] = 0.0
    state.peaks[a] = 0.0
    state.spreads[a] = 0.0
    for k in range(state.points.shape[1]):
        state.sums[a, k] = 0.0


@bare_kernel
def _join(state, a, j):
    """Add point j to anchor a."""
    head = state.heads[a]
    if head >= 0:
        state.leaders[head] = j
    else:
        state.book[_LIVE] += 1
    state.followers[j] = head
    state.leaders[j] = -1
    state.heads[a] = j
    state.homes[j] = a
    state.counts[a] += 1
    _give(state, a, j)


@bare_kernel
def _leave(state, j):
    """Remove point j from its anchor.

    When half of the mass is gone, mass and sum are recomputed: otherwise the rounding error of the
    former large sums could exceed the weight of the points that stay.
    """
    a, follower, leader = state.homes[j], state.followers[j], state.leaders[j]
    if follower >= 0:
        state.leaders[follower] = leader
    if leader >= 0:
        state.followers[leader] = follower
    else:
        state.heads[a] = follower
    state.counts[a] -= 1
    if state.counts[a] == 0:
        state.book[_LIVE] -= 1
    weight = state.weights[j]
    state.masses[a] -= weight
    if state.counts[a] == 0 or state.masses[a] < 0.5 * state.peaks[a]:
        _sum_up(state, a)
    else:
        for k in range(state.points.shape[1]):
            state.sums[a, k] -= weight * (state.points[j, k] - state.anchors[a, k])


@bare_kernel
def _sum_up(state, a):
    _reset_sums(state, a)
    j = state.heads[a]
    while j >= 0:
        _give(state, a, j)
        j = state.followers[j]


@bare_kernel
def _give(state, a, j):
    """Add point j to mass, sum and spread of its anchor."""
    weight = state.weights[j]
    state.masses[a] += weight
    state.peaks[a] = max(state.peaks[a], state.masses[a])
    offset = sqrt(quick_square(state.anchors[a], state.points[j]))
    state.spreads[a] = max(state.spreads[a], offset)
    if offset > 0.0:
        for k in range(state.points.shape[1]):
            state.sums[a, k] += weight * (state.points[j, k] - state.anchors[a, k])


@bare_kernel
def is_near(state, i, x, reach):
    """Return whether point i lies within reach, as ``squared_distance`` decides."""
    square = quick_square(state.points[i], x)
    if square > reach * (1.0 + state.doubt):
        return False
    return square < reach * (1.0 - state.doubt) or squared_distance(state.points[i], x) <= reach


@bare_kernel
def is_listed(state, a):
    """Return whether anchor a has a list; False for -1, a place without anchor."""
    return a >= 0 and state.book[_LISTED] > 0


@bare_kernel
def extent(state, a):
    """Return start and stop of the anchors to visit: in the list of a, or of all anchors."""
    if is_listed(state, a):
        start = state.lists.starts[a]
        return start, start + state.lists.lengths[a]
    return 0, state.book[_USED]


@bare_kernel
def _gather(state, a, x, radius, out):
    """Write the mean near x to ``out``; a is the anchor of x, or -1.

    m_h(x) = sum_B [ sum_i w_i (x_i - B) + w_B (B - x) ] / sum_B w_B over the anchors B whose
    points x_i are all within h. Of an anchor on the border, only the points within h are added.
    """
    d = x.shape[0]
    mass = 0.0
    for k in range(d):
        out[k] = 0.0
    start, stop = extent(state, a)
    listed = is_listed(state, a)
    for e in range(start, stop):
        b = np.int64(state.lists.pool[e]) if listed else e
        if state.masses[b] > 0.0:
            mass += _add_anchor(state, b, x, radius, out)
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass


@bare_kernel
def _add_anchor(state, b, x, radius, out):
    """Add the offsets of the points of anchor b within the radius of x; return their mass."""
    distance = sqrt(quick_square(state.anchors[b], x))
    spread = state.spreads[b]
    sure = state.doubt * (distance + spread + radius)
    if distance - spread > radius + sure:
        return 0.0
    if distance + spread >= radius - sure:
        return _add_members(state, b, x, radius * radius, out)
    mass = state.masses[b]
    for k in range(x.shape[0]):
        out[k] += mass * (state.anchors[b, k] - x[k])
    if spread > 0.0:
        for k in range(x.shape[0]):
            out[k] += state.sums[b, k]
    return mass


@bare_kernel
def _add_members(state, b, x, reach, out):
    """Add the points of anchor b within the radius, one by one; return their mass."""
    mass = 0.0
    i = state.heads[b]
    while i >= 0:
        weight = state.weights[i]
        if weight > 0.0 and is_near(state, i, x, reach):
            mass += weight
            for k in range(x.shape[0]):
                out[k] += weight * (state.points[i, k] - x[k])
        i = state.followers[i]
    return mass


@implements(average_near, AnchorState, Flat)
def _average_near(state, x, radius, out):
    return _gather(state, -1, x, radius, out)


@implements(average_of, AnchorState, Flat)
def _average_of(state, j, radius, out):
    return _gather(state, state.homes[j], state.points[j], radius, out)


@implements(move, AnchorState)
def _move(state, j, x):
    home = _find_home(state, state.homes[j], x)
    _leave(state, j)
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
    _join(state, home, j)


@bare_kernel
def _find_home(state, old, x):
    """Return the anchor for a point that moves from ``old`` to x.

    A point that is not alone in its anchor stays there if it can. Otherwise it joins the largest
    anchor within reach, so that anchors become fewer. Only if there is none, it joins an anchor
    with a single point.
    """
    stays = _fits(state, state.anchors[old], x)
    if stays and state.counts[old] > 1:
        return old
    home = _largest_company(state, old, x, 1)
    if home < 0:
        home = old if stays else _largest_company(state, old, x, 0)
    return home if home >= 0 else _found(state, x)


@bare_kernel
def _largest_company(state, old, x, most):
    """Return the largest anchor for x with more than ``most`` points; -1 if there is none."""
    best = -1
    start, stop = extent(state, old)
    listed = is_listed(state, old)
    for e in range(start, stop):
        b = np.int64(state.lists.pool[e]) if listed else e
        if state.counts[b] > most and _fits(state, state.anchors[b], x):
            best, most = b, state.counts[b]
    return best


@bare_kernel
def _fits(state, anchor, x):
    """Return whether a point at x may belong to an anchor at ``place``."""
    distance = sqrt(quick_square(anchor, x))
    return distance * (1.0 + state.doubt) <= state.slack


@bare_kernel
def _found(state, x):
    """Make an anchor at x and add it to the lists."""
    a = state.book[_USED]
    if a < state.anchors.shape[0]:
        state.book[_USED] += 1
    else:  # after many new anchors in a batch; lists would hold the old place
        a = _any_dead(state)
        state.book[_LISTED] = 0
        state.book[LIVE_ONCE] = -1
    for k in range(state.points.shape[1]):
        state.anchors[a, k] = x[k]
    _clear(state, a)
    if state.book[_LISTED] and not _enter_lists(state, a):
        state.book[_LISTED] = 0
        state.book[LIVE_ONCE] = -1
    return a


@bare_kernel
def _any_dead(state):
    """Return an anchor without points; there are more anchors than points."""
    a = 0
    while state.counts[a] > 0:
        a += 1
    return a


@bare_kernel
def _enter_lists(state, a):
    """Make the list of a new anchor, and add it to the other lists; return whether it fitted."""
    lists = state.lists
    reach = state.span * state.span * (1.0 + state.doubt)
    open_list(lists, a)
    for b in range(a + 1):
        if b != a and state.counts[b] == 0:
            continue
        near = quick_square(state.anchors[b], state.anchors[a]) <= reach
        if near and not append(lists, a, b):
            return False
    close_list(lists, a)
    for e in range(lists.starts[a], lists.starts[a] + lists.lengths[a]):
        if lists.pool[e] != a and not append(lists, lists.pool[e], a):
            return False
    return True


@bare_kernel
def _list_block(state, first, squares, all_squares, products, doubt):
    """Make the lists of the anchors from ``first`` on; stop when the pool is full."""
    lists = state.lists
    reach = state.span * state.span * (1.0 + state.doubt)
    for i in range(products.shape[0]):
        open_list(lists, first + i)
        for b in range(products.shape[1]):
            both, product = squares[i] + all_squares[b], products[i, b]
            if certainly_beyond(both, product, doubt, reach):
                continue
            if (
                certainly_within(both, product, doubt, reach)
                or quick_square(state.anchors[first + i], state.anchors[b]) <= reach
            ) and not append(lists, first + i, b):
                break
        close_list(lists, first + i)


@bare_kernel
def _answer_rows(
    state, places, squares, all_squares, products, doubt, radius, start, stop, answer
):  # fmt: skip
    """Compute the means of the places start..stop of a block; return the largest squared shift."""
    reach = radius * radius
    largest = 0.0
    for i in range(start, stop):
        x, mean = places[i], answer.means[i]
        mass = 0.0
        for k in range(x.shape[0]):
            mean[k] = 0.0
        for j in range(products.shape[1]):
            both, product = squares[i] + all_squares[j], products[i, j]
            if certainly_beyond(both, product, doubt, reach):
                continue
            if certainly_within(both, product, doubt, reach) or is_near(state, j, x, reach):
                weight = state.weights[j]
                mass += weight
                for k in range(x.shape[0]):
                    mean[k] += weight * (state.points[j, k] - x[k])
        for k in range(x.shape[0]):
            mean[k] = x[k] + mean[k] / mass if mass > 0.0 else x[k]
        land(state.rule.space, x, mean)
        answer.masses[i] = mass
        answer.squares[i] = squared_distance(mean, x)
        largest = max(largest, answer.squares[i])
    return largest


@bare_kernel
def _largest_shift(state, start, stop, radius, out):
    """Return the largest squared shift of the points start..stop, without moving them."""
    largest = 0.0
    for j in range(start, stop):
        mean_of(state, j, radius, out)
        largest = max(largest, squared_distance(out, state.points[j]))
    return largest
