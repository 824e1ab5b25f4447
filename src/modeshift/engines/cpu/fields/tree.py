"""A tree of boxes with mass and mean, which is updated when points move.

Space is cut by a balanced k-d tree. Every node stores the bounding box of its points, their mass
and their mean. A node inside the ball counts by its mean, a node outside is skipped, and only
leaves on the border are opened. A point that moves goes to the leaf of its new place, and the nodes
above both leaves are updated: O(log n). When searches in crowded leaves have cost as much as a new
tree, the tree is rebuilt.

Every comparison agrees with the plain field to the last bit. Rounding is monotonic: for a point
inside a box each term of its squared distance, and so the sum in the same order, is not smaller
than that of the nearest corner and not larger than that of the farthest.
"""

from copy import copy, deepcopy
from typing import NamedTuple, Self

import numpy as np

from modeshift.engines.cpu.fields.field import Field, move_rows
from modeshift.engines.cpu.fields.protocol import average_near, average_of, implements, move
from modeshift.engines.cpu.jit import bare_kernel, fast_sums, kernel
from modeshift.engines.cpu.kdtree import Splits, leaf_at, node_behind, split_below, split_points
from modeshift.engines.rule import Flat, Rule

LEAF = 64  # largest number of points of a leaf in a new tree, and slots of a block
_FEW = 4  # up to this number of features loops are unrolled, and compiled for each number
_CROWDED = 4 * LEAF  # a leaf with more points does not recompute its box
_PATIENCE = 256  # comparisons in crowded leaves, per point, that cost as much as a new tree
_NOWHERE = 2.0**1020  # coordinate of an empty slot, far from all points


class TreeState(NamedTuple):
    """The tree as arrays; d features, L leaves, B blocks of slots; nodes in heap order.

    Attributes
    ----------
    dims : tuple of d zeros, or of none when there are many features
        Its length is known to the compiler, which unrolls the loops over few features.
    points : (n, d)
    weights : (n,)
    rule : Rule
        Flat here; see ``gaussian_in_tree.py`` and ``nearest_in_tree.py`` for the others.
    splits : Splits
        Where the tree is cut.
    sorted : (n, d)
        Room to sort the points in when the tree is built.
    nodes : (2 L, 3 d + 1)
        Lower corner, upper corner, mean and mass of each node.
    counts, heads : (L,)
        Number of points of each leaf, and the first block of its chain.
    chain : (B,)
        The block after each block; all blocks of a leaf except the first are full.
    members : (B, LEAF)
        The point in each slot.
    blocks : (B, d, LEAF)
        Coordinates of the slots.
    block_weights : (B, LEAF), or (0, LEAF) when all weights are alike
        Weights of the slots.
    leaves, slots : (n,)
        Leaf of each point, and its slot as LEAF * block + slot.
    free : (B + 1,)
        Stack of unused blocks; the last entry is its height.
    waste : (1,)
        Comparisons in crowded leaves since the tree was built.
    """

    dims: tuple
    points: np.ndarray
    weights: np.ndarray
    rule: Rule
    splits: Splits
    sorted: np.ndarray
    nodes: np.ndarray
    counts: np.ndarray
    heads: np.ndarray
    chain: np.ndarray
    members: np.ndarray
    blocks: np.ndarray
    block_weights: np.ndarray
    leaves: np.ndarray
    slots: np.ndarray
    free: np.ndarray
    waste: np.ndarray


class TreeField(Field):
    """Field on a tree of boxes."""

    _n_moved = 0  # points moved in copies since the tree was built

    def moved(self, rows: np.ndarray, places: np.ndarray) -> Self:
        """Return a copy of the tree with moved points; a new tree after half of them moved.

        A copy costs at most an eighth of a new tree, but boxes fit worse with every move.
        """
        n_moved = self._n_moved + len(rows)
        if n_moved > len(self.points) // 2:
            return super().moved(rows, places)
        other = copy(self)
        other.state = deepcopy(self.state)
        other._n_moved = n_moved
        move_rows(other.state, rows, places)
        return other

    def _build(self, points: np.ndarray) -> TreeState:
        n, d = points.shape
        in_order = points.copy()
        splits = split_points(in_order, LEAF, self.n_jobs)
        n_leaves = len(splits.axes)
        n_blocks = n // LEAF + n_leaves
        alike = bool((self.weights == self.weights[0]).all())
        state = TreeState(
            dims=(0,) * d if d <= _FEW else (),
            points=points,
            weights=self.weights,
            rule=self.rule,
            splits=splits,
            sorted=in_order,
            nodes=np.empty((2 * n_leaves, 3 * d + 1)),
            counts=np.zeros(n_leaves, dtype=np.int32),
            heads=np.empty(n_leaves, dtype=np.int32),
            chain=np.empty(n_blocks, dtype=np.int32),
            members=np.empty((n_blocks, LEAF), dtype=np.int32),
            blocks=np.empty((n_blocks, d, LEAF)),
            block_weights=np.empty((0 if alike else n_blocks, LEAF)),
            leaves=np.empty(n, dtype=np.int32),
            slots=np.empty(n, dtype=np.int64),
            free=np.empty(n_blocks + 1, dtype=np.int32),
            waste=np.zeros(1),
        )
        _settle(state)
        return state

    def _order(self, places: np.ndarray) -> np.ndarray:
        splits = self._splits
        return splits.order if places is self.points else _by_leaf(splits, places)

    @property
    def _splits(self) -> Splits:
        return self.state.splits


@kernel
def _by_leaf(splits, places):
    """Sort places by their leaf, with a counting sort."""
    leaves = np.empty(places.shape[0], dtype=np.int32)
    ends = np.zeros(splits.axes.shape[0] + 1, dtype=np.int64)
    for i in range(places.shape[0]):
        leaves[i] = leaf_at(splits.axes, splits.values, places[i])
        ends[leaves[i] + 1] += 1
    for leaf in range(1, ends.shape[0]):
        ends[leaf] += ends[leaf - 1]
    order = np.empty(places.shape[0], dtype=np.int64)
    for i in range(places.shape[0]):
        order[ends[leaves[i]]] = i
        ends[leaves[i]] += 1
    return order


@bare_kernel
def _plant(state):
    """Rebuild the tree over the current positions."""
    for i in range(state.points.shape[0]):
        state.splits.order[i] = i
        for k in range(state.points.shape[1]):
            state.sorted[i, k] = state.points[i, k]
    split_below(state.sorted, state.splits, 1)
    _settle(state)


@bare_kernel
def _settle(state):
    """Put all points into the leaves given by the splits, and compute the sums."""
    n_leaves, n_blocks = state.counts.shape[0], state.chain.shape[0]
    state.counts[:] = 0
    state.heads[:] = -1
    state.blocks[:] = _NOWHERE
    state.block_weights[:] = 0.0
    for block in range(n_blocks):
        state.free[block] = n_blocks - 1 - block
    state.free[n_blocks] = n_blocks
    starts = state.splits.starts
    for leaf in range(n_leaves):
        for i in range(starts[n_leaves + leaf], starts[n_leaves + leaf + 1]):
            _enter(state, leaf, state.splits.order[i])
    tighten(state)
    state.waste[0] = 0.0


@bare_kernel
def tighten(state):
    """Compute box, mass and mean of all nodes."""
    n_leaves = state.counts.shape[0]
    for leaf in range(n_leaves):
        _sum_leaf(state, leaf)
    for node in range(n_leaves - 1, 0, -1):
        _join_children(state.nodes, node, state.points.shape[1])


@bare_kernel
def _enter(state, leaf, j):
    """Put point j into a leaf."""
    slot = state.counts[leaf] % LEAF
    if slot == 0:  # the first block is full, or there is none
        top = state.free.shape[0] - 1
        state.free[top] -= 1
        block = state.free[state.free[top]]
        state.chain[block] = state.heads[leaf]
        state.heads[leaf] = block
    block = state.heads[leaf]
    _seat(state, block, slot, j)
    state.counts[leaf] += 1
    state.leaves[j] = leaf


@bare_kernel
def _leave(state, j):
    """Remove point j from its leaf; the last point takes its slot."""
    leaf = state.leaves[j]
    block, slot = state.slots[j] // LEAF, state.slots[j] % LEAF
    state.counts[leaf] -= 1
    last_block, last_slot = state.heads[leaf], state.counts[leaf] % LEAF
    _seat(state, block, slot, state.members[last_block, last_slot])
    for k in range(state.points.shape[1]):
        state.blocks[last_block, k, last_slot] = _NOWHERE
    if state.block_weights.shape[0] > 0:
        state.block_weights[last_block, last_slot] = 0.0
    if last_slot == 0:
        state.heads[leaf] = state.chain[last_block]
        top = state.free.shape[0] - 1
        state.free[state.free[top]] = last_block
        state.free[top] += 1


@bare_kernel
def _seat(state, block, slot, j):
    state.members[block, slot] = j
    state.slots[j] = block * LEAF + slot
    for k in range(state.points.shape[1]):
        state.blocks[block, k, slot] = state.points[j, k]
    if state.block_weights.shape[0] > 0:
        state.block_weights[block, slot] = state.weights[j]


@bare_kernel
def _sum_leaf(state, leaf):
    """Compute box, mass and mean of a leaf from its points."""
    nodes, d = state.nodes, state.points.shape[1]
    node = state.counts.shape[0] + leaf
    for k in range(d):
        nodes[node, k] = np.inf
        nodes[node, d + k] = -np.inf
        nodes[node, 2 * d + k] = 0.0
    nodes[node, 3 * d] = 0.0
    block = state.heads[leaf]
    filled = state.counts[leaf]
    while filled > 0:
        in_block = (filled - 1) % LEAF + 1
        for slot in range(in_block):
            _give(state, leaf, state.members[block, slot])
        filled -= in_block
        block = state.chain[block]


@bare_kernel
def _give(state, leaf, j):
    """Add a new point j to box, mass and mean of its leaf."""
    nodes, d = state.nodes, state.points.shape[1]
    node = state.counts.shape[0] + leaf
    weight = state.weights[j]
    nodes[node, 3 * d] += weight
    share = weight / nodes[node, 3 * d] if weight > 0.0 else 0.0
    for k in range(d):
        x = state.points[j, k]
        nodes[node, k] = min(nodes[node, k], x)
        nodes[node, d + k] = max(nodes[node, d + k], x)
        nodes[node, 2 * d + k] += share * (x - nodes[node, 2 * d + k])


@bare_kernel
def _take(state, leaf, j):
    """Remove the leaving point j from box, mass and mean of its leaf.

    A crowded leaf keeps its box, which may now be too large. Results stay exact, but the leaf is
    opened more often. This is counted as waste.
    """
    nodes, d = state.nodes, state.points.shape[1]
    node = state.counts.shape[0] + leaf
    weight = state.weights[j]
    rest = nodes[node, 3 * d] - weight
    on_border = False
    for k in range(d):
        x = state.points[j, k]
        on_border |= x <= nodes[node, k] or x >= nodes[node, d + k]
    few = state.counts[leaf] <= _CROWDED
    if (on_border and few) or rest < 0.5 * nodes[node, 3 * d]:
        _sum_leaf(state, leaf)
        return
    share = weight / rest if weight > 0.0 else 0.0
    for k in range(d):
        mean = nodes[node, 2 * d + k]
        nodes[node, 2 * d + k] = mean - share * (state.points[j, k] - mean)
    nodes[node, 3 * d] = rest


@bare_kernel
def _join_children(nodes, node, d):
    """Compute box, mass and mean of an inner node from its two children."""
    left, right = 2 * node, 2 * node + 1
    mass = nodes[left, 3 * d] + nodes[right, 3 * d]
    share = nodes[right, 3 * d] / mass if nodes[right, 3 * d] > 0.0 else 0.0
    for k in range(d):
        nodes[node, k] = min(nodes[left, k], nodes[right, k])
        nodes[node, d + k] = max(nodes[left, d + k], nodes[right, d + k])
        mean = nodes[left, 2 * d + k]
        if share == 1.0:  # the left child has no mass, so its mean does not count
            mean = nodes[right, 2 * d + k]
        elif share > 0.0:
            mean += share * (nodes[right, 2 * d + k] - mean)
        nodes[node, 2 * d + k] = mean
    nodes[node, 3 * d] = mass


@bare_kernel
def _refresh_above(nodes, a, b, d):
    """Update the nodes above two leaf nodes, which may be the same."""
    a, b = a // 2, b // 2
    while a != b:
        _join_children(nodes, a, d)
        _join_children(nodes, b, d)
        a, b = a // 2, b // 2
    while a > 0:
        _join_children(nodes, a, d)
        a //= 2


@bare_kernel
def _collect(state, x, radius, out):
    """Write the mean near x to ``out``; return mass, and points compared in crowded leaves."""
    nodes, n_leaves = state.nodes, state.counts.shape[0]
    d = len(state.dims) if len(state.dims) > 0 else x.shape[0]
    reach = radius * radius
    mass = 0.0
    crowd = 0
    inside = out[d : d + LEAF]
    for k in range(d):
        out[k] = 0.0
    node = 1
    while True:
        nearest = 0.0
        farthest = 0.0
        for k in range(d):
            below = nodes[node, k] - x[k]
            above = x[k] - nodes[node, d + k]
            gap = max(below, above, 0.0)
            span = min(below, above)
            nearest += gap * gap
            farthest += span * span
        if farthest <= reach:
            weight = nodes[node, 3 * d]
            mass += weight
            for k in range(d):
                out[k] += weight * (nodes[node, 2 * d + k] - x[k])
        elif nearest <= reach:
            if node < n_leaves:
                node *= 2
                continue
            block = state.heads[node - n_leaves]
            filled = state.counts[node - n_leaves]
            crowd += max(0, filled - LEAF)
            while filled > 0:
                mass += _add_block(state, block, x, reach, inside, out)
                filled -= (filled - 1) % LEAF + 1
                block = state.chain[block]
        node = node_behind(node)
        if node == 1:
            break
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass, crowd


@bare_kernel
def _add_block(state, block, x, reach, inside, out):
    """Add the points of a block that lie within reach; return their mass."""
    if len(state.dims) == 2 and state.block_weights.shape[0] == 0:
        count, first, second = _count_block_2(state.blocks, block, x[0], x[1], reach)
        out[0] += state.weights[0] * first
        out[1] += state.weights[0] * second
        return state.weights[0] * count
    _weigh_block(state, block, x, reach, inside)
    for k in range(x.shape[0]):
        out[k] += weighted_offsets(state.blocks, block, k, x[k], inside)
    return total_of(inside)


@fast_sums
def _count_block_2(blocks, block, x, y, reach):
    """Count the points of a block within reach, and add up their offsets, in two dimensions.

    There a squared distance has two terms, so their order does not matter.
    """
    count, first, second = 0.0, 0.0, 0.0
    for slot in range(blocks.shape[2]):
        u = blocks[block, 0, slot] - x
        v = blocks[block, 1, slot] - y
        near = 1.0 if u * u + v * v <= reach else 0.0
        count += near
        first += near * u
        second += near * v
    return count, first, second


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


@fast_sums
def weighted_offsets(values, i, k, x, weights):
    """Return sum_c weights_c (values_ikc - x)."""
    total = 0.0
    for c in range(weights.shape[0]):
        total += weights[c] * (values[i, k, c] - x)
    return total


@fast_sums
def total_of(weights):
    """Return the sum of some weights."""
    total = 0.0
    for c in range(weights.shape[0]):
        total += weights[c]
    return total


@implements(average_near, TreeState, Flat)
def _average_near(state, x, radius, out):
    mass, _ = _collect(state, x, radius, out)
    return mass


@implements(average_of, TreeState, Flat)
def _average_of(state, j, radius, out):
    mass, crowd = _collect(state, state.points[j], radius, out)
    state.waste[0] += crowd
    return mass


@implements(move, TreeState)
def _move(state, j, x):
    d = state.points.shape[1]
    old = state.leaves[j]
    new = leaf_at(state.splits.axes, state.splits.values, x)
    _leave(state, j)
    _take(state, old, j)
    for k in range(d):
        state.points[j, k] = x[k]
    _enter(state, new, j)
    _give(state, new, j)
    n_leaves = state.counts.shape[0]
    _refresh_above(state.nodes, n_leaves + old, n_leaves + new, d)
    if state.waste[0] > _PATIENCE * state.points.shape[0]:
        _plant(state)
