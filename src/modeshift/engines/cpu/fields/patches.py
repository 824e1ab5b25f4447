"""Patches: boxes of places that share the sums of all points within reach.

A query at a place of a patch evaluates one polynomial (``expansion.py``), which holds all points
that are within reach of every place of the patch, and compares the points of a list: those within
reach of some of its places. So the truncation of the kernel is exact, as in all fields.

Patches are made where they pay: when queries in a box have cost as much as making its patch. The
first ones are cells of a grid; the parts of a patch begin with its polynomial and only have to
decide about its list, which gets shorter with every cut. While a part is not made, its patch
answers; where there is no patch, the tree does.
"""

import numpy as np

from modeshift.engines.cpu.fields.boxes import (
    FIRST_PRICE,
    NEVER,
    NOWHERE,
    REFUSED,
    UNMADE,
    Boxes,
    locate,
    make_boxes,
    node_squares,
    point_squares,
    sort_by_box,
)
from modeshift.engines.cpu.fields.expansion import (
    Sources,
    expand,
    make_basis,
    make_room,
    shift,
)
from modeshift.engines.cpu.fields.monomials import monomials
from modeshift.engines.cpu.fields.patch_answers import Patched, answer_patched, make_desk
from modeshift.engines.cpu.fields.tree_state import SLOTS, TreeState
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel
from modeshift.engines.cpu.kdtree import node_behind
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import reach_of

_SIDES = {1: 1.0, 2: 1.0, 3: 0.7}
"""Side of a cell of the grid, in bandwidths, by the number of features.

In larger cells too few polynomials are exact enough up to ``_DEGREE``.
"""

_DEGREE = 24  # highest degree of a polynomial
_SHORT = 32  # a list of this length is not worth cutting
_LEVELS = 30  # boxes are cut at most so often
_MOST = 2**28  # bytes of all polynomials and lists
_BATCH = 256  # patches that are made at the same time
_ENTRIES = 2**24  # entries of their lists
_QUERIES = 16  # queries for each box that there is space for

# Costs in the unit of one comparison of a query, about 1.5 nanoseconds.
_MULTIPLY = 0.07  # adding one monomial of one point
_WEIGH = 10.0  # weighing a point
_DECIDE = 2.0  # deciding about a point
_EVALUATE = 0.5  # one term of a polynomial
_SHIFT = 15.0  # moving one term of a polynomial
_MAKE = 1000.0


class Patches:
    """The patches over points that stand still.

    Parameters
    ----------
    state : TreeState
        The tree of the points.
    radius : float
    n_jobs : int
    """

    def __init__(self, state: TreeState, radius: float, n_jobs: int) -> None:
        d = state.points.shape[1]
        self._dims = state.dims
        self._sources = _sources_of(state)
        self._reach = reach_of(state.rule, radius)
        span = np.sqrt(self._reach) / radius + 0.5 * _SIDES[d] * np.sqrt(d)
        self._basis = make_basis(monomials(d, _DEGREE), radius, span)
        self._n_jobs = n_jobs
        self._n_asked = 0
        self._boxes = make_boxes(0, d, _SIDES[d] * radius)
        self._made = _no_patches(self._boxes)
        self._used = [0, 0]

    def find(self, places: np.ndarray) -> np.ndarray:
        """Return the patch that answers for each place (-1: none), after making those that pay."""
        n = len(places)
        found, next_ = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        asking = np.arange(n)
        self._n_asked += n
        while len(asking) > 0:
            self._provide()
            due = locate(self._boxes, places, asking, found, next_, self._n_jobs)
            if not self._make(due):
                break
            asking = asking[next_[asking] >= 0]
            asking = asking[self._boxes.states[next_[asking]] >= 0]
        return found

    def sort(self, found: np.ndarray) -> np.ndarray:
        """Return the numbers of the places that have a patch, those of a patch side by side."""
        return sort_by_box(found, self._boxes.used[0])

    def answer(
        self, places: np.ndarray, part: np.ndarray, found: np.ndarray, averages: np.ndarray,
        masses: np.ndarray,
    ) -> None:  # fmt: skip
        """Write the averages near some places that have a patch, and their masses."""
        longest = self._made.lengths[found[part]].max(initial=0)
        desk = make_desk(places.shape[1], longest, len(self._basis.degrees))
        answer_patched(
            self._made, self._boxes, self._sources, self._basis, self._dims, self._reach, places,
            part, found, desk, averages, masses,
        )  # fmt: skip

    def _provide(self) -> None:
        """Provide space for boxes, in proportion to the queries, so that memory stays small."""
        room = 1024 + self._n_asked // _QUERIES
        if room > len(self._boxes.lows):
            self._boxes = make_boxes(
                2 * room, len(self._sources.columns), self._boxes.side, self._boxes
            )
            self._made = _enlarged(self._made, self._boxes)

    def _make(self, due: np.ndarray) -> bool:
        """Make patches, or find out what cells of the grid cost; return whether one was made."""
        boxes = self._boxes
        _price_cells(boxes, self._made, self._sources, self._basis, due, self._reach)
        due = due[(boxes.asked[due] >= boxes.prices[due]) & (boxes.states[due] == UNMADE)]
        parts, lengths = due[boxes.parents[due] != NOWHERE], self._made.lengths
        lengths[parts] = lengths[boxes.parents[parts]]
        together = min(_BATCH, _ENTRIES // lengths[due].max(initial=1) + 1)
        for first in range(0, len(due), together):
            self._make_batch(due[first : first + together])
        return bool((boxes.states[due] >= 0).any())

    def _make_batch(self, due: np.ndarray) -> None:
        """Make some patches, side by side."""
        boxes, made, sources, basis = self._boxes, self._made, self._sources, self._basis
        d, ends = len(sources.columns), basis.monomials.ends
        if made.terms.nbytes + made.lists.nbytes > _MOST:
            boxes.prices[due] = NEVER
            return
        starts = np.concatenate([[0], np.cumsum(made.lengths[due])])
        lists = np.empty(starts[-1], dtype=np.int32)
        terms = np.empty((len(due), ends[-1] + d * ends[-2]))

        def block(first: int, last: int) -> None:
            room = make_room(basis, d, len(sources.weights))
            _make_patches(
                boxes, made, sources, basis, room, due, first, last, self._reach, starts, lists,
                terms,
            )  # fmt: skip

        run_blocks(block, len(due), self._n_jobs)
        self._keep(due, starts, lists, terms)

    def _keep(
        self, due: np.ndarray, starts: np.ndarray, lists: np.ndarray, terms: np.ndarray
    ) -> None:
        """Move new polynomials and lists to the pools."""
        made, ends, d = self._made, self._basis.monomials.ends, len(self._sources.columns)
        degrees = self._boxes.states[due]
        n_terms = np.where(degrees >= 0, ends[degrees] + d * ends[degrees - 1], 0)
        lengths = np.where(degrees >= 0, made.lengths[due], 0)
        made.terms_at[due] = self._used[0] + np.cumsum(n_terms) - n_terms
        made.lists_at[due] = self._used[1] + np.cumsum(lengths) - lengths
        self._used[0] += int(n_terms.sum())
        self._used[1] += int(lengths.sum())
        self._made = made = made._replace(
            terms=_with_room(made.terms, self._used[0]), lists=_with_room(made.lists, self._used[1])
        )
        _copy_rows(
            due,
            np.arange(len(due)) * terms.shape[1],
            n_terms,
            terms.ravel(),
            made.terms_at,
            made.terms,
        )
        _copy_rows(due, starts, lengths, lists, made.lists_at, made.lists)


def _sources_of(state: TreeState) -> Sources:
    """Return the points with weight, sorted by leaf."""
    leaves = state.homes[state.slots // SLOTS]
    order = np.argsort(leaves, kind="stable")
    order = order[state.weights[order] > 0.0]
    counts = np.bincount(leaves[order], minlength=len(state.counts))
    return Sources(
        columns=np.ascontiguousarray(state.points[order].T),
        weights=state.weights[order],
        starts=np.concatenate([[0], np.cumsum(counts)]),
        nodes=state.boxes,
    )


def _with_room(pool: np.ndarray, used: int) -> np.ndarray:
    """Return the pool, or a larger one with the same beginning."""
    if used <= len(pool):
        return pool
    larger = np.empty(2 * used, dtype=pool.dtype)
    larger[: len(pool)] = pool
    return larger


def _no_patches(boxes: Boxes) -> Patched:
    n = len(boxes.lows)
    return Patched(
        floors=np.empty(n),
        errors=np.empty(n),
        terms_at=np.empty(n, dtype=np.int64),
        lists_at=np.empty(n, dtype=np.int64),
        lengths=np.empty(n, dtype=np.int64),
        terms=np.empty(0),
        lists=np.empty(0, dtype=np.int32),
    )


def _enlarged(made: Patched, boxes: Boxes) -> Patched:
    """Return the same patches with space for all boxes."""
    larger = _no_patches(boxes)
    for new, old in zip(larger[:-2], made[:-2], strict=True):
        new[: len(old)] = old
    return larger._replace(terms=made.terms, lists=made.lists)


@bare_kernel
def _copy_rows(due, starts, lengths, rows, places, pool):
    for i in range(due.shape[0]):
        for e in range(lengths[i]):
            pool[places[due[i]] + e] = rows[starts[i] + e]


@bare_kernel
def _price_cells(boxes, made, sources, basis, due, reach):
    """Find out at how many queries a patch pays, for cells of the grid."""
    m = basis.monomials.ends[basis.monomials.ends.shape[0] - 5]
    for box in due:
        if boxes.parents[box] == NOWHERE and boxes.prices[box] == FIRST_PRICE:
            n_inside, n_border = _survey(boxes, box, sources, reach)
            making = _MAKE + n_inside * (_MULTIPLY * m + _WEIGH) + n_border * _DECIDE
            saved = n_inside + 0.5 * n_border - _EVALUATE * m
            made.lengths[box] = n_border
            boxes.prices[box] = NEVER
            if saved > 0.0:
                boxes.prices[box] = max(FIRST_PRICE + 1, np.int64(making / saved))


@bare_kernel
def _survey(boxes, box, sources, reach):
    """Return how many points are within reach of all places of a box, and at most of some."""
    starts, n_leaves = sources.starts, sources.starts.shape[0] - 1
    n_inside, n_border = 0, 0
    node = 1
    while True:
        nearest, farthest = node_squares(boxes, box, sources.nodes, node)
        if nearest <= reach:
            if farthest > reach and node < n_leaves:
                node *= 2
                continue
            first, last = node, node
            while first < n_leaves:
                first, last = 2 * first, 2 * last + 1
            n = starts[last - n_leaves + 1] - starts[first - n_leaves]
            if farthest <= reach:
                n_inside += n
            else:
                n_border += n
        node = node_behind(node)
        if node == 1:
            break
    return n_inside, n_border


@bare_kernel
def _make_patches(
    boxes, made, sources, basis, room, due, first, last, reach, starts, lists, terms
):  # fmt: skip
    """Make the patches of some boxes."""
    for i in range(first, last):
        n_inside = _begin(boxes, made, sources, basis, room, due[i], reach, lists[starts[i] :])
        _finish(boxes, made, sources, basis, room, due[i], n_inside, terms[i])


@bare_kernel
def _begin(boxes, made, sources, basis, room, box, reach, border):
    """Write the polynomial of a part to the room, with the points to be added; return their number.

    The points of its list are written to ``border``.
    """
    d, parent = sources.columns.shape[0], boxes.parents[box]
    if parent == NOWHERE:
        room.start[:] = 0.0
        n_inside, n_border = _sort_points(boxes, box, sources, reach, room.members, border)
    else:
        degree = boxes.states[parent]
        room.start[0], room.start[1] = made.floors[parent], made.errors[parent]
        for i in range(basis.monomials.ends[degree]):
            room.coefs[i] = made.terms[made.terms_at[parent] + i]
        for k in range(d):
            room.steps[k] = (boxes.centers[box, k] - boxes.centers[parent, k]) / basis.radius
        shift(room.coefs, basis, degree, room.steps)
        begin = made.lists_at[parent]
        points = made.lists[begin : begin + made.lengths[parent]]
        n_inside, n_border = _sort_list(boxes, box, sources, reach, points, room.members, border)
    made.lengths[box] = n_border
    return n_inside


@bare_kernel
def _finish(boxes, made, sources, basis, room, box, n_inside, terms):
    """Add points to the polynomial of a box, and write it with its derivatives to ``terms``."""
    d, tables, parent, root = (
        sources.columns.shape[0],
        basis.monomials,
        boxes.parents[box],
        boxes.roots[box],
    )
    half = 0.0
    for k in range(d):
        below = boxes.centers[box, k] - boxes.lows[box, k]
        above = boxes.highs[box, k] - boxes.centers[box, k]
        half = max(half, below / basis.radius, above / basis.radius)
    degree = expand(
        sources, basis, room, n_inside, boxes.centers[root], boxes.centers[box], half,
        -1 if parent == NOWHERE else boxes.states[parent], 1.0 - 0.5 ** (boxes.levels[box] + 1),
    )  # fmt: skip
    if degree < 0:
        boxes.states[box] = REFUSED
        return
    boxes.states[box] = degree
    made.floors[box], made.errors[box] = room.start[0], room.start[1]
    boxes.part_prices[box] = _price_of_parts(
        tables.ends[degree], made.lengths[box], boxes.levels[box]
    )
    m, m_slope = tables.ends[degree], tables.ends[degree - 1]
    for i in range(m):
        terms[i] = room.coefs[i]
    for k in range(d):
        for i in range(m_slope):
            terms[m + k * m_slope + i] = room.coefs[tables.ups[i, k]]


@inlined_kernel
def _price_of_parts(m, length, level):
    """Return at how many queries a part pays: half of the list is compared no more."""
    if length <= _SHORT or level == _LEVELS:
        return NEVER
    making = _MAKE + m * _SHIFT + length * (_DECIDE + 0.25 * (_WEIGH + _MULTIPLY * m))
    return np.int64(making / (0.5 * length)) + 1


@bare_kernel
def _sort_points(boxes, box, sources, reach, inside, border):
    """Write the points within reach of all places of a box, and those within reach of some.

    Returns their numbers.
    """
    starts, n_leaves = sources.starts, sources.starts.shape[0] - 1
    n_inside, n_border = 0, 0
    node = 1
    while True:
        nearest, farthest = node_squares(boxes, box, sources.nodes, node)
        if nearest <= reach:
            if farthest > reach and node < n_leaves:
                node *= 2
                continue
            first, last = node, node
            while first < n_leaves:
                first, last = 2 * first, 2 * last + 1
            for i in range(starts[first - n_leaves], starts[last - n_leaves + 1]):
                near, far = nearest, farthest
                if farthest > reach:
                    near, far = point_squares(boxes, box, sources.columns, i)
                if far <= reach:
                    inside[n_inside] = i
                    n_inside += 1
                elif near <= reach:
                    border[n_border] = i
                    n_border += 1
        node = node_behind(node)
        if node == 1:
            break
    return n_inside, n_border


@bare_kernel
def _sort_list(boxes, box, sources, reach, points, inside, border):
    """Do the same for the points of a list."""
    n_inside, n_border = 0, 0
    for i in points:
        near, far = point_squares(boxes, box, sources.columns, i)
        if far <= reach:
            inside[n_inside] = i
            n_inside += 1
        elif near <= reach:
            border[n_border] = i
            n_border += 1
    return n_inside, n_border
