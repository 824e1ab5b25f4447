"""Boxes of places: a grid whose cells are cut into smaller and smaller boxes where queries come.

A box is *made* or not. A place belongs to the smallest made box around it. Queries are counted in
the unmade box around a place that would be the next, so that one can see which are worth making.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel, kernel
from modeshift.engines.cpu.parallel import run_blocks

NEVER = np.iinfo(np.int64).max
"""A price that is never reached."""

UNMADE, REFUSED = -1, -2
"""States of boxes that are not made, and of those that cannot be made; made ones have others."""

NOWHERE, NEW = -1, -2
"""Instead of a box: no box belongs to a place, or one that does not exist yet."""

FIRST_PRICE = 16
"""Number of queries in a cell of the grid at which one asks whether it is worth making."""


class Boxes(NamedTuple):
    """Boxes; C at most, with d features.

    Attributes
    ----------
    lows, highs, centers : (C, d)
    roots, parents, levels : (C,)
        The cell of the grid that a box is in, the box that it is a part of (-1: it is a cell), and
        the number of cuts.
    kids : (C, 2^d)
        The parts of a box; ``NEW``: no query has been there.
    states : (C,)
        ``UNMADE``, ``REFUSED``, or at least 0 for a made box.
    asked, prices : (C,)
        Number of queries counted in an unmade box, and the number at which it is worth making.
    part_prices : (C,)
        The price of the parts of a made box; ``NEVER``: it is not cut.
    table : (size,)
        Hash table of the cells.
    used : (1,)
        Number of boxes.
    side : float
        Side of the cells.
    """

    lows: np.ndarray
    highs: np.ndarray
    centers: np.ndarray
    roots: np.ndarray
    parents: np.ndarray
    levels: np.ndarray
    kids: np.ndarray
    states: np.ndarray
    asked: np.ndarray
    prices: np.ndarray
    part_prices: np.ndarray
    table: np.ndarray
    used: np.ndarray
    side: float


def make_boxes(room: int, d: int, side: float, old: Boxes | None = None) -> Boxes:
    """Return space for so many boxes, with the old ones in it."""
    size = 16
    while size < 4 * room:
        size *= 2
    boxes = Boxes(
        lows=np.empty((room, d)),
        highs=np.empty((room, d)),
        centers=np.empty((room, d)),
        roots=np.empty(room, dtype=np.int32),
        parents=np.empty(room, dtype=np.int32),
        levels=np.empty(room, dtype=np.int32),
        kids=np.empty((room, 1 << d), dtype=np.int32),
        states=np.empty(room, dtype=np.int32),
        asked=np.empty(room, dtype=np.int64),
        prices=np.empty(room, dtype=np.int64),
        part_prices=np.empty(room, dtype=np.int64),
        table=np.full(size, NOWHERE, dtype=np.int32),
        used=np.zeros(1, dtype=np.int64),
        side=side,
    )
    if old is not None:
        used = old.used[0]
        for new, present in zip(boxes[:-3], old[:-3], strict=True):
            new[:used] = present[:used]
        boxes.used[0] = used
        _enter_cells(boxes)
    return boxes


def locate(
    boxes: Boxes, places: np.ndarray, asking: np.ndarray, found: np.ndarray, next_: np.ndarray,
    n_jobs: int,
) -> np.ndarray:  # fmt: skip
    """Find the boxes of some places, and count the queries there.

    ``found`` is the smallest made box (``NOWHERE``: none), ``next_`` the unmade box in which the
    query is counted (``NOWHERE``: none). Returns the boxes whose price is reached.
    """

    def block(start: int, stop: int) -> None:
        _find(boxes, places, asking[start:stop], np.empty(places.shape[1]), found, next_)

    run_blocks(block, len(asking), n_jobs)
    due = np.empty(len(asking), dtype=np.int32)
    n_due = _count(boxes, places, asking, np.empty(places.shape[1]), found, next_, due)
    return due[:n_due]


@bare_kernel
def _find(boxes, places, asking, corner, found, next_):
    """Find the boxes of places. Boxes do not change, so threads can do it side by side."""
    for i in asking:
        found[i] = NOWHERE
        next_[i] = _cell_at(boxes, places[i], corner)
        _descend(boxes, places[i], i, found, next_)


@bare_kernel
def _count(boxes, places, asking, corner, found, next_, due):
    """Make the boxes that are new, and count the queries; return the number of boxes in ``due``."""
    n_due = 0
    for i in asking:
        if next_[i] == NEW:
            if found[i] == NOWHERE:
                next_[i] = _cell_at(boxes, places[i], corner)
                if next_[i] == NEW:
                    next_[i] = _new_cell(boxes, places[i], corner)
            else:
                part = _part_at(boxes, found[i], places[i])
                if boxes.kids[found[i], part] == NEW:
                    boxes.kids[found[i], part] = _new_part(boxes, found[i], part)
                next_[i] = boxes.kids[found[i], part]
        if next_[i] >= 0:
            boxes.asked[next_[i]] += 1
            if boxes.asked[next_[i]] == boxes.prices[next_[i]]:
                due[n_due] = next_[i]
                n_due += 1
    return n_due


@inlined_kernel
def _descend(boxes, x, i, found, next_):
    """Go from a cell of the grid to the smallest made box around x."""
    while next_[i] >= 0 and boxes.states[next_[i]] >= 0:
        found[i] = next_[i]
        next_[i] = NOWHERE
        if boxes.part_prices[found[i]] != NEVER:
            next_[i] = boxes.kids[found[i], _part_at(boxes, found[i], x)]
    if next_[i] >= 0 and boxes.states[next_[i]] == REFUSED:
        next_[i] = NOWHERE


@inlined_kernel
def _part_at(boxes, box, x):
    part = 0
    for k in range(x.shape[0]):
        part += (x[k] >= boxes.centers[box, k]) << k
    return part


@inlined_kernel
def _cell_at(boxes, x, corner):
    """Return the cell of the grid that x is in, ``NEW``, or ``NOWHERE`` if rounding is coarse."""
    mask = boxes.table.shape[0] - 1
    inside = True
    for k in range(x.shape[0]):
        corner[k] = np.floor(x[k] / boxes.side) * boxes.side + 0.0  # no -0.0: it has other bits
        inside &= corner[k] <= x[k] and x[k] <= corner[k] + boxes.side
    if not inside:
        return NOWHERE
    entry = np.int64(hash_row(corner) & np.uint64(mask))
    while boxes.table[entry] >= 0:
        box = boxes.table[entry]
        same = True
        for k in range(x.shape[0]):
            same &= boxes.lows[box, k] == corner[k]
        if same:
            return box
        entry = (entry + 1) & mask
    return NEW


@bare_kernel
def _new_cell(boxes, x, corner):
    """Return a new cell of the grid around x; ``NOWHERE`` if there is no space."""
    new = boxes.used[0]
    if new == boxes.lows.shape[0]:
        return NOWHERE
    for k in range(x.shape[0]):
        boxes.lows[new, k], boxes.highs[new, k] = corner[k], corner[k] + boxes.side
    boxes.roots[new], boxes.parents[new], boxes.levels[new] = new, NOWHERE, 0
    boxes.prices[new] = FIRST_PRICE
    _open(boxes, new)
    _enter(boxes, new)
    return new


@bare_kernel
def _new_part(boxes, box, part):
    """Return a new part of a box; ``NEW`` if there is no space."""
    new = boxes.used[0]
    if new == boxes.lows.shape[0]:
        return NEW
    for k in range(boxes.lows.shape[1]):
        upper = (part >> k) & 1 == 1
        boxes.lows[new, k] = boxes.centers[box, k] if upper else boxes.lows[box, k]
        boxes.highs[new, k] = boxes.highs[box, k] if upper else boxes.centers[box, k]
    boxes.roots[new], boxes.parents[new] = boxes.roots[box], box
    boxes.levels[new], boxes.prices[new] = boxes.levels[box] + 1, boxes.part_prices[box]
    _open(boxes, new)
    return new


@bare_kernel
def _open(boxes, box):
    """Make the next box a valid one."""
    for k in range(boxes.lows.shape[1]):
        low, high = boxes.lows[box, k], boxes.highs[box, k]
        boxes.centers[box, k] = low + 0.5 * (high - low)
    boxes.kids[box, :] = NEW
    boxes.asked[box] = 0
    boxes.states[box] = UNMADE
    boxes.used[0] += 1


@bare_kernel
def _enter(boxes, box):
    """Put a cell of the grid into the hash table."""
    mask = boxes.table.shape[0] - 1
    entry = np.int64(hash_row(boxes.lows[box]) & np.uint64(mask))
    while boxes.table[entry] >= 0:
        entry = (entry + 1) & mask
    boxes.table[entry] = box


@bare_kernel
def _enter_cells(boxes):
    """Put all cells of the grid into an empty hash table."""
    for box in range(boxes.used[0]):
        if boxes.parents[box] == NOWHERE:
            _enter(boxes, box)


@kernel
def sort_by_box(found, n_boxes):
    """Return the numbers of the places that have a box, sorted by it."""
    ends = np.zeros(n_boxes + 1, dtype=np.int64)
    for i in range(found.shape[0]):
        if found[i] >= 0:
            ends[found[i] + 1] += 1
    for box in range(n_boxes):
        ends[box + 1] += ends[box]
    order = np.empty(ends[n_boxes], dtype=np.int64)
    for i in range(found.shape[0]):
        if found[i] >= 0:
            order[ends[found[i]]] = i
            ends[found[i]] += 1
    return order


@inlined_kernel
def node_squares(boxes, box, nodes, node):
    """Return the squared distances of the nearest and the farthest places of a box and a node.

    A node has its lower, then its upper corner. The squares are computed like
    ``squared_distance``. Rounding is monotonic, so the squared distances of all points of the node
    from all places of the box are between them.
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


@inlined_kernel
def point_squares(boxes, box, columns, i):
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
