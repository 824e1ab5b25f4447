"""The averages near the places of a group, which share a walk through the tree.

Places of a group lie within r of its centre c. A point p with |p - c| <= h - r is near all of them,
and one with |p - c| > h + r near none. (If the places have radii of their own, h is the least of
them in the first case, the largest in the second.) So nodes and points of the first kind are added
up once for the group, those of the second kind are skipped, and only the points of the *shell*
between them are compared with every place: 64 at a time, on a *stage*. A node that is small
compared with r, a *lump*, is not opened, but takes a place on the stage like a point.

Near means |x - p|^2 <= h^2. With offsets from c that is v <= limit for

    v = |p - c|^2 / 2 - (x - c).(p - c),    limit = (h^2 - |x - c|^2) / 2,

a matrix product of the places with the stage. It is computed in float32, and decides if v and the
limit differ by more than their error; otherwise ``squared_distance`` decides. So every decision is
that of the plain field.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.tree_state import LEAF, SLOTS, TreeState, weight_of
from modeshift.engines.cpu.jit import bare_kernel, fast_sums, inlined_kernel
from modeshift.engines.cpu.kdtree import node_behind
from modeshift.engines.cpu.lanes import (
    STAGE,
    add_subsets,
    aligned,
    fill_subsets,
    near_bits,
    padded,
)

LUMP = 1.0 / 16.0
"""Largest diagonal of a lump, in spreads of the group. Few places are then partly near."""

_FAR = np.float32(2.0**100)  # value of an empty slot of the stage, above all limits


class Group(NamedTuple):
    """Places that share a walk.

    Attributes
    ----------
    members : (m,)
        Numbers of the places.
    centre : (d,)
    spread : float
        Upper bound of the distance between the centre and the places: r.
    low, high : float
        Least and largest radius of the places.
    """

    members: np.ndarray
    centre: np.ndarray
    spread: float
    low: float
    high: float


class Room(NamedTuple):
    """Scratch space for a group of at most M places; d features.

    Attributes
    ----------
    offsets : (M, d), float32
        c - x for each place x.
    lows, highs : (M,), float32
        Up to the first value a point is near the place for certain, beyond the second it is not.
    sums : (M, w)
        Sum of the offsets p - c of the points near each place, then their mass.
    shared : (w,)
        The same for the points that are near all places.
    who : (64,)
        Numbers of the points on the stage; -i for node i, a lump.
    stage : (d + 2, 64), float32
        p - c, feature by feature, |p - c|^2 / 2, and a margin: see ``near_bits``.
    rows : (64, w)
        Weight times (p - c, 1) of the same points.
    table : (256, w)
        Sums of rows; see ``fill_subsets``.
    squares : (SLOTS,)
        Squared distances of the points of a block from the centre.
    inside : (SLOTS,)
        Weights of the points of a block that are near all places.
    slots : (SLOTS + 1,)
        Slots of the points of a block that are in the shell.
    near, within : (M,)
        Bits of the points on the stage that are near each place, and of those that may be.
    """

    offsets: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    sums: np.ndarray
    shared: np.ndarray
    who: np.ndarray
    stage: np.ndarray
    rows: np.ndarray
    table: np.ndarray
    squares: np.ndarray
    inside: np.ndarray
    slots: np.ndarray
    near: np.ndarray
    within: np.ndarray


def make_room(state: TreeState, n_places: int) -> Room:
    """Return scratch space for groups of at most ``n_places``."""
    d = state.points.shape[1]
    n_places += n_places % 2  # ``near_bits`` takes pairs
    width = padded(d + 1)
    return Room(
        offsets=aligned((n_places, d), np.float32),
        lows=np.empty(n_places, dtype=np.float32),
        highs=np.empty(n_places, dtype=np.float32),
        sums=aligned((n_places, width)),
        shared=aligned((width,)),
        who=np.empty(STAGE, dtype=np.int64),
        stage=aligned((d + 2, STAGE), np.float32),
        rows=aligned((STAGE, width)),
        table=aligned((256, width)),
        squares=aligned((SLOTS,)),
        inside=aligned((SLOTS,)),
        slots=np.empty(SLOTS + 1, dtype=np.int64),
        near=np.empty(n_places, dtype=np.int64),
        within=np.empty(n_places, dtype=np.int64),
    )


@bare_kernel
def answer_groups(state, asked, plan, start, stop, room):
    """Answer the questions of some groups.

    Returns the number of points compared in crowded leaves.
    """
    crowd = 0
    for g in range(start, stop):
        group = _group(plan, g, asked.radii)
        _enter(asked, group, room)
        crowd += _walk(state, asked, group, room)
        _finish(asked, group, room)
    return crowd


@bare_kernel
def _group(plan, g, radii):
    members = plan.order[plan.starts[g] : plan.starts[g + 1]]
    low = high = radii[members[0]]
    for i in members:
        low, high = min(low, radii[i]), max(high, radii[i])
    return Group(members, plan.centres[g], plan.spreads[g], low, high)


@bare_kernel
def _enter(asked, group, room):
    """Compute offsets and limits of the places.

    With u = 2^-24, B = h + r >= |p - c| and r >= |x - c|, rounding of the offsets, of the product
    in any order, and of the limit moves v - limit by less than u (1.5 (d + 4) + 1) B^2. The margin
    is more than twice that; so it also covers the rounding of ``squared_distance``.
    """
    d = group.centre.shape[0]
    outer = group.high + group.spread
    margin = 2.0**-24 * 4.0 * (d + 8) * outer * outer
    room.shared[:] = 0.0
    for i in range(group.members.shape[0]):
        j = group.members[i]
        x, radius = asked.places[j], asked.radii[j]
        square = 0.0
        for k in range(d):
            offset = x[k] - group.centre[k]
            room.offsets[i, k] = -offset
            square += offset * offset
        limit = 0.5 * (radius * radius - square)
        room.lows[i] = limit - margin
        room.highs[i] = limit + margin
        room.sums[i] = 0.0


@bare_kernel
def _walk(state, asked, group, room):
    """Add the points near all places to ``shared``, and compare those of the shell with each place.

    Returns the number of points in crowded leaves.

    Distances have a relative error of about (d + 2) 2^-53. ``doubt`` is a multiple of it: on either
    side of the shell a few points more are compared with every place.
    """
    boxes, n_leaves, d = state.boxes, state.counts.shape[0], group.centre.shape[0]
    doubt = (d + 8) * 2.0**-48
    inner = max(group.low - group.spread * (1.0 + doubt), 0.0) * (1.0 - doubt)
    outer = (group.high + group.spread) * (1.0 + doubt)
    inner, outer = inner * inner, outer * outer
    lump = (LUMP * group.spread) ** 2
    filled, crowd, node = np.int64(0), np.int64(0), np.int64(1)  # literals would be other types
    while True:
        nearest, farthest, diagonal = box_squares(boxes, node, group.centre)
        if farthest < inner:
            _add_node(boxes, node, group.centre, room.shared)
        elif nearest <= outer and diagonal <= lump:
            _stage_lump(state, node, group, room, filled)
            filled = _next_slot(state, asked, group, room, filled)
        elif nearest <= outer:
            if node < n_leaves:
                node *= 2
                continue
            leaf = node - n_leaves
            crowd += max(0, state.counts[leaf] - LEAF)
            filled = _sift(state, asked, leaf, group, inner, outer, room, filled)
        node = node_behind(node)
        if node == 1:
            break
    if filled > 0:
        _clear_slots(room, filled, d)
        _compare(state, asked, group, room)
    return crowd


@inlined_kernel
def _next_slot(state, asked, group, room, filled):
    """Return the next slot of the stage; if it is full, compare its points first."""
    if filled + 1 < STAGE:
        return filled + 1
    _compare(state, asked, group, room)
    return np.int64(0)


@inlined_kernel
def box_squares(boxes, node, x):
    """Return the squared distances of x from the nearest and the farthest place in a box.

    The third value is the squared diagonal of the box.
    """
    d = x.shape[0]
    nearest = 0.0
    farthest = 0.0
    diagonal = 0.0
    for k in range(d):
        below = boxes[node, k] - x[k]
        above = x[k] - boxes[node, d + k]
        gap = max(below, above, 0.0)
        span = min(below, above)
        side = below + above
        nearest += gap * gap
        farthest += span * span
        diagonal += side * side
    return nearest, farthest, diagonal


@inlined_kernel
def _add_node(boxes, node, centre, sums):
    """Add all points of a node to a sum."""
    d = centre.shape[0]
    mass = boxes[node, 3 * d]
    for k in range(d):
        sums[k] += mass * (boxes[node, 2 * d + k] - centre[k])
    sums[d] += mass


@inlined_kernel
def _sift(state, asked, leaf, group, inner, outer, room, filled):
    """Divide the points of a leaf; return the number of filled slots of the stage."""
    block = state.heads[leaf]
    while block >= 0:
        _block_squares(state.blocks, block, group.centre, room.squares)
        if _weigh_inside(state, block, inner, room) > 0:
            _share_block(state.blocks, block, room.inside, group.centre, room.shared)
        for i in range(_find_between(room.squares, inner, outer, room.slots)):
            _stage_point(state, block, room.slots[i], group.centre, room, filled)
            filled = _next_slot(state, asked, group, room, filled)
        block = state.chain[block]
    return filled


@bare_kernel
def _find_between(squares, inner, outer, slots):
    """Write the slots whose squares are from inner to outer; return their number.

    There is no branch: the processor could not foresee it. Empty slots are farther than outer.
    """
    found = 0
    for slot in range(SLOTS):
        slots[found] = slot
        found += inner <= squares[slot] <= outer
    return found


@inlined_kernel
def _weigh_inside(state, block, inner, room):
    """Write the weights of the points of a block that are near all places; return their number."""
    n_inside = 0
    for slot in range(SLOTS):
        near = room.squares[slot] < inner
        room.inside[slot] = _weight_in(state, block, slot) if near else 0.0
        n_inside += near
    return n_inside


@inlined_kernel
def _weight_in(state, block, slot):
    """Return the weight of the point in a slot of a block."""
    return state.block_weights[block, slot] if len(state.block_weights) > 0 else state.weights[0]


@fast_sums
def _share_block(blocks, block, weights, centre, shared):
    """Add the points of a block, with these weights, to the sum for all places of the group."""
    for k in range(centre.shape[0]):
        total = 0.0
        for slot in range(weights.shape[0]):
            total += weights[slot] * (blocks[block, k, slot] - centre[k])
        shared[k] += total
    mass = 0.0
    for slot in range(weights.shape[0]):
        mass += weights[slot]
    shared[centre.shape[0]] += mass


@bare_kernel
def _block_squares(blocks, block, x, squares):
    for slot in range(squares.shape[0]):
        squares[slot] = 0.0
    for k in range(x.shape[0]):
        for slot in range(squares.shape[0]):
            difference = blocks[block, k, slot] - x[k]
            squares[slot] += difference * difference


@bare_kernel
def _clear_slots(room, filled, d):
    """Clear the slots of the stage that no point or lump has filled."""
    for slot in range(filled, STAGE):
        for k in range(d):
            room.stage[k, slot] = 0.0
        room.stage[d, slot] = _FAR
        room.stage[d + 1, slot] = 0.0


@inlined_kernel
def _stage_point(state, block, slot, centre, room, place):
    """Put a point of a block into a slot of the stage."""
    d = centre.shape[0]
    weight = _weight_in(state, block, slot)
    square = 0.0
    for k in range(d):
        offset = state.blocks[block, k, slot] - centre[k]
        room.stage[k, place] = offset
        room.rows[place, k] = weight * offset
        square += offset * offset
    room.stage[d, place] = 0.5 * square
    room.stage[d + 1, place] = 0.0
    room.rows[place, d] = weight
    room.who[place] = state.members[block, slot]


@inlined_kernel
def _stage_lump(state, node, group, room, slot):
    """Put a lump on the stage.

    Its points are within e, half the diagonal, of the middle b of its box. All are near x if
    |x - b| <= h - e, and none if |x - b| > h + e. With M = h e + e^2 / 2 for the largest radius,
    the first holds if v + M <= limit, the second if v - M > limit.
    """
    boxes, d = state.boxes, group.centre.shape[0]
    square = 0.0
    sides = 0.0
    for k in range(d):
        side = boxes[node, d + k] - boxes[node, k]
        offset = (boxes[node, k] - group.centre[k]) + 0.5 * side
        room.stage[k, slot] = offset
        square += offset * offset
        sides += side * side
    e = 0.5 * np.sqrt(sides)
    margin = e * (group.high + 0.5 * e)
    room.stage[d, slot] = 0.5 * square + margin
    room.stage[d + 1, slot] = 2.0 * margin
    room.rows[slot] = 0.0
    _add_node(boxes, node, group.centre, room.rows[slot])
    room.who[slot] = -node


@bare_kernel
def _compare(state, asked, group, room):
    """Add the points on the stage to the sums of the places that they are near to."""
    count, near, within = group.members.shape[0], room.near, room.within
    fill_subsets(room.table, room.rows)
    near_bits(room.offsets, room.stage, room.lows, room.highs, count, near, within)
    for i in range(count):
        if near[i] != within[i]:
            j, doubtful = group.members[i], near[i] ^ within[i]
            near[i] |= _decide(
                state, asked.places[j], asked.radii[j], group.centre, room.who, doubtful,
                room.sums[i],
            )  # fmt: skip
        if near[i] != 0:
            add_subsets(room.table, near[i], room.sums[i])


@bare_kernel
def _decide(state, x, radius, centre, stage, doubtful, sums):
    """Return the bits of the doubtful points and lumps on the stage that are near the place x.

    Of lumps that are partly near, the points are added to the sums. These comparisons are exact;
    see :mod:`modeshift.engines.cpu.fields.flat_in_tree`.
    """
    reach = radius * radius
    near = np.int64(0)
    for slot in range(STAGE):
        if (doubtful >> slot) & 1 == 0:
            continue
        who = stage[slot]
        if who >= 0:
            nearest = farthest = squared_distance(state.points[who], x)
        else:
            nearest, farthest, _ = box_squares(state.boxes, -who, x)
        if farthest <= reach:
            near |= np.int64(1) << slot
        elif nearest <= reach:
            _add_near_points(state, -who, x, reach, centre, sums)
    return near


@bare_kernel
def _add_near_points(state, node, x, reach, centre, sums):
    """Add the points below a node that are near x."""
    n_leaves, d = state.counts.shape[0], x.shape[0]
    first, last = node, node
    while first < n_leaves:
        first, last = 2 * first, 2 * last + 1
    for leaf in range(first - n_leaves, last + 1 - n_leaves):
        block = state.heads[leaf]
        filled = state.counts[leaf]
        while filled > 0:
            in_block = (filled - 1) % SLOTS + 1
            for slot in range(in_block):
                j = state.members[block, slot]
                if squared_distance(state.points[j], x) <= reach:
                    weight = weight_of(state.weights, state.block_weights, j)
                    for k in range(d):
                        sums[k] += weight * (state.points[j, k] - centre[k])
                    sums[d] += weight
            filled -= in_block
            block = state.chain[block]


@bare_kernel
def _finish(asked, group, room):
    """Compute the averages from the sums.

    x + m_h(x) = x + [ sum_i w_i (p_i - c) - M (x - c) ] / M, with the mass M.
    """
    d = group.centre.shape[0]
    for i in range(group.members.shape[0]):
        j = group.members[i]
        mass = room.shared[d] + room.sums[i, d]
        for k in range(d):
            x = asked.places[j, k]
            total = room.shared[k] + room.sums[i, k] - mass * (x - group.centre[k])
            asked.averages[j, k] = x + total / mass if mass > 0.0 else x
        asked.masses[j] = mass
