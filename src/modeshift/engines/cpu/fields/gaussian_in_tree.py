"""Gaussian weights in a tree of boxes, while points move.

A query scans the leaves within reach, 64 points at a time. Where many points have gathered, they
are a *lump*: a node that counts by its moments m_a = sum w_i (x_i - c)^a about a fixed hub c. With
u = (x - c) / h and the Hermite polynomials He_n, the mass of a lump near x is

    sum_i w_i exp(-|x - x_i|^2 / (2 h^2))
        = exp(-|u|^2 / 2) sum_a m_a / (a! h^|a|) prod_k He_{a_k}(u_k) .

The moments do not depend on h. A point that moves is taken out of those of the nodes above its old
place and added to those above the new one.

The error bound: let all points be within s h of the hub. Along the line to a point the Gaussian is
a Gaussian of one variable, so the terms of degree n are at most |He_n(v)| s^n / n! of the factor in
front, with |v| <= |u|. By Minkowski's inequality |He_n(v)| <= E |v + iZ|^n <= (|v| + sqrt(n))^n for
a normal variable Z. With z = (|u| + sqrt(p + 1)) s the terms behind degree p are at most
2 z^(p+1) / (p+1)! as long as z <= 1. A point weighs at least exp(-z) of the factor in front. So a
lump errs by less than ``TOLERANCE`` of its mass where 2 z^(p+1) / (p+1)! exp(z) is less.
"""

from math import exp, factorial, sqrt
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.fields.expansion import Sources
from modeshift.engines.cpu.fields.field import Means, no_means
from modeshift.engines.cpu.fields.monomials import Monomials, monomials, n_monomials
from modeshift.engines.cpu.fields.patches import Patches
from modeshift.engines.cpu.fields.protocol import (
    average_near,
    average_of,
    implements,
    make_out,
    move,
    wants_care,
)
from modeshift.engines.cpu.fields.pulls import find_pulls, in_lanes
from modeshift.engines.cpu.fields.tree import (
    LEAF,
    TreeField,
    TreeState,
    tighten,
    total_of,
    weighted_offsets,
)
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import Splits, node_behind
from modeshift.engines.rule import Rule, reach_of

TOLERANCE = 2.0**-44
"""Largest relative error of the mass of a lump."""

_MOMENTS = 64  # largest number of moments, unless one degree needs more
_LEAST = 2 * LEAF  # fewer points are compared one by one in the time of a lump
_PATIENCE = 256  # comparisons per point after which lumps are looked for again
_PATCHED = 3  # up to this number of features polynomials are short enough
_FEW = 1 << 20  # fewer comparisons are done before a patch is made
_SURELY = 1.0 - 2.0**-40  # a lump that is this far within reach is within reach
_WORK = 0  # entry of the book: comparisons since then


class GaussianState(NamedTuple):
    """A tree with lumps; m moments, 2 L nodes.

    Attributes
    ----------
    points, weights : array
        Those of the tree.
    rule : Rule
    radius : float
        That of the field.
    tree : TreeState
    monomials : Monomials
    limits : (degree + 1,)
        Largest z for each degree.
    sizes : (2 L,)
        Number of points of each node.
    hubs : (2 L, d)
    spreads : (2 L,)
        The points of a lump are at most this far from its hub. Infinite: the node is no lump.
    moments : (2 L, m)
    changes : (2 L,)
        Points that came or went since the moments were computed.
    peaks : (2 L,)
        Largest mass since then.
    powers : (m,)
        Room for the powers of an offset.
    book : (1,)
        Counts.
    """

    points: np.ndarray
    weights: np.ndarray
    rule: Rule
    radius: float
    tree: TreeState
    monomials: Monomials
    limits: np.ndarray
    sizes: np.ndarray
    hubs: np.ndarray
    spreads: np.ndarray
    moments: np.ndarray
    changes: np.ndarray
    peaks: np.ndarray
    powers: np.ndarray
    book: np.ndarray


class GaussianField(TreeField):
    """Field on a tree of boxes, with Gaussian weights."""

    state: GaussianState
    _patches: Patches | None = None
    _still = False

    def _build(self, points: np.ndarray) -> GaussianState:
        return _state_over(super()._build(points), self.radius)

    @property
    def _splits(self) -> Splits:
        return self.state.tree.splits

    def make_out(self) -> np.ndarray:
        """Return an array for the results of compiled queries, with scratch space."""
        m, d = len(self.state.monomials.axes), self.points.shape[1]
        return make_out(d, m + d * len(self.state.limits))

    def means_near(
        self, places: np.ndarray, radius: float | None = None, tol: float = np.inf
    ) -> Means:
        """Return the means near many places, with patches where they pay."""
        n, d = self.points.shape
        elsewhere = radius is not None and radius != self.radius
        if elsewhere or d > _PATCHED or n * len(places) < _FEW:
            return super().means_near(places, radius, tol)
        patches = self._patches or self._new_patches()
        if self._still:
            self._patches = patches
        answer = no_means(places)
        found = patches.find(places)
        if not patches.answer(places, found, tol, answer):
            left = np.flatnonzero(found < 0)
            order = left[self._order(places[left])]
            self._answer(places, order, self.radius, tol, answer)
        return answer

    def stand_still(self) -> None:
        """Keep patches for further queries, until a point moves."""
        self._still = True

    def move_points(self, rows: np.ndarray, places: np.ndarray) -> None:
        """Move some of the points."""
        self._patches = None
        super().move_points(rows, places)

    def _new_patches(self) -> Patches:
        reach = reach_of(self.rule, self.radius)
        return Patches(self.state, _sources_of(self.state), reach, self.n_jobs)

    def tend(self) -> None:
        """Look for lumps, if comparing points one by one has cost as much."""
        if wants_care(self.state):
            _find_lumps(self.state)


def _sources_of(state: GaussianState) -> Sources:
    """Return the points with weight, by leaf."""
    tree = state.tree
    order = np.argsort(tree.leaves, kind="stable")
    order = order[state.weights[order] > 0.0]
    counts = np.bincount(tree.leaves[order], minlength=len(tree.counts))
    return Sources(
        columns=np.ascontiguousarray(state.points[order].T),
        weights=state.weights[order],
        starts=np.concatenate([[0], np.cumsum(counts)]),
        nodes=tree.nodes,
    )


def _state_over(tree: TreeState, radius: float) -> GaussianState:
    """Return a state over a tree, with its lumps."""
    d, n_nodes = tree.points.shape[1], len(tree.nodes)
    degree = 1
    while n_monomials(d, degree + 1) <= _MOMENTS:
        degree += 1
    tables = monomials(d, degree)
    state = GaussianState(
        points=tree.points,
        weights=tree.weights,
        rule=tree.rule,
        radius=radius,
        tree=tree,
        monomials=tables,
        limits=np.array([_largest_z(p) for p in range(degree + 1)]),
        sizes=np.empty(n_nodes, dtype=np.int64),
        hubs=np.empty((n_nodes, d)),
        spreads=np.empty(n_nodes),
        moments=np.empty((n_nodes, len(tables.axes))),
        changes=np.empty(n_nodes, dtype=np.int64),
        peaks=np.empty(n_nodes),
        powers=np.empty(len(tables.axes)),
        book=np.zeros(1, dtype=np.int64),
    )
    _find_lumps(state)
    return state


def _largest_z(degree: int) -> float:
    """Return z with 2 z^(p+1) / (p+1)! exp(z) = ``TOLERANCE``, rounded down."""
    low, high = 0.0, 1.0
    while high - low > 1e-3 * low:
        z = 0.5 * (low + high)
        rest = 2.0 * z ** (degree + 1) / factorial(degree + 1) * exp(z)
        low, high = (z, high) if rest < TOLERANCE else (low, z)
    return low


@bare_kernel
def _find_lumps(state):
    """Compute the moments of all nodes whose points have gathered."""
    tree, d = state.tree, state.points.shape[1]
    n_leaves = tree.counts.shape[0]
    tighten(tree)
    state.book[_WORK] = 0
    widest = state.limits[-1] / sqrt(state.limits.shape[0])
    for node in range(2 * n_leaves - 1, 0, -1):
        if node >= n_leaves:
            state.sizes[node] = tree.counts[node - n_leaves]
        else:
            state.sizes[node] = state.sizes[2 * node] + state.sizes[2 * node + 1]
        state.spreads[node] = np.inf
        square = 0.0
        for k in range(d):
            half = 0.5 * (tree.nodes[node, d + k] - tree.nodes[node, k])
            square += half * half
        if state.sizes[node] >= _LEAST and sqrt(square) <= widest * state.radius:
            _sum_lump(state, node)


@bare_kernel
def _sum_lump(state, node):
    """Compute the moments of a node from its points, about the middle of its box."""
    tree, nodes, d = state.tree, state.tree.nodes, state.points.shape[1]
    n_leaves = tree.counts.shape[0]
    for k in range(d):
        state.hubs[node, k] = nodes[node, k] + 0.5 * (nodes[node, d + k] - nodes[node, k])
    state.moments[node, :] = 0.0
    state.spreads[node] = 0.0
    state.changes[node] = 0
    first, last = node, node
    while first < n_leaves:
        first, last = 2 * first, 2 * last + 1
    for leaf in range(first - n_leaves, last - n_leaves + 1):
        block = tree.heads[leaf]
        filled = tree.counts[leaf]
        while filled > 0:
            in_block = (filled - 1) % LEAF + 1
            for slot in range(in_block):
                _give(state, node, tree.members[block, slot], 1)
            filled -= in_block
            block = tree.chain[block]
    state.peaks[node] = state.moments[node, 0]


@bare_kernel
def _give(state, node, j, sign):
    """Add point j to the moments of a lump, or take it out."""
    powers, tables = state.powers, state.monomials
    d = state.points.shape[1]
    square = 0.0
    for k in range(d):
        offset = state.points[j, k] - state.hubs[node, k]
        square += offset * offset
    state.spreads[node] = max(state.spreads[node], sqrt(square))
    powers[0] = sign * state.weights[j]
    state.moments[node, 0] += powers[0]
    for i in range(1, powers.shape[0]):
        k = tables.axes[i]
        offset = state.points[j, k] - state.hubs[node, k]
        powers[i] = powers[tables.parents[i]] * offset
        state.moments[node, i] += powers[i]


@implements(average_near, GaussianState)
def _average_near(state, x, radius, out):
    mass, _, _ = _collect(state, x, radius, out)
    return mass


@implements(average_of, GaussianState)
def _average_of(state, j, radius, out):
    mass, scanned, crowd = _collect(state, state.points[j], radius, out)
    state.book[_WORK] += scanned
    state.tree.waste[0] += crowd
    return mass


@implements(wants_care, GaussianState)
def _wants_care(state):
    return state.book[_WORK] > _PATIENCE * state.points.shape[0]


@implements(move, GaussianState)
def _move(state, j, x):
    tree, n_leaves = state.tree, state.tree.counts.shape[0]
    waste, old = tree.waste[0], tree.leaves[j]
    _count(state, n_leaves + old, j, -1)
    move(tree, j, x)
    if tree.waste[0] < waste:  # the tree was rebuilt
        _find_lumps(state)
        return
    new = tree.leaves[j]
    _count(state, n_leaves + new, j, 1)
    _renew(state, n_leaves + old)
    if new != old:
        _renew(state, n_leaves + new)


@bare_kernel
def _count(state, node, j, sign):
    """Add point j to a leaf and all nodes above, or take it out."""
    while node > 0:
        state.sizes[node] += sign
        state.changes[node] += 1
        if state.spreads[node] < np.inf:
            _give(state, node, j, sign)
        node //= 2


@bare_kernel
def _renew(state, node):
    """Recompute lumps, from a leaf upwards, that have changed so much that rounding may show."""
    while node > 0:
        if state.spreads[node] < np.inf:
            state.peaks[node] = max(state.peaks[node], state.moments[node, 0])
            if state.sizes[node] < _LEAST:
                state.spreads[node] = np.inf
            elif (
                state.changes[node] > state.sizes[node]
                or state.moments[node, 0] < 0.5 * state.peaks[node]
            ):
                _sum_lump(state, node)
        node //= 2


@bare_kernel
def _collect(state, x, radius, out):
    """Write the mean near x to ``out``; return mass, and points compared in crowded leaves."""
    tree, nodes, n_leaves = state.tree, state.tree.nodes, state.tree.counts.shape[0]
    d = len(tree.dims) if len(tree.dims) > 0 else x.shape[0]
    reach = reach_of(state.rule, radius)
    mass = 0.0
    scanned, crowd = 0, 0
    pulls = out[d : d + LEAF]
    for k in range(d):
        out[k] = 0.0
    node = 1
    while True:
        nearest = 0.0
        for k in range(d):
            gap = max(nodes[node, k] - x[k], x[k] - nodes[node, d + k], 0.0)
            nearest += gap * gap
        if nearest <= reach:
            degree = -1
            if state.spreads[node] < np.inf:
                degree = _degree_for(state, node, x, radius, reach)
            if degree >= 0:
                mass += _add_lump(state, node, degree, x, radius, out)
            elif node < n_leaves:
                node *= 2
                continue
            else:
                block = tree.heads[node - n_leaves]
                filled = tree.counts[node - n_leaves]
                crowd += max(0, filled - LEAF)
                scanned += filled
                while filled > 0:
                    in_block = (filled - 1) % LEAF + 1
                    used = pulls[: in_lanes(in_block)]
                    mass += _add_block(tree, block, x, radius, reach, used, out)
                    filled -= in_block
                    block = tree.chain[block]
        node = node_behind(node)
        if node == 1:
            break
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass, scanned, crowd


@bare_kernel
def _degree_for(state, node, x, radius, reach):
    """Return the degree to which a lump must be summed near x; -1 if it cannot count as a whole."""
    square = 0.0
    for k in range(x.shape[0]):
        offset = x[k] - state.hubs[node, k]
        square += offset * offset
    distance, spread = sqrt(square), state.spreads[node]
    if distance + spread > _SURELY * sqrt(reach):
        return -1
    for degree in range(state.limits.shape[0]):
        if (distance / radius + sqrt(degree + 1.0)) * spread / radius <= state.limits[degree]:
            return degree
    return -1


@bare_kernel
def _add_lump(state, node, degree, x, radius, out):
    """Add the points of a lump, up to a degree of their moments; return their mass."""
    d, tables = x.shape[0], state.monomials
    room = state.limits.shape[0]
    hermite = out[d : d + d * room]
    products = out[d + d * room :]
    square = 0.0
    for k in range(d):
        u = (x[k] - state.hubs[node, k]) / radius
        square += u * u
        previous, present = 0.0, 1.0
        for n in range(degree + 1):  # He_n(u) / (n! h^n)
            hermite[k * room + n] = present
            previous, present = present, (u * present - previous / radius) / (radius * (n + 1))
    products[0] = 1.0
    mass = 0.0
    for i in range(tables.ends[degree]):
        if i > 0:
            products[i] = products[tables.rests[i]] * hermite[tables.axes[i] * room + tables.powers[i]]
        mass += state.moments[node, i] * products[i]
    pull = exp(-0.5 * square)
    for k in range(d):
        offset = 0.0
        if degree > 0:
            for i in range(tables.ends[degree - 1]):
                offset += state.moments[node, tables.ups[i, k]] * products[i]
        out[k] += pull * (offset + mass * (state.hubs[node, k] - x[k]))
    return pull * mass


@bare_kernel
def _add_block(tree, block, x, radius, reach, pulls, out):
    """Add the points of a block that lie within reach; return their mass."""
    find_pulls(tree.blocks, block, tree.dims, x, radius, reach, pulls)
    if tree.block_weights.shape[0] > 0:
        for slot in range(pulls.shape[0]):
            pulls[slot] *= tree.block_weights[block, slot]
    else:
        for slot in range(pulls.shape[0]):
            pulls[slot] *= tree.weights[0]
    for k in range(x.shape[0]):
        out[k] += weighted_offsets(tree.blocks, block, k, x[k], pulls)
    return total_of(pulls)
