"""The field of pixels in space and colour: near is within the radius and within the range.

Positions are whole numbers of the units of ``lattice.py``, and so are the means: they are rounded
as those of the deterministic climb. So all sums are sums of whole numbers, which the compiler may
add up in any order, and points that gather soon coincide and rest.

Space is cut into cells with the side of a radius. The points of a cell lie in blocks of ``SLOTS``,
coordinate by coordinate, and a place asks its own cell and those around it. A point that was asked
and stayed is not compared again until a point in one of these cells has moved.
"""

from typing import NamedTuple, Self

import numpy as np

from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.protocol import average_near, average_of, implements, move
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel, kernel
from modeshift.engines.rule import Flat, Rule
from modeshift.image.window import FEW, rounded

SLOTS = 16
"""Slots of a block, which are compared at once."""

_FLAT = Flat()
_NEVER = -1


class Cells(NamedTuple):
    """Cells of space, and the blocks that hold their points.

    Attributes
    ----------
    heads : ndarray of shape (depth, height, width), int64
        First block of each cell; -1: the cell is empty. Only this block has empty slots.
    changes : ndarray of shape (depth, height, width), int64
        Number of the last move from, to or inside each cell.
    slots : ndarray of shape (m * (d + 1) * SLOTS,), float32
        The blocks one after the other: places in units from the corner of the cell, colours in
        units, and weights. Such numbers are exact in float32. Empty slots weigh nothing.
    owners : ndarray of shape (m * SLOTS,), int64
        Point in each slot.
    counts : ndarray of shape (m,), int64
        Number of points in each block.
    after : ndarray of shape (m,), int64
        Next block of the same cell, or next unused block; -1: the last one.
    unused : ndarray of shape (1,), int64
        First unused block.
    """

    heads: np.ndarray
    changes: np.ndarray
    slots: np.ndarray
    owners: np.ndarray
    counts: np.ndarray
    after: np.ndarray
    unused: np.ndarray


class JointState(NamedTuple):
    """Positions, and where they are in the cells.

    Attributes
    ----------
    points : ndarray of shape (n, 3 + bands)
        Places in radii, colours in ranges.
    weights : ndarray of shape (n,)
        Whole numbers.
    rule : Rule
    units : ndarray of shape (3 + bands,)
        Number of units of a radius along each axis, and of the range.
    few : tuple
        One entry for each band, so that compiled code knows their number; empty if there are many.
    cells : Cells
    homes : ndarray of shape (n,), int64
        Slot of each point.
    asked : ndarray of shape (n,), int64
        Number of moves when a point was last asked and stayed; -1: never.
    masses : ndarray of shape (n,)
        Mass near it then.
    n_moves : ndarray of shape (1,), int64
        Number of moves so far.
    """

    points: np.ndarray
    weights: np.ndarray
    rule: Rule
    units: np.ndarray
    few: tuple[int, ...]
    cells: Cells
    homes: np.ndarray
    asked: np.ndarray
    masses: np.ndarray
    n_moves: np.ndarray


class JointField(Field):
    """Field of pixels in space and colour.

    Parameters
    ----------
    points : ndarray of shape (n, 3 + bands)
        Places in radii, colours in ranges: whole numbers of units, divided by ``units``.
    weights, radius, n_jobs, rule
        As for every field; the radius is 1, and weights are whole numbers.
    units : ndarray of shape (3 + bands,)
        Number of units of a radius along each axis, and of the range.
    shape : tuple of 3 int
        Shape of the grid of cells.
    """

    def __init__(
        self,
        points: np.ndarray,
        weights: np.ndarray,
        radius: float,
        n_jobs: int = 1,
        rule: Rule = _FLAT,
        *,
        units: np.ndarray,
        shape: tuple[int, int, int],
    ) -> None:
        self._units, self._shape = units, shape
        super().__init__(points, weights, radius, n_jobs, rule)

    def _build(self, points: np.ndarray) -> JointState:
        n, d = points.shape
        m = n // SLOTS + min(n, int(np.prod(self._shape))) + 1
        cells = Cells(
            heads=np.full(self._shape, -1),
            changes=np.zeros(self._shape, dtype=np.int64),
            slots=np.zeros(m * (d + 1) * SLOTS, dtype=np.float32),
            owners=np.empty(m * SLOTS, dtype=np.int64),
            counts=np.zeros(m, dtype=np.int64),
            after=np.append(np.arange(1, m), -1),
            unused=np.zeros(1, dtype=np.int64),
        )
        few = (0,) * (d - 3) if d - 3 <= FEW else ()
        state = JointState(
            points, self.weights, self.rule, self._units, few, cells,
            homes=np.empty(n, dtype=np.int64), asked=np.full(n, _NEVER), masses=np.empty(n),
            n_moves=np.zeros(1, dtype=np.int64),
        )  # fmt: skip
        _enter_all(state)
        return state

    def at(self, points: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Return a field of the same kind over other positions, and other weights if given."""
        weights = self.weights if weights is None else weights
        return type(self)(
            points, weights, self.radius, self.n_jobs, self.rule,
            units=self._units, shape=self._shape,
        )  # fmt: skip


@implements(average_near, JointState, Flat)
def _average_near(state, x, radius, out):
    """Average the points near x, rounded to whole units; see ``fields/brute.py``."""
    d, cells, units = x.shape[0], state.cells, state.units
    place, near = out[d : 2 * d], out[2 * d : 2 * d + SLOTS]
    window = _window(units, radius)
    for k in range(d):
        out[k] = 0.0
        place[k] = np.rint(x[k] * units[k])
    pz, py, px = place[0], place[1], place[2]
    mass = 0.0
    cz, cy, cx = _cell(cells.heads, x)
    for z in range(max(cz - 1, 0), min(cz + 2, cells.heads.shape[0])):
        for y in range(max(cy - 1, 0), min(cy + 2, cells.heads.shape[1])):
            for c in range(max(cx - 1, 0), min(cx + 2, cells.heads.shape[2])):
                place[0], place[1], place[2] = (
                    pz - z * units[0],
                    py - y * units[1],
                    px - c * units[2],
                )
                b = cells.heads[z, y, c]
                while b >= 0:
                    if len(state.few) > 0:
                        mass += _add_few(cells.slots, b, state.few, place, window, out)
                    else:
                        mass += _add_many(cells.slots, b, place, window, near, out)
                    b = cells.after[b]
    for k in range(d):
        shift = rounded(out[k], mass) if mass > 0.0 else 0.0
        out[k] = (np.rint(x[k] * units[k]) + shift) / units[k]
    return mass


@implements(average_of, JointState, Flat)
def _average_of(state, j, radius, out):
    """Do the same for point j. Nothing is compared if it stayed and no point near it has moved."""
    x = state.points[j]
    if state.asked[j] != _NEVER and _last_change(state.cells, x) <= state.asked[j]:
        for k in range(x.shape[0]):
            out[k] = x[k]
        return state.masses[j]
    mass = average_near(state, x, radius, out)
    stays = True
    for k in range(x.shape[0]):
        stays = stays and out[k] == x[k]
    state.asked[j] = state.n_moves[0] if stays else _NEVER
    state.masses[j] = mass
    return mass


@implements(move, JointState)
def _move(state, j, x):
    _leave(state, j)
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
    _enter(state, j)


@inlined_kernel
def _window(units, radius):
    """Return the squares of the radius along the last axis and of the range, and two stretches."""
    wide, reach = radius * units[2], radius * units[3]
    return wide * wide, reach * reach, units[2] / units[0], units[2] / units[1]


@inlined_kernel
def _is_near(dz, dy, dx, square, window):
    """Return whether offsets and a squared distance in colour are within a window.

    x^2 <= X^2 - (z X / Z)^2 - (y X / Y)^2, in whole numbers (``window.row_limit``).
    """
    wide, reach, high, long = window
    dz, dy = dz * high, dy * long
    return (square <= reach) & (dx * dx <= np.floor(wide - dz * dz - dy * dy))


def _add_few(slots, b, few, place, window, sums):
    """Add the offsets of the points of a block that are near to ``sums``; return their weight.

    The loop stores nothing, so that all slots are compared at once. The number of bands is that of
    ``few``, which the compiler knows.
    """
    d = place.shape[0]
    at = np.uint64(b * (d + 1) * SLOTS)
    z, y, x = place[0], place[1], place[2]
    c0 = place[3]
    c1 = place[4] if len(few) > 1 else 0.0
    c2 = place[5] if len(few) > 2 else 0.0
    c3 = place[6] if len(few) > 3 else 0.0
    total, sum_z, sum_y, sum_x = 0.0, 0.0, 0.0, 0.0
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for lane in range(SLOTS):
        here = at + np.uint64(lane)
        dz = slots[here] - z
        dy = slots[here + np.uint64(SLOTS)] - y
        dx = slots[here + np.uint64(2 * SLOTS)] - x
        d0 = slots[here + np.uint64(3 * SLOTS)] - c0
        square = d0 * d0
        if len(few) > 1:
            d1 = slots[here + np.uint64(4 * SLOTS)] - c1
            square += d1 * d1
        if len(few) > 2:
            d2 = slots[here + np.uint64(5 * SLOTS)] - c2
            square += d2 * d2
        if len(few) > 3:
            d3 = slots[here + np.uint64(6 * SLOTS)] - c3
            square += d3 * d3
        weight = slots[here + np.uint64((3 + len(few)) * SLOTS)]
        near = np.float64(_is_near(dz, dy, dx, square, window)) * weight
        total += near
        sum_z += near * dz
        sum_y += near * dy
        sum_x += near * dx
        s0 += near * d0
        if len(few) > 1:
            s1 += near * d1
        if len(few) > 2:
            s2 += near * d2
        if len(few) > 3:
            s3 += near * d3
    sums[0] += sum_z
    sums[1] += sum_y
    sums[2] += sum_x
    sums[3] += s0
    if len(few) > 1:
        sums[4] += s1
    if len(few) > 2:
        sums[5] += s2
    if len(few) > 3:
        sums[6] += s3
    return total


def _add_many(slots, b, place, window, near, sums):
    """Do the same for any number of bands."""
    d = place.shape[0]
    at = b * (d + 1) * SLOTS
    for lane in range(near.shape[0]):
        near[lane] = 0.0
    for k in range(3, d):
        for lane in range(near.shape[0]):
            apart = slots[at + k * SLOTS + lane] - place[k]
            near[lane] += apart * apart
    total = 0.0
    for lane in range(near.shape[0]):
        here = at + lane
        dz, dy = slots[here] - place[0], slots[here + SLOTS] - place[1]
        dx = slots[here + 2 * SLOTS] - place[2]
        near[lane] = _is_near(dz, dy, dx, near[lane], window) * slots[here + d * SLOTS]
        total += near[lane]
    if total > 0.0:
        for k in range(d):
            offset = 0.0
            for lane in range(near.shape[0]):
                offset += near[lane] * (slots[at + k * SLOTS + lane] - place[k])
            sums[k] += offset
    return total


_EXACT = {"reassoc", "nsz"}
"""Freedoms that change no sum of whole numbers."""

_add_few = bare_kernel(_add_few, fastmath=_EXACT)
_add_many = bare_kernel(_add_many, fastmath=_EXACT)


@bare_kernel
def _cell(heads, x):
    """Return the cell of a place."""
    z = min(max(np.int64(np.floor(x[0])), 0), heads.shape[0] - 1)
    y = min(max(np.int64(np.floor(x[1])), 0), heads.shape[1] - 1)
    return z, y, min(max(np.int64(np.floor(x[2])), 0), heads.shape[2] - 1)


@bare_kernel
def _last_change(cells, x):
    """Return the number of the last move in the cells around a place."""
    changes, last = cells.changes, 0
    cz, cy, cx = _cell(changes, x)
    for z in range(max(cz - 1, 0), min(cz + 2, changes.shape[0])):
        for y in range(max(cy - 1, 0), min(cy + 2, changes.shape[1])):
            for c in range(max(cx - 1, 0), min(cx + 2, changes.shape[2])):
                last = max(last, changes[z, y, c])
    return last


@kernel
def _enter_all(state):
    for j in range(state.points.shape[0]):
        _enter(state, j)


@bare_kernel
def _enter(state, j):
    """Put a point into the cell of its place."""
    cells, d = state.cells, state.points.shape[1]
    cell = _cell(cells.heads, state.points[j])
    b = cells.heads[cell]
    if b < 0 or cells.counts[b] == SLOTS:
        fresh = cells.unused[0]
        cells.unused[0] = cells.after[fresh]
        cells.after[fresh] = b
        cells.heads[cell] = fresh
        b = fresh
    lane = cells.counts[b]
    cells.counts[b] += 1
    for k in range(d):
        corner = cell[k] * state.units[k] if k < 3 else 0.0
        unit = np.rint(state.points[j, k] * state.units[k])
        cells.slots[(b * (d + 1) + k) * SLOTS + lane] = unit - corner
    cells.slots[(b * (d + 1) + d) * SLOTS + lane] = state.weights[j]
    cells.owners[b * SLOTS + lane] = j
    state.homes[j] = b * SLOTS + lane
    _note_change(state, cell)


@bare_kernel
def _leave(state, j):
    """Take a point out of its cell; the last point of the first block takes its slot."""
    cells, d = state.cells, state.points.shape[1]
    cell = _cell(cells.heads, state.points[j])
    first = cells.heads[cell]
    last = cells.counts[first] - 1
    b, lane = state.homes[j] // SLOTS, state.homes[j] % SLOTS
    other = cells.owners[first * SLOTS + last]
    for k in range(d + 1):
        to, from_ = b * (d + 1) + k, first * (d + 1) + k
        cells.slots[to * SLOTS + lane] = cells.slots[from_ * SLOTS + last]
    cells.owners[b * SLOTS + lane] = other
    state.homes[other] = b * SLOTS + lane
    cells.slots[(first * (d + 1) + d) * SLOTS + last] = 0.0
    cells.counts[first] = last
    if last == 0:
        cells.heads[cell] = cells.after[first]
        cells.after[first] = cells.unused[0]
        cells.unused[0] = first
    _note_change(state, cell)


@bare_kernel
def _note_change(state, cell):
    state.n_moves[0] += 1
    state.cells.changes[cell] = state.n_moves[0]
