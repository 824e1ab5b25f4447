"""Search for the nearest points in a tree of boxes, from the leaf of a place outwards.

The leaf at x comes first, then the siblings of the nodes on the path from it to the root. A box is
skipped if its nearest corner is farther than the points found so far. Rounding is monotonic (see
``tree.py``), so no point that counts is missed.
"""

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.heap import average_held, bound_of, clear_heap, offer
from modeshift.engines.cpu.fields.protocol import WASTE, average_near, implements
from modeshift.engines.cpu.fields.tree_state import LEAF, SLOTS, WIDE, TreeState
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import leaf_at
from modeshift.engines.rule import Nearest, reach_of


@implements(average_near, TreeState, Nearest)
def _average_near(state, x, radius, out):
    heap = out[x.shape[0] :]
    clear_heap(heap, reach_of(state.rule, radius))
    out[WASTE] += _search(state, x, heap)
    return average_held(heap, state.rule, state.points, state.weights, x, radius, out)


@bare_kernel
def _search(state, x, heap):
    """Fill the heap with the points nearest to x; return points compared in crowded leaves."""
    n_leaves = state.counts.shape[0]
    node = n_leaves + leaf_at(state.splits.axes, state.splits.values, x)
    crowd = _look_through(state, node - n_leaves, x, heap)
    while node > 1:
        crowd += _search_below(state, node ^ 1, x, heap)
        node >>= 1
    return crowd


@bare_kernel
def _search_below(state, root, x, heap):
    n_leaves = state.counts.shape[0]
    crowd = 0
    node = root
    while True:
        if _box_square(state.nodes, node, x) <= bound_of(heap):
            if node < n_leaves:
                node *= 2
                continue
            crowd += _look_through(state, node - n_leaves, x, heap)
        while node != root and node & 1:  # a right child is the last below its parent
            node >>= 1
        if node == root:
            return crowd
        node += 1


@bare_kernel
def _box_square(nodes, node, x):
    """Return the squared distance from x to the box of a node."""
    d, group, c = x.shape[0], node // WIDE, node % WIDE
    total = 0.0
    for k in range(d):
        gap = max(nodes[group, k, c] - x[k], x[k] - nodes[group, d + k, c], 0.0)
        total += gap * gap
    return total


@bare_kernel
def _look_through(state, leaf, x, heap):
    """Offer the points of a leaf; return the number of points above the usual leaf size."""
    block = state.heads[leaf]
    filled = state.counts[leaf]
    crowd = max(0, filled - LEAF)
    while filled > 0:
        in_block = (filled - 1) % SLOTS + 1
        for slot in range(in_block):
            i = state.members[block, slot]
            square = squared_distance(state.points[i], x)
            offer(heap, state.rule, state.weights, square, i)
        filled -= in_block
        block = state.chain[block]
    return crowd
