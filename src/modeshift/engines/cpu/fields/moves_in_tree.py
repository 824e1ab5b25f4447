"""Points that move in a tree of boxes.

A point leaves its leaf and comes into the leaf of its new place. Box, mass and mean of both leaves
follow at once; the nodes above follow after all moves, each once. First all points leave, then all
come, in their order; threads do this for different wards.
"""

from modeshift.engines.cpu.fields.protocol import implements, move, note_waste, wants_care
from modeshift.engines.cpu.fields.tree_state import (
    CROWDED,
    NOWHERE,
    SLOTS,
    TreeState,
    enter,
    give,
    join_above,
    join_top,
    join_wards,
    leaf_of,
    sum_leaf,
    weight_of,
)  # fmt: skip
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel
from modeshift.engines.cpu.kdtree import leaf_at

SEATED = -1
_PATIENCE = 128  # comparisons in crowded leaves, per point, that cost as much as a new tree


@bare_kernel
def depart(state, rows, places, goals, first, last):
    """Take points out of their leaves, in some wards; note the leaves they go to in ``goals``.

    Points that stay in the box of their leaf are moved there, and their goal is ``SEATED``.
    """
    for i in range(rows.shape[0]):
        leaf = leaf_of(state.homes, state.slots, rows[i])
        if first <= leaf >> state.bits < last:
            if _stays(state, leaf, places[i]):
                _shift(state, leaf, rows[i], places[i])
                goals[i] = SEATED
            else:
                _leave(state, leaf, rows[i])
                goals[i] = leaf_at(state.splits.axes, state.splits.values, places[i])


@bare_kernel
def arrive(state, rows, places, goals, first, last):
    """Put points that left into the leaves of their new places, in some wards."""
    for i in range(rows.shape[0]):
        # SEATED is negative, so it is in no ward.
        if first <= goals[i] >> state.bits < last and _come(state, goals[i], rows[i], places[i]):
            goals[i] = SEATED
    join_wards(state, first, last)


@bare_kernel
def arrive_late(state, rows, places, goals):
    """Put the other points into leaves whose wards have no free block; update the top."""
    for i in range(rows.shape[0]):
        if goals[i] != SEATED:
            while not _come(state, goals[i], rows[i], places[i]):
                _lend_block(state, goals[i] >> state.bits)
            join_above(state, goals[i])
    join_top(state)


@bare_kernel
def _lend_block(state, ward):
    """Give a ward a free block of another one."""
    lender = 0
    while state.free[lender] < 0:
        lender += 1
    block = state.free[lender]
    state.free[lender] = state.chain[block]
    state.chain[block] = state.free[ward]
    state.free[ward] = block


@inlined_kernel
def _stays(state, leaf, x):
    """Return whether x is inside the box of a leaf."""
    d = state.points.shape[1]
    box = state.boxes[state.counts.shape[0] + leaf]
    inside = True
    for k in range(d):
        inside &= box[k] <= x[k] <= box[d + k]
    return inside


@inlined_kernel
def _shift(state, leaf, j, x):
    """Move point j to x inside the box of its leaf."""
    d = state.points.shape[1]
    box = state.boxes[state.counts.shape[0] + leaf]
    share = (
        weight_of(state.weights, state.block_weights, j) / box[3 * d] if box[3 * d] > 0.0 else 0.0
    )
    on_border = False
    for k in range(d):
        old = state.points[j, k]
        on_border |= old == box[k] or old == box[d + k]
        box[2 * d + k] += share * (x[k] - old)
        state.points[j, k] = x[k]
        state.blocks[state.slots[j] // SLOTS, k, state.slots[j] % SLOTS] = x[k]
    if on_border and state.counts[leaf] <= CROWDED:
        sum_leaf(state, leaf)
    state.marks[state.counts.shape[0] + leaf] = True


@inlined_kernel
def _leave(state, leaf, j):
    """Take point j out of its leaf; the last point takes its slot."""
    block, slot = state.slots[j] // SLOTS, state.slots[j] % SLOTS
    state.counts[leaf] -= 1
    last_block, last_slot = state.heads[leaf], state.counts[leaf] % SLOTS
    last = state.members[last_block, last_slot]
    state.members[block, slot] = last
    state.slots[last] = SLOTS * block + slot
    for k in range(state.points.shape[1]):
        state.blocks[block, k, slot] = state.blocks[last_block, k, last_slot]
        state.blocks[last_block, k, last_slot] = NOWHERE
    if state.block_weights.shape[0] > 0:
        state.block_weights[block, slot] = state.block_weights[last_block, last_slot]
        state.block_weights[last_block, last_slot] = 0.0
    if last_slot == 0:
        ward = leaf >> state.bits
        state.heads[leaf] = state.chain[last_block]
        state.chain[last_block] = state.free[ward]
        state.free[ward] = last_block
    state.marks[state.counts.shape[0] + leaf] = True
    _take(state, leaf, j)


@inlined_kernel
def _come(state, leaf, j, x):
    """Put point j at x into a leaf; return whether there was room."""
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
    if not enter(state, leaf, j):
        return False
    give(state, leaf, j)
    state.marks[state.counts.shape[0] + leaf] = True
    return True


@inlined_kernel
def _take(state, leaf, j):
    """Remove the leaving point j from box, mass and mean of its leaf.

    A crowded leaf keeps its box, which may now be too large. Results stay exact, but the leaf is
    opened more often. This is counted as waste.
    """
    d = state.points.shape[1]
    box = state.boxes[state.counts.shape[0] + leaf]
    weight = weight_of(state.weights, state.block_weights, j)
    rest = box[3 * d] - weight
    on_border = False
    for k in range(d):
        x = state.points[j, k]
        on_border |= x <= box[k] or x >= box[d + k]
    few = state.counts[leaf] <= CROWDED
    if (on_border and few) or rest < 0.5 * box[3 * d]:
        sum_leaf(state, leaf)
        return
    share = weight / rest if weight > 0.0 else 0.0
    for k in range(d):
        mean = box[2 * d + k]
        box[2 * d + k] = mean - share * (state.points[j, k] - mean)
    box[3 * d] = rest


@implements(move, TreeState)
def _move(state, j, x):
    old = leaf_of(state.homes, state.slots, j)
    if _stays(state, old, x):
        _shift(state, old, j, x)
    else:
        _leave(state, old, j)
        new = leaf_at(state.splits.axes, state.splits.values, x)
        while not _come(state, new, j, x):
            _lend_block(state, new >> state.bits)
        join_above(state, new)
    join_above(state, old)


@implements(note_waste, TreeState)
def _note_waste(state, waste):
    state.waste[0] += waste


@implements(wants_care, TreeState)
def _wants_care(state):
    return state.waste[0] > _PATIENCE * state.points.shape[0]
