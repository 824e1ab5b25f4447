"""Gaussian weights in a tree of boxes.

Only points within ``TRUNCATION`` bandwidths count; boxes beyond are skipped. A box inside counts by
its mass and mean if it is tiny, as it is where points have gathered; otherwise it is opened.

The error bound: let all points of a box be within e of their mean p, and p at u h from x. The
weight of a point times its offset, g(q) = K(q) (q - x), has second derivatives of at most
K (3 u + u^3) / h, and its first derivative drops out of the sum, since offsets from the mean add up
to 0. So the box, taken as a whole, errs by at most (3 u + u^3) e^2 / (2 h) of its weight, and its
mass by (1 + u^2) e^2 / (2 h^2). With u <= 6 the resulting mean errs by less than 117 e^2 / h +
6 h 18.5 e^2 / h^2 < 230 e^2 / h, which is 5.3e-11 h for e = 2^-21 h.
"""

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.protocol import WASTE, average_near, implements
from modeshift.engines.cpu.fields.pulls import find_pulls
from modeshift.engines.cpu.fields.sums import total_of, weighted_offsets
from modeshift.engines.cpu.fields.tree_state import LEAF, SLOTS, TreeState
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel
from modeshift.engines.cpu.kdtree import node_behind
from modeshift.engines.rule import Gaussian, reach_of, worth_of

TINY = 2.0**-21
"""Extent, in bandwidths, up to which points count as one: the mean errs by < 1e-10 h."""


@implements(average_near, TreeState, Gaussian)
def _average_near(state, x, radius, out):
    mass, crowd = _collect(state, x, radius, out)
    out[WASTE] += crowd
    return mass


@bare_kernel
def _collect(state, x, radius, out):
    """Write the mean near x to ``out``; return mass, and points compared in crowded leaves."""
    boxes, n_leaves = state.boxes, state.counts.shape[0]
    d = len(state.dims) if len(state.dims) > 0 else x.shape[0]
    reach = reach_of(state.rule, radius)
    mass = 0.0
    crowd = 0
    pulls = out[d : d + SLOTS]
    for k in range(d):
        out[k] = 0.0
    node = 1
    while True:
        nearest, farthest, extent = _measure(boxes[node], x, d)
        if nearest <= reach:
            if farthest <= reach and extent <= TINY * radius * TINY * radius:
                mass += _add_node(state, boxes[node], x, radius, out)
            elif node < n_leaves:
                node *= 2
                continue
            else:
                crowd += max(0, state.counts[node - n_leaves] - LEAF)
                block = state.heads[node - n_leaves]
                while block >= 0:
                    mass += _add_block(state, block, x, radius, reach, pulls, out)
                    block = state.chain[block]
        node = node_behind(node)
        if node == 1:
            break
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass, crowd


@inlined_kernel
def _measure(box, x, d):
    """Return three squares: distance of the nearest and the farthest corner, and diagonal."""
    nearest, farthest, extent = 0.0, 0.0, 0.0
    for k in range(d):
        below, above = box[k] - x[k], x[k] - box[d + k]
        gap = max(below, above, 0.0)
        span = min(below, above)
        side = box[d + k] - box[k]
        nearest += gap * gap
        farthest += span * span
        extent += side * side
    return nearest, farthest, extent


@inlined_kernel
def _add_node(state, box, x, radius, out):
    """Add a node by its mass and mean; return its mass."""
    d = x.shape[0]
    weight = box[3 * d]
    if weight > 0.0:
        square = squared_distance(box[2 * d : 3 * d], x)
        weight *= worth_of(state.rule, square, radius)
        for k in range(d):
            out[k] += weight * (box[2 * d + k] - x[k])
    return weight


@inlined_kernel
def _add_block(state, block, x, radius, reach, pulls, out):
    """Add the points of a block that lie within reach; return their mass."""
    find_pulls(state.blocks, block, state.dims, x, radius, reach, pulls)
    if state.block_weights.shape[0] > 0:
        for slot in range(pulls.shape[0]):
            pulls[slot] *= state.block_weights[block, slot]
    else:
        for slot in range(pulls.shape[0]):
            pulls[slot] *= state.weights[0]
    for k in range(x.shape[0]):
        out[k] += weighted_offsets(state.blocks, block, k, x[k], pulls)
    return total_of(pulls)
