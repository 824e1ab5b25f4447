"""Patches: boxes of places that share the sums of all points within reach.

A query at a place of a patch evaluates one polynomial (``expansion.py``), which holds all points
that are within reach of every place of the patch, and compares the points of a list, those within
reach of some places only. So the truncation of the kernel is exact, as in all fields.

Patches are made where they pay. Space is cut by a grid of the side of one bandwidth; its cells, and
the 2^d parts of a patch, become patches when the queries there have cost as much as making them.
A part begins with the polynomial of its patch and only has to decide about its list, which gets
shorter with every cut. While a part is not made, its patch answers; where there is no patch, the
tree does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.fields.expansion import (
    Sources,
    expand,
    make_basis,
    make_room,
    shift,
)
from modeshift.engines.cpu.fields.field import Means
from modeshift.engines.cpu.fields.monomials import monomials
from modeshift.engines.cpu.fields.patch_answers import answer_block, make_desk
from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import node_behind
from modeshift.engines.cpu.parallel import run_blocks

SIDE = 1.0
"""Side of the cells of the grid, in bandwidths."""

DEGREE = 24
"""Highest degree of a polynomial."""

NEVER = np.iinfo(np.int64).max
_UNMADE, _HOPELESS = -1, -2  # degrees of boxes without a polynomial
_SHORT = 48  # a list of this length is not worth cutting
_LEVELS = 30
_BATCH = 64  # patches that are made at the same time
_FIRST = 16  # queries in a cell before its costs are found out

# Costs in the unit of one comparison, about a nanosecond.
_MULTIPLY = 0.12  # adding one monomial of one point
_DECIDE = 4.0  # deciding about a point, or looking at it twice
_EVALUATE = 0.8  # one term of a polynomial
_SHIFT = 40.0  # moving one term of a polynomial
_MAKE = 3000.0


class Boxes(NamedTuple):
    """Boxes of places, made or not; C boxes, d features.

    Attributes
    ----------
    lows, highs, centers : (C, d)
    roots : (C,)
        The cell of the grid that each box is in.
    parents, levels : (C,)
    kids : (C, 2^d)
        The parts of each box; -1: no query has been there.
    asked, prices : (C,)
        Number of queries in an unmade box, and at how many it is made.
    degrees : (C,)
        Degree of the polynomial, or ``_UNMADE`` or ``_HOPELESS``.
    floors, errors : (C,)
        Lower bound of the polynomial, and the error so far.
    terms, lists : (C,)
        Where its coefficients begin in the pool, and its list.
    lengths : (C,)
        Length of the list.
    table : (size,)
        Hash table of the cells of the grid.
    used : (1,)
        Number of boxes.
    """

    lows: np.ndarray
    highs: np.ndarray
    centers: np.ndarray
    roots: np.ndarray
    parents: np.ndarray
    levels: np.ndarray
    kids: np.ndarray
    asked: np.ndarray
    prices: np.ndarray
    degrees: np.ndarray
    floors: np.ndarray
    errors: np.ndarray
    terms: np.ndarray
    lists: np.ndarray
    lengths: np.ndarray
    table: np.ndarray
    used: np.ndarray


class Pool:
    """An array that grows at its end."""

    def __init__(self, dtype: type) -> None:
        self.values = np.empty(1024, dtype=dtype)
        self.used = 0

    def append(self, values: np.ndarray) -> int:
        """Add values; return where they begin."""
        start = self.used
        self.used += len(values)
        if self.used > len(self.values):
            larger = np.empty(2 * self.used, dtype=self.values.dtype)
            larger[:start] = self.values[:start]
            self.values = larger
        self.values[start : self.used] = values
        return start


class Patches:
    """The patches of a field that stands still.

    Parameters
    ----------
    sources : Sources
    radius, reach : float
        The bandwidth, and the square of the distance up to which points count.
    cost_at : function of a place
        Returns the cost of a query without patches, in comparisons.
    n_jobs : int
    """

    def __init__(
        self,
        sources: Sources,
        radius: float,
        reach: float,
        cost_at: Callable[[np.ndarray], float],
        n_jobs: int,
    ) -> None:
        d = len(sources.columns)
        span = np.sqrt(reach) / radius + 0.5 * SIDE * np.sqrt(d)
        self.sources = sources
        self.basis = make_basis(monomials(d, DEGREE), radius, span)
        self.boxes = _make_boxes(0, d)
        self.terms, self.lists = Pool(np.float64), Pool(np.int32)
        self._reach = reach
        self._cost_at = cost_at
        self._n_jobs = n_jobs
        self._n_asked = 0

    def find(self, places: np.ndarray) -> np.ndarray:
        """Return the patch that answers for each place; -1: there is none."""
        self._n_asked += len(places)
        found, waiting = np.empty(len(places), dtype=np.int32), np.empty(len(places), dtype=np.int32)
        asking = np.arange(len(places))
        corner = np.empty(places.shape[1])
        while True:
            self._provide()
            due = np.empty(len(asking), dtype=np.int32)
            side = SIDE * self.basis.radius
            n_due = _look_up(self.boxes, places, asking, side, corner, found, waiting, due)
            made = self._make(due[:n_due])
            if not made:
                return found
            asking = asking[waiting[asking] >= 0]
            asking = asking[self.boxes.degrees[waiting[asking]] >= 0]

    def means_near(
        self, state: Any, places: np.ndarray, tol: float, make_out: Callable[[], np.ndarray]
    ) -> Means:
        """Return the means near many places, as ``Field.means_near`` does."""
        answer = Means(np.empty_like(places), np.empty(len(places)), np.zeros(len(places)))
        found = self.find(places)
        order = np.argsort(found, kind="stable")
        made = self.boxes.degrees[: self.boxes.used[0]] >= 0
        longest = self.boxes.lengths[: self.boxes.used[0]].max(initial=0, where=made)
        d, m = places.shape[1], len(self.basis.degrees)

        def block(start: int, stop: int) -> bool:
            largest = answer_block(
                state, self.boxes, self.terms.values, self.lists.values, self.sources, self.basis,
                self._reach, places, order[start:stop], found,
                make_desk(d, longest, m, make_out()), answer,
            )  # fmt: skip
            return largest > tol * tol

        run_blocks(block, len(places), self._n_jobs)
        return answer

    def _provide(self) -> None:
        """Provide space for more boxes: one for so many queries, so that memory stays small."""
        wanted = 1024 + self._n_asked // 16
        if wanted > len(self.boxes.lows):
            self.boxes = _enlarged(self.boxes, 2 * wanted)

    def _make(self, due: np.ndarray) -> bool:
        """Make patches, or find out their costs; return whether one was made."""
        boxes = self.boxes
        new = due[boxes.prices[due] == _FIRST]
        new = new[boxes.parents[new] < 0]
        for root in new:
            self._set_price(root)
        due = due[boxes.asked[due] >= boxes.prices[due]]
        due = due[boxes.degrees[due] == _UNMADE]
        for first in range(0, len(due), _BATCH):
            self._make_batch(due[first : first + _BATCH])
        return bool((boxes.degrees[due] >= 0).any())

    def _set_price(self, root: int) -> None:
        """Find out at how many queries a patch for a cell of the grid pays."""
        boxes = self.boxes
        n_inside, n_list = _survey(boxes, self.sources, root, self._reach)
        m = self.basis.monomials.ends[-5]
        saved = self._cost_at(boxes.centers[root]) - n_list - _EVALUATE * m
        cost = _MAKE + n_inside * (_MULTIPLY * m + _DECIDE) + n_list * _DECIDE
        boxes.lengths[root] = n_list
        boxes.prices[root] = max(_FIRST, int(cost / saved)) if saved > 0.0 else NEVER

    def _make_batch(self, due: np.ndarray) -> None:
        """Make some patches, each with its own scratch space."""
        boxes, sources, basis = self.boxes, self.sources, self.basis
        d = len(sources.columns)
        tables = basis.monomials
        longest = np.where(boxes.parents[due] < 0, boxes.lengths[due], boxes.lengths[boxes.parents[due]])
        starts = np.concatenate([[0], np.cumsum(longest)])
        lists = np.empty(starts[-1], dtype=np.int32)
        terms = np.empty((len(due), tables.ends[-1] + d * tables.ends[-2]))

        def block(first: int, last: int) -> None:
            room = make_room(basis, d, len(sources.weights))
            for i in range(first, last):
                _make_patch(
                    boxes, sources, basis, room, due[i], self._reach, self.terms.values,
                    self.lists.values, lists[starts[i] : starts[i + 1]], terms[i],
                )  # fmt: skip

        run_blocks(block, len(due), self._n_jobs)
        for i, patch in enumerate(due):
            degree = boxes.degrees[patch]
            if degree >= 0:
                n_terms = tables.ends[degree] + d * tables.ends[degree - 1]
                boxes.terms[patch] = self.terms.append(terms[i, :n_terms])
                boxes.lists[patch] = self.lists.append(lists[starts[i] :][: boxes.lengths[patch]])


def _make_boxes(room: int, d: int) -> Boxes:
    size = 16
    while size < 4 * room:
        size *= 2
    whole = {"dtype": np.int64}
    return Boxes(
        lows=np.empty((room, d)),
        highs=np.empty((room, d)),
        centers=np.empty((room, d)),
        roots=np.empty(room, dtype=np.int32),
        parents=np.empty(room, dtype=np.int32),
        levels=np.empty(room, dtype=np.int32),
        kids=np.empty((room, 1 << d), dtype=np.int32),
        asked=np.empty(room, **whole),
        prices=np.empty(room, **whole),
        degrees=np.empty(room, dtype=np.int32),
        floors=np.empty(room),
        errors=np.empty(room),
        terms=np.empty(room, **whole),
        lists=np.empty(room, **whole),
        lengths=np.empty(room, **whole),
        table=np.full(size, -1, dtype=np.int32),
        used=np.zeros(1, **whole),
    )


def _enlarged(boxes: Boxes, room: int) -> Boxes:
    """Return the same boxes with space for more."""
    d, used = boxes.lows.shape[1], boxes.used[0]
    larger = _make_boxes(room, d)
    for new, old in zip(larger[:-2], boxes[:-2], strict=True):
        new[:used] = old[:used]
    larger.used[0] = used
    _enter_roots(larger)
    return larger


@bare_kernel
def _enter_roots(boxes):
    """Put all cells of the grid into an empty hash table."""
    mask = boxes.table.shape[0] - 1
    for b in range(boxes.used[0]):
        if boxes.parents[b] < 0:
            entry = np.int64(hash_row(boxes.lows[b]) & np.uint64(mask))
            while boxes.table[entry] >= 0:
                entry = (entry + 1) & mask
            boxes.table[entry] = b


@bare_kernel
def _look_up(boxes, places, asking, side, corner, found, waiting, due):
    """Find the patch of each place, and count the query where a smaller one may be made.

    ``found`` is the smallest patch, ``waiting`` the unmade box of which a query was counted (-1:
    none). Boxes whose price is reached go to ``due``; returns their number.
    """
    n_due = 0
    d = places.shape[1]
    for i in asking:
        x = places[i]
        found[i], waiting[i] = -1, -1
        box = _root_at(boxes, x, side, corner)
        while box >= 0:
            if boxes.degrees[box] == _UNMADE:
                waiting[i] = box
                boxes.asked[box] += 1
                if boxes.asked[box] == boxes.prices[box]:
                    due[n_due] = box
                    n_due += 1
            if boxes.degrees[box] < 0:
                break
            found[i] = box
            if boxes.lengths[box] < _SHORT or boxes.levels[box] == _LEVELS:
                break
            part = 0
            for k in range(d):
                part += (x[k] >= boxes.centers[box, k]) << k
            if boxes.kids[box, part] < 0:
                boxes.kids[box, part] = _cut(boxes, box, part)
            box = boxes.kids[box, part]
    return n_due


@bare_kernel
def _root_at(boxes, x, side, corner):
    """Return the cell of the grid that x is in; -1 if there is no space for one more."""
    d, mask, used = x.shape[0], boxes.table.shape[0] - 1, boxes.used[0]
    for k in range(d):
        corner[k] = np.floor(x[k] / side) * side + 0.0  # no -0.0: it has other bits
    entry = np.int64(hash_row(corner) & np.uint64(mask))
    while boxes.table[entry] >= 0:
        box = boxes.table[entry]
        same = True
        inside = True
        for k in range(d):
            same &= boxes.lows[box, k] == corner[k]
            inside &= x[k] <= boxes.highs[box, k]
        if same:
            return box if inside else -1
        entry = (entry + 1) & mask
    if used == boxes.lows.shape[0]:
        return -1
    inside = True
    for k in range(d):
        boxes.lows[used, k], boxes.highs[used, k] = corner[k], corner[k] + side
        inside &= corner[k] <= x[k] <= boxes.highs[used, k]
    if not inside:  # rounding is coarse here
        return -1
    boxes.table[entry] = used
    boxes.roots[used], boxes.parents[used], boxes.levels[used] = used, -1, 0
    boxes.prices[used] = _FIRST
    _open(boxes, used)
    return used


@bare_kernel
def _cut(boxes, box, part):
    """Return a new box that is a part of another one; -1 if there is no space."""
    new, d = boxes.used[0], boxes.lows.shape[1]
    if new == boxes.lows.shape[0]:
        return -1
    for k in range(d):
        upper = (part >> k) & 1
        boxes.lows[new, k] = boxes.centers[box, k] if upper else boxes.lows[box, k]
        boxes.highs[new, k] = boxes.highs[box, k] if upper else boxes.centers[box, k]
    boxes.roots[new], boxes.parents[new] = boxes.roots[box], box
    boxes.levels[new] = boxes.levels[box] + 1
    length, degree = boxes.lengths[box], boxes.degrees[box]
    boxes.prices[new] = np.int64((_MAKE + length * 8.0 + 2000.0) / (0.5 * length)) + 1
    _open(boxes, new)
    return new


@bare_kernel
def _open(boxes, box):
    """Make the next box a valid one."""
    for k in range(boxes.lows.shape[1]):
        low, high = boxes.lows[box, k], boxes.highs[box, k]
        boxes.centers[box, k] = low + 0.5 * (high - low)
    boxes.kids[box, :] = -1
    boxes.asked[box] = 0
    boxes.degrees[box] = _UNMADE
    boxes.used[0] += 1


@bare_kernel
def _node_squares(boxes, box, nodes, node):
    """Return the squared distances of the nearest and the farthest places of a box and a node.

    They are computed like ``squared_distance``. Rounding is monotonic, so the distances of all
    points of the node from all places of the box are between them.
    """
    nearest, farthest, d = 0.0, 0.0, boxes.lows.shape[1]
    for k in range(d):
        below = boxes.lows[box, k] - nodes[node, d + k]
        above = nodes[node, k] - boxes.highs[box, k]
        gap = max(below, above, 0.0)
        span = max(boxes.highs[box, k] - nodes[node, k], nodes[node, d + k] - boxes.lows[box, k])
        nearest += gap * gap
        farthest += span * span
    return nearest, farthest


@bare_kernel
def _point_squares(boxes, box, columns, i):
    """Return the same for a point."""
    nearest, farthest = 0.0, 0.0
    for k in range(boxes.lows.shape[1]):
        below = boxes.lows[box, k] - columns[k, i]
        above = columns[k, i] - boxes.highs[box, k]
        gap = max(below, above, 0.0)
        span = max(-below, -above)
        nearest += gap * gap
        farthest += span * span
    return nearest, farthest


@bare_kernel
def _survey(boxes, sources, box, reach):
    """Return the number of points within reach of all places of a box, and of some places."""
    nothing = boxes.roots[:0]
    return _sort_points(boxes, sources, box, reach, nothing, nothing)


@bare_kernel
def _sort_points(boxes, sources, box, reach, inside, border):
    """Write the points within reach of all places of a box, and those within reach of some.

    Returns their numbers. Empty arrays are not written to.
    """
    nodes, starts, n_leaves = sources.nodes, sources.starts, sources.starts.shape[0] - 1
    n_inside, n_border = 0, 0
    node = 1
    while True:
        nearest, farthest = _node_squares(boxes, box, nodes, node)
        if nearest <= reach and farthest > reach and node < n_leaves:
            node *= 2
            continue
        if nearest <= reach:
            first, last = node, node
            while first < n_leaves:
                first, last = 2 * first, 2 * last + 1
            for i in range(starts[first - n_leaves], starts[last - n_leaves + 1]):
                if farthest > reach:
                    near, far = _point_squares(boxes, box, sources.columns, i)
                else:
                    near, far = nearest, farthest
                if far <= reach:
                    if inside.shape[0] > 0:
                        inside[n_inside] = i
                    n_inside += 1
                elif near <= reach:
                    if border.shape[0] > 0:
                        border[n_border] = i
                    n_border += 1
        node = node_behind(node)
        if node == 1:
            break
    return n_inside, n_border


@bare_kernel
def _sort_list(boxes, sources, box, reach, points, inside, border):
    """Do the same for the points of a list."""
    n_inside, n_border = 0, 0
    for i in points:
        near, far = _point_squares(boxes, box, sources.columns, i)
        if far <= reach:
            inside[n_inside] = i
            n_inside += 1
        elif near <= reach:
            border[n_border] = i
            n_border += 1
    return n_inside, n_border


@bare_kernel
def _make_patch(boxes, sources, basis, room, box, reach, terms, lists, border, made):
    """Make the patch of a box: write its list to ``border``, its polynomial to ``made``."""
    d, tables, parent, root = sources.columns.shape[0], basis.monomials, boxes.parents[box], boxes.roots[box]
    half = 0.0
    for k in range(d):
        below = boxes.centers[box, k] - boxes.lows[box, k]
        above = boxes.highs[box, k] - boxes.centers[box, k]
        half = max(half, below / basis.radius, above / basis.radius)
    if parent < 0:
        degree, floor, error = -1, 0.0, 0.0
        n_inside, n_border = _sort_points(boxes, sources, box, reach, room.members, border)
    else:
        degree, floor, error = boxes.degrees[parent], boxes.floors[parent], boxes.errors[parent]
        m, start = tables.ends[degree], boxes.terms[parent]
        for i in range(m):
            room.coefs[i] = terms[start + i]
        for k in range(d):
            room.steps[k] = (boxes.centers[box, k] - boxes.centers[parent, k]) / basis.radius
        shift(room.coefs, basis, degree, room.steps)
        start = boxes.lists[parent]
        points = lists[start : start + boxes.lengths[parent]]
        n_inside, n_border = _sort_list(boxes, sources, box, reach, points, room.members, border)
    share = 1.0 - 0.5 ** (boxes.levels[box] + 1)
    degree, floor, error = expand(
        sources, basis, room, n_inside, boxes.centers[root], boxes.centers[box], half,
        degree, floor, error, share,
    )  # fmt: skip
    boxes.degrees[box] = degree if degree >= 0 else _HOPELESS
    boxes.floors[box], boxes.errors[box], boxes.lengths[box] = floor, error, n_border
    if degree < 0:
        return
    m, m_slope = tables.ends[degree], tables.ends[degree - 1]
    for i in range(m):
        made[i] = room.coefs[i]
    for k in range(d):
        for i in range(m_slope):
            made[m + k * m_slope + i] = room.coefs[tables.ups[i, k]]
