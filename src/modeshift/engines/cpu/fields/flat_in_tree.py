"""The flat kernel in a tree of boxes.

The walk takes three levels at a time: the eight nodes below a node are tested together, in vector
instructions. Nodes inside the ball count by mass and mean, nodes outside do not count, and the walk
goes on below the nodes on the rim. Of leaves on the rim the points are compared, a block at a time.

Every comparison agrees with the plain field to the last bit. Rounding is monotonic: for a point
inside a box each term of its squared distance, and so the sum in the same order, is not smaller
than that of the nearest corner and not larger than that of the farthest.

The compiler makes vector instructions of loops of constant length that store nothing. So a test
returns a *code*, an integer in which bit c says something of node c.
"""

import numpy as np

from modeshift.engines.cpu.fields.protocol import WASTE, average_near, implements
from modeshift.engines.cpu.fields.sums import total_of, weighted_offsets
from modeshift.engines.cpu.fields.tree_state import LEAF, SLOTS, WIDE, TreeState
from modeshift.engines.cpu.jit import bare_kernel, fast_sums, inlined_kernel
from modeshift.engines.rule import Flat

_TOGETHER = 4  # blocks that are compared together
_RIM = 64  # leaves on the rim, and blocks in them, that are kept for later
_WAY = 96  # room for groups that the walk has yet to open: at most 7 for every three levels

_CODES = range(2**WIDE)
_N_BITS = np.array([code.bit_count() for code in _CODES])
_BITS = np.zeros((2**WIDE, WIDE), dtype=np.int64)  # numbers of the bits of each code, then zeros
for _code in _CODES:
    _BITS[_code, : _N_BITS[_code]] = [c for c in range(WIDE) if _code >> c & 1]


@implements(average_near, TreeState, Flat)
def _average_near(state, x, radius, out):
    d = len(state.dims) if len(state.dims) > 0 else x.shape[0]
    n_leaves = state.counts.shape[0]
    reach = radius * radius
    inside, room = out[d : d + SLOTS], d + SLOTS
    way, room = out[room : room + _WAY].view(np.int64), room + _WAY
    leaves, room = out[room : room + _RIM + WIDE].view(np.int64), room + _RIM + WIDE
    blocks = out[room : room + _RIM + _TOGETHER].view(np.int64)
    for k in range(d):
        out[k] = 0.0
    mass = 0.0
    left, found = _begin(state, way, leaves)
    while left > 0 or found > 0:
        while left > 0 and found <= _RIM:
            left -= 1
            group = way[left]
            gain, code = _add_group(state, group, x, reach, inside, out)
            mass += gain
            if WIDE * group < n_leaves:
                left = _append_coded(way, left, WIDE * group, code)
            else:
                found = _append_coded(leaves, found, WIDE * group - n_leaves, code)
        mass += _add_leaves(state, leaves, found, blocks, x, reach, inside, out)
        found = 0
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass


@inlined_kernel
def _begin(state, way, leaves):
    """Write the first groups of a walk, or all leaves of a tiny tree; return how many of either.

    The walk begins as many levels above the leaves as three divides.
    """
    n_leaves = state.counts.shape[0]
    if n_leaves < WIDE:
        for leaf in range(n_leaves):
            leaves[leaf] = leaf
        return 0, n_leaves
    for i in range(state.width):
        way[i] = state.width + i
    return state.width, 0


@bare_kernel
def _append_coded(numbers, length, first, code):
    """Append first + c for each bit c of the code; return the new length.

    There is no branch: the processor could not foresee it.
    """
    for c in range(WIDE):
        numbers[length + c] = first + _BITS[code, c]
    return length + _N_BITS[code]


@inlined_kernel
def _add_group(state, group, x, reach, inside, out):
    """Add the nodes of a group that are inside; return their mass, and the code of the rim."""
    nodes = state.nodes
    if len(state.dims) == 2:
        mass, first, second, code = _add_group_2(nodes, group, x[0], x[1], reach)
        out[0] += first
        out[1] += second
        return mass, code
    if len(state.dims) == 3:
        mass, first, second, third, code = _add_group_3(nodes, group, x[0], x[1], x[2], reach)
        out[0] += first
        out[1] += second
        out[2] += third
        return mass, code
    d = x.shape[0]
    code = 0
    weights, nearest = inside[:WIDE], inside[WIDE : 2 * WIDE]
    for c in range(WIDE):
        weights[c] = 0.0
        nearest[c] = 0.0
    for k in range(d):
        for c in range(nodes.shape[2]):
            gap, span = _gap_and_span(nodes[group, k, c] - x[k], x[k] - nodes[group, d + k, c])
            nearest[c] += gap * gap
            weights[c] += span * span
    for c in range(WIDE):
        whole = weights[c] <= reach
        weights[c] = nodes[group, 3 * d, c] if whole else 0.0
        if not whole and nearest[c] <= reach:
            code |= 1 << c
    mass = total_of(weights)
    if mass > 0.0:
        for k in range(d):
            out[k] += weighted_offsets(nodes, group, 2 * d + k, x[k], weights)
    return mass, code


@fast_sums
def _add_group_2(nodes, group, x, y, reach):
    """Do the same in two dimensions; return mass, sums and code.

    A squared distance has two terms there, so their order does not matter.
    """
    mass, first, second, code = 0.0, 0.0, 0.0, 0
    for c in range(WIDE):
        gap_x, span_x = _gap_and_span(nodes[group, 0, c] - x, x - nodes[group, 2, c])
        gap_y, span_y = _gap_and_span(nodes[group, 1, c] - y, y - nodes[group, 3, c])
        nearest = gap_x * gap_x + gap_y * gap_y
        farthest = span_x * span_x + span_y * span_y
        weight = nodes[group, 6, c] if farthest <= reach else 0.0
        mass += weight
        first += weight * (nodes[group, 4, c] - x)
        second += weight * (nodes[group, 5, c] - y)
        code += ((1 << c) if nearest <= reach else 0) if farthest > reach else 0
    return mass, first, second, code


@fast_sums
def _add_group_3(nodes, group, x, y, z, reach):
    """Do the same in three dimensions."""
    mass, first, second, third, code = 0.0, 0.0, 0.0, 0.0, 0
    for c in range(WIDE):
        gap_x, span_x = _gap_and_span(nodes[group, 0, c] - x, x - nodes[group, 3, c])
        gap_y, span_y = _gap_and_span(nodes[group, 1, c] - y, y - nodes[group, 4, c])
        gap_z, span_z = _gap_and_span(nodes[group, 2, c] - z, z - nodes[group, 5, c])
        nearest = _square(gap_x, gap_y, gap_z)
        farthest = _square(span_x, span_y, span_z)
        weight = nodes[group, 9, c] if farthest <= reach else 0.0
        mass += weight
        first += weight * (nodes[group, 6, c] - x)
        second += weight * (nodes[group, 7, c] - y)
        third += weight * (nodes[group, 8, c] - z)
        code += ((1 << c) if nearest <= reach else 0) if farthest > reach else 0
    return mass, first, second, third, code


@bare_kernel
def _square(u, v, w):
    """Return u^2 + v^2 + w^2, added up in this order even where the caller may reorder sums."""
    return u * u + v * v + w * w


@bare_kernel
def _gap_and_span(below, above):
    """Return the distance of x from an interval, and that of its farther end with a minus sign.

    ``below`` and ``above`` are low - x and x - high. Plain comparisons become vector instructions;
    ``min`` and ``max`` do not.
    """
    larger = below if below > above else above
    span = above if below > above else below
    return larger if larger > 0.0 else 0.0, span


@inlined_kernel
def _add_leaves(state, leaves, found, blocks, x, reach, inside, out):
    """Add the points of some leaves that lie within reach; return their mass."""
    mass, i, block = 0.0, 0, -1
    while i < found or block >= 0:
        n_blocks = 0
        while n_blocks < _RIM and (i < found or block >= 0):
            if block < 0:
                out[WASTE] += max(0, state.counts[leaves[i]] - LEAF)
                block = int(state.heads[leaves[i]])
                i += 1
            else:
                blocks[n_blocks] = block
                n_blocks += 1
                block = int(state.chain[block])
        mass += _add_blocks(state, blocks, n_blocks, x, reach, inside, out)
    return mass


@inlined_kernel
def _add_blocks(state, blocks, n_blocks, x, reach, inside, out):
    """Add the points of some blocks that lie within reach; return their mass."""
    mass = 0.0
    if 2 <= len(state.dims) <= 3 and state.block_weights.shape[0] == 0:
        weight = state.weights[0]
        for i in range(n_blocks, n_blocks + _TOGETHER - 1):
            blocks[i] = -1  # the block of empty slots
        for i in range(0, n_blocks, _TOGETHER):
            four = blocks[i], blocks[i + 1], blocks[i + 2], blocks[i + 3]
            if len(state.dims) == 2:
                count, first, second = _add_blocks_2(state.blocks, four, x[0], x[1], reach)
            else:
                count, first, second, third = _add_blocks_3(
                    state.blocks, four, x[0], x[1], x[2], reach
                )
                out[2] += weight * third
            out[0] += weight * first
            out[1] += weight * second
            mass += weight * count
        return mass
    for i in range(n_blocks):
        _weigh_block(state, blocks[i], x, reach, inside)
        for k in range(x.shape[0]):
            out[k] += weighted_offsets(state.blocks, blocks[i], k, x[k], inside)
        mass += total_of(inside)
    return mass


@fast_sums
def _add_blocks_2(blocks, four, x, y, reach):
    """Count the points of four blocks within reach, and add up their offsets."""
    count, first, second = 0.0, 0.0, 0.0
    for slot in range(SLOTS):
        for block in four:
            u = blocks[block, 0, slot] - x
            v = blocks[block, 1, slot] - y
            near = 1.0 if u * u + v * v <= reach else 0.0
            count += near
            first += near * u
            second += near * v
    return count, first, second


@fast_sums
def _add_blocks_3(blocks, four, x, y, z, reach):
    """Do the same in three dimensions."""
    count, first, second, third = 0.0, 0.0, 0.0, 0.0
    for slot in range(SLOTS):
        for block in four:
            u = blocks[block, 0, slot] - x
            v = blocks[block, 1, slot] - y
            w = blocks[block, 2, slot] - z
            near = 1.0 if _square(u, v, w) <= reach else 0.0
            count += near
            first += near * u
            second += near * v
            third += near * w
    return count, first, second, third


@bare_kernel
def _weigh_block(state, block, x, reach, inside):
    """Write for each slot of a block its weight if it lies within reach, else 0."""
    blocks = state.blocks
    if len(state.dims) > 0:
        for slot in range(inside.shape[0]):
            inside[slot] = 0.0
            for k in range(len(state.dims)):
                difference = blocks[block, k, slot] - x[k]
                inside[slot] += difference * difference
    else:
        for slot in range(inside.shape[0]):
            inside[slot] = 0.0
        for k in range(x.shape[0]):
            for slot in range(inside.shape[0]):
                difference = blocks[block, k, slot] - x[k]
                inside[slot] += difference * difference
    if state.block_weights.shape[0] > 0:
        for slot in range(inside.shape[0]):
            weight = state.block_weights[block, slot]
            inside[slot] = weight if inside[slot] <= reach else 0.0
    else:
        weight = state.weights[0]
        for slot in range(inside.shape[0]):
            inside[slot] = weight if inside[slot] <= reach else 0.0
