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
from modeshift.engines.cpu.fields.tree_state import LEAF, SLOTS, WIDE, TreeState
from modeshift.engines.cpu.jit import bare_kernel
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
    nodes, n_leaves = state.nodes, state.counts.shape[0]
    d = x.shape[0]
    reach = reach_of(state.rule, radius)
    mass = 0.0
    crowd = 0
    for k in range(d):
        out[k] = 0.0
    node = 1
    while True:
        nearest, farthest, extent, center = _measure(nodes, node, x)
        if farthest <= reach and extent <= TINY * radius * TINY * radius:
            group, c = node // WIDE, node % WIDE
            weight = nodes[group, 3 * d, c] * worth_of(state.rule, center, radius)
            if weight > 0.0:
                mass += weight
                for k in range(d):
                    out[k] += weight * (nodes[group, 2 * d + k, c] - x[k])
        elif nearest <= reach:
            if node < n_leaves:
                node *= 2
                continue
            crowd += max(0, state.counts[node - n_leaves] - LEAF)
            mass += _add_leaf(state, node - n_leaves, x, radius, reach, out)
        node = node_behind(node)
        if node == 1:
            break
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass, crowd


@bare_kernel
def _measure(nodes, node, x):
    """Return four squares: distance of nearest and farthest corner, diagonal, distance of mean."""
    d, group, c = x.shape[0], node // WIDE, node % WIDE
    nearest, farthest, extent, center = 0.0, 0.0, 0.0, 0.0
    for k in range(d):
        below = nodes[group, k, c] - x[k]
        above = x[k] - nodes[group, d + k, c]
        gap = max(below, above, 0.0)
        span = min(below, above)
        side = nodes[group, d + k, c] - nodes[group, k, c]
        offset = nodes[group, 2 * d + k, c] - x[k]
        nearest += gap * gap
        farthest += span * span
        extent += side * side
        center += offset * offset
    return nearest, farthest, extent, center


@bare_kernel
def _add_leaf(state, leaf, x, radius, reach, out):
    """Add the weighted offsets of the points of a leaf; return their mass."""
    mass = 0.0
    block = state.heads[leaf]
    filled = state.counts[leaf]
    while filled > 0:
        in_block = (filled - 1) % SLOTS + 1
        for slot in range(in_block):
            i = state.members[block, slot]
            square = squared_distance(state.points[i], x)
            if square <= reach:
                weight = state.weights[i] * worth_of(state.rule, square, radius)
                mass += weight
                for k in range(x.shape[0]):
                    out[k] += weight * (state.points[i, k] - x[k])
        filled -= in_block
        block = state.chain[block]
    return mass
