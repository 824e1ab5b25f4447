"""The averages near the places of a small group, a leaf of the tree at a time.

As in ``shell.py``, nodes within h - r of the centre of a group are near all of its places, nodes
beyond h + r near none. Each leaf between them is compared with all places of the group together (a
*pack* of at most 64): with those that it lies within reach of as a whole, it counts by mass and
mean; with those whose border cuts it, its points are compared.

All decisions are those of ``flat_in_tree``. A leaf is fetched once for all places, and eight places
or eight points are compared at once.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.fields.pack_lanes import (
    LANES,
    PACK,
    add_near,
    add_to_places,
    lowest_bit,
    split_places,
)
from modeshift.engines.cpu.fields.sums import total_of
from modeshift.engines.cpu.fields.tree_state import LEAF, SLOTS, TreeState
from modeshift.engines.cpu.jit import bare_kernel, merged_kernel
from modeshift.engines.cpu.kdtree import node_behind
from modeshift.engines.cpu.lanes import aligned


class Desk(NamedTuple):
    """Scratch space for a pack; d features.

    Attributes
    ----------
    places : (d, 64)
    reaches : (64,)
        Squared radii; -1 where there is no place.
    shared : (d + 1,)
        Sum of the offsets from the centre of the points near all places, and their mass.
    sums : (d + 1, 64)
        The same for leaves within reach of each place.
    lanes : (64, d + 1, 8)
        Parts of the sum of the offsets from each place of the points near it, in other leaves.
    node : (d + 1,)
        The sum for one leaf.
    weights : (SLOTS,)
    bits : (2,)
    """

    places: np.ndarray
    reaches: np.ndarray
    shared: np.ndarray
    sums: np.ndarray
    lanes: np.ndarray
    node: np.ndarray
    weights: np.ndarray
    bits: np.ndarray


def make_desk(state: TreeState) -> Desk:
    """Return scratch space for packs."""
    d = state.points.shape[1]
    return Desk(
        places=aligned((d, PACK)),
        reaches=aligned((PACK,)),
        shared=np.zeros(d + 1),
        sums=aligned((d + 1, PACK)),
        lanes=aligned((PACK, d + 1, LANES)),
        node=np.zeros(d + 1),
        weights=np.full(SLOTS, state.weights[0]),
        bits=np.zeros(2, dtype=np.int64),
    )


@bare_kernel
def answer_packs(state, asked, plan, start, stop, desk):
    """Answer the questions of some groups; return the number of points in crowded leaves."""
    crowd = 0
    for g in range(start, stop):
        members = plan.order[plan.starts[g] : plan.starts[g + 1]]
        low, high = _sit_down(asked, members, desk)
        crowd += _walk(state, asked, members, plan.centres[g], plan.spreads[g], low, high, desk)
        _finish(asked, members, plan.centres[g], desk)
    return crowd


@merged_kernel
def _sit_down(asked, members, desk):
    """Write the places of a pack; return their least and their largest radius."""
    low = high = asked.radii[members[0]]
    desk.shared[:] = 0.0
    desk.sums[:] = 0.0
    desk.reaches[:] = -1.0
    for i in range(members.shape[0]):
        radius = asked.radii[members[i]]
        low, high = min(low, radius), max(high, radius)
        desk.reaches[i] = radius * radius
        for k in range(desk.places.shape[0]):
            desk.places[k, i] = asked.places[members[i], k]
        desk.lanes[i] = 0.0
    return low, high


@merged_kernel
def _walk(state, asked, members, centre, spread, low, high, desk):
    """Add up all points near the places; return the number of points in crowded leaves.

    ``doubt`` is more than the relative error of a distance: a few leaves more are compared.
    """
    boxes, n_leaves, d = state.boxes, state.counts.shape[0], centre.shape[0]
    doubt = (d + 8) * 2.0**-48
    inner = max(low - spread * (1.0 + doubt), 0.0) * (1.0 - doubt)
    outer = (high + spread) * (1.0 + doubt)
    inner, outer = inner * inner, outer * outer
    crowd, node, n_vectors = np.int64(0), np.int64(1), -(-members.shape[0] // LANES)
    while True:
        nearest, farthest = _box_squares(boxes, node, centre)
        if farthest < inner:
            _sum_node(boxes[node], centre, desk.node)
            for k in range(d + 1):
                desk.shared[k] += desk.node[k]
        elif nearest <= outer:
            if node < n_leaves:
                node *= 2
                continue
            leaf = node - n_leaves
            crowd += max(0, state.counts[leaf] - LEAF)
            _compare_leaf(state, asked, members, leaf, n_vectors, centre, desk)
        node = node_behind(node)
        if node == 1:
            return crowd


@merged_kernel
def _box_squares(boxes, node, x):
    """Return the squared distances of x from the nearest and the farthest place in a box."""
    d, nearest, farthest = x.shape[0], 0.0, 0.0
    for k in range(d):
        below = boxes[node, k] - x[k]
        above = x[k] - boxes[node, d + k]
        gap = max(below, above, 0.0)
        span = min(below, above)
        nearest += gap * gap
        farthest += span * span
    return nearest, farthest


@bare_kernel
def _sum_node(box, centre, sums):
    """Write the sum of the offsets of the points of a node from the centre, and their mass."""
    d = centre.shape[0]
    sums[d] = box[3 * d]
    for k in range(d):
        sums[k] = box[3 * d] * (box[2 * d + k] - centre[k])


@merged_kernel
def _compare_leaf(state, asked, members, leaf, n_vectors, centre, desk):
    """Compare the box of a leaf with all places, and its points with those whose border cuts it."""
    bits, box = desk.bits, state.boxes[state.counts.shape[0] + leaf]
    split_places(state.dims, desk.places, desk.reaches, n_vectors, box, bits)
    if bits[0] != 0:
        _sum_node(box, centre, desk.node)
        add_to_places(state.dims, bits[0], desk.node, desk.sums, n_vectors)
    block = np.int64(state.heads[leaf] if bits[1] != 0 else -1)
    while block >= 0:
        weights = desk.weights
        if state.block_weights.shape[0] > 0:
            weights = state.block_weights[block]
        left = bits[1]
        while left != 0:
            i = lowest_bit(left)
            left &= left - 1
            x = asked.places[members[i]]
            add_near(state.dims, state.blocks[block], weights, x, desk.reaches[i], desk.lanes[i])
        block = np.int64(state.chain[block])


@merged_kernel
def _finish(asked, members, centre, desk):
    """Compute the averages: x + m_h(x) = x + [ sum_i w_i (p_i - x) ] / M, with the mass M."""
    d = centre.shape[0]
    for i in range(members.shape[0]):
        j, whole = members[i], desk.shared[d] + desk.sums[d, i]
        mass = whole + total_of(desk.lanes[i, d])
        for k in range(d):
            x = asked.places[j, k]
            total = desk.shared[k] + desk.sums[k, i] - whole * (x - centre[k])
            total += total_of(desk.lanes[i, k])
            asked.averages[j, k] = x + total / mass if mass > 0.0 else x
        asked.masses[j] = mass
