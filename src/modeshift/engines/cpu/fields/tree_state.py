"""A tree of boxes as arrays: leaves with blocks of slots, nodes with box, mass and mean.

Space is cut by a balanced k-d tree. Every node stores the bounding box of its points, their mass
and their mean. The tree is divided into *wards*, equal subtrees with blocks of their own, so that
threads can work on different wards at the same time.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel
from modeshift.engines.cpu.kdtree import Splits
from modeshift.engines.rule import Rule

LEAF = 64  # largest number of points of a leaf in a new tree
SLOTS = 32  # slots of a block
LEVELS = 3  # levels of a tree that a walk takes at a time
WIDE = 2**LEVELS  # nodes of a group, which have the same node three levels above
WARDS = 32  # number of wards, if there are as many leaves
FEW = 4  # up to this number of features loops are unrolled, and compiled for each number
CROWDED = 256  # a leaf with more points does not recompute its box
NOWHERE = 2.0**1020  # coordinate of an empty slot, far from all points


class TreeState(NamedTuple):
    """The tree as arrays; d features, L leaves, B blocks of slots; nodes in heap order.

    Attributes
    ----------
    dims : tuple of d zeros, or of none when there are many features
        Its length is known to the compiler, which unrolls the loops over few features.
    points : (n, d)
    weights : (n,)
    rule : Rule
    splits : Splits
        Where the tree is cut.
    boxes : (2 L, 3 d + 1)
        Lower corner, upper corner, mean and mass of each node.
    nodes : (2 L / WIDE, 3 d + 1, WIDE)
        The same numbers for walks: those of node i are ``[i // 8, :, i % 8]``.
    width : int
        Number of nodes of the first level that is a multiple of three above the leaves.
    counts : (L,)
        Number of points of each leaf.
    heads : (L,)
        First block of the chain of each leaf; -1, the block of empty slots, if there is none.
    chain : (B + 1,)
        The block after each block, -1 at the end; all blocks of a leaf except the first are full.
        Free blocks are chained, too.
    homes : (B,)
        The leaf of each block.
    members : (B, SLOTS)
        The point in each slot.
    blocks : (B + 1, d, SLOTS)
        Coordinates of the slots; the slots of the last block are always empty.
    block_weights : (B, SLOTS), or (0, SLOTS) when all weights are alike
        Weights of the slots.
    slots : (n,)
        Slot of each point, as SLOTS * block + slot.
    free : (number of wards,)
        First free block of each ward.
    bits : int
        Leaf i is in ward i >> bits.
    marks : (2 L,)
        Whether a node changed, while points move.
    waste : (1,)
        Comparisons in crowded leaves since the tree was built.
    """

    dims: tuple
    points: np.ndarray
    weights: np.ndarray
    rule: Rule
    splits: Splits
    boxes: np.ndarray
    nodes: np.ndarray
    width: int
    counts: np.ndarray
    heads: np.ndarray
    chain: np.ndarray
    homes: np.ndarray
    members: np.ndarray
    blocks: np.ndarray
    block_weights: np.ndarray
    slots: np.ndarray
    free: np.ndarray
    bits: int
    marks: np.ndarray
    waste: np.ndarray


@bare_kernel
def settle_wards(state, first, last):
    """Put the points of some wards into their leaves, and compute the sums of their nodes."""
    n_leaves, n_wards = state.counts.shape[0], state.free.shape[0]
    share = state.homes.shape[0] // n_wards
    state.blocks[first * share : last * share] = NOWHERE
    state.block_weights[first * share : last * share] = 0.0
    for ward in range(first, last):
        state.free[ward] = ward * share
        for block in range(ward * share, (ward + 1) * share):
            state.chain[block] = block + 1
        state.chain[(ward + 1) * share - 1] = -1
    starts, order = state.splits.starts, state.splits.order
    for leaf in range(first * n_leaves // n_wards, last * n_leaves // n_wards):
        state.counts[leaf] = 0
        state.heads[leaf] = -1
        for i in range(starts[n_leaves + leaf], starts[n_leaves + leaf + 1]):
            enter(state, leaf, order[i])
        sum_leaf(state, leaf)
        state.marks[n_leaves + leaf] = True
    join_wards(state, first, last)


@bare_kernel
def join_wards(state, first, last):
    """Update all nodes of some wards whose leaves changed."""
    n_wards, n_leaves = state.free.shape[0], state.counts.shape[0]
    size = n_leaves // n_wards
    for leaf_node in range(n_leaves + first * size, n_leaves + last * size):
        if state.marks[leaf_node]:
            _show(state.boxes, state.nodes, leaf_node)
    while size > 1:
        size //= 2
        for node in range((n_wards + first) * size, (n_wards + last) * size):
            if state.marks[2 * node] or state.marks[2 * node + 1]:
                state.marks[2 * node] = state.marks[2 * node + 1] = False
                state.marks[node] = True
                join_children(state.boxes, state.nodes, node)
    for ward in range(first, last):
        state.marks[n_wards + ward] = False


@bare_kernel
def _show(boxes, nodes, node):
    """Copy box, mass and mean of a node to where walks read it."""
    for i in range(boxes.shape[1]):
        nodes[node // WIDE, i, node % WIDE] = boxes[node, i]


@bare_kernel
def join_top(state):
    """Update the nodes above all wards."""
    for node in range(state.free.shape[0] - 1, 0, -1):
        join_children(state.boxes, state.nodes, node)


@bare_kernel
def leaf_of(homes, slots, j):
    """Return the leaf of point j."""
    return np.int64(homes[slots[j] // SLOTS])  # ``int`` would keep 32 bits in compiled code


@inlined_kernel
def enter(state, leaf, j):
    """Put point j into a slot of a leaf; return whether its ward had a block for it."""
    slot = state.counts[leaf] % SLOTS
    if slot == 0:  # the first block is full, or there is none
        ward = leaf >> state.bits
        block = state.free[ward]
        if block < 0:
            return False
        state.free[ward] = state.chain[block]
        state.chain[block] = state.heads[leaf]
        state.heads[leaf] = block
        state.homes[block] = leaf
    seat(state, state.heads[leaf], slot, j)
    state.counts[leaf] += 1
    return True


@inlined_kernel
def seat(state, block, slot, j):
    """Write point j into a slot."""
    state.members[block, slot] = j
    state.slots[j] = block * SLOTS + slot
    for k in range(state.points.shape[1]):
        state.blocks[block, k, slot] = state.points[j, k]
    if state.block_weights.shape[0] > 0:
        state.block_weights[block, slot] = state.weights[j]


@bare_kernel
def weight_of(weights, block_weights, j):
    """Return the weight of point j."""
    return weights[j if block_weights.shape[0] > 0 else 0]


@bare_kernel
def sum_leaf(state, leaf):
    """Compute box, mass and mean of a leaf from its points."""
    d = state.points.shape[1]
    box = state.boxes[state.counts.shape[0] + leaf]
    for k in range(d):
        box[k] = np.inf
        box[d + k] = -np.inf
        box[2 * d + k] = 0.0
    box[3 * d] = 0.0
    block = state.heads[leaf]
    filled = state.counts[leaf]
    while filled > 0:
        in_block = (filled - 1) % SLOTS + 1
        for slot in range(in_block):
            give(state, leaf, np.int64(state.members[block, slot]))
        filled -= in_block
        block = state.chain[block]


@inlined_kernel
def give(state, leaf, j):
    """Add a new point j to box, mass and mean of its leaf."""
    d = state.points.shape[1]
    box = state.boxes[state.counts.shape[0] + leaf]
    weight = weight_of(state.weights, state.block_weights, j)
    box[3 * d] += weight
    share = weight / box[3 * d] if weight > 0.0 else 0.0
    for k in range(d):
        x = state.points[j, k]
        box[k] = min(box[k], x)
        box[d + k] = max(box[d + k], x)
        box[2 * d + k] += share * (x - box[2 * d + k])


@bare_kernel
def join_children(boxes, nodes, node):
    """Compute box, mass and mean of an inner node from its two children."""
    d = boxes.shape[1] // 3
    box, left, right = boxes[node], boxes[2 * node], boxes[2 * node + 1]
    mass = left[3 * d] + right[3 * d]
    share = right[3 * d] / mass if right[3 * d] > 0.0 else 0.0
    for k in range(d):
        box[k] = min(left[k], right[k])
        box[d + k] = max(left[d + k], right[d + k])
        mean = left[2 * d + k]
        if share == 1.0:  # the left child has no mass, so its mean does not count
            mean = right[2 * d + k]
        elif share > 0.0:
            mean += share * (right[2 * d + k] - mean)
        box[2 * d + k] = mean
    box[3 * d] = mass
    _show(boxes, nodes, node)


@bare_kernel
def join_above(state, leaf):
    """Update the node of a leaf that changed, and all nodes above it."""
    node = state.counts.shape[0] + leaf
    state.marks[node] = False
    _show(state.boxes, state.nodes, node)
    while node > 1:
        node //= 2
        join_children(state.boxes, state.nodes, node)
