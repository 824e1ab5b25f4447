"""Which places share a walk: groups of places, chosen by a sample of questions.

The places are cut into halves, and halves of halves (a k-d tree). A large group shares the cost of
a walk among many places, and its shell is thick. Whether two halves cost less than the whole is
estimated: some of the places are asked for their distances from some of the points. That gives the
share of the points that lie in a shell of any thickness. No clock decides, so that a fit always
takes the same way.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import quick_square
from modeshift.engines.cpu.fields.pack_lanes import PACK
from modeshift.engines.cpu.fields.shell import LUMP, box_squares
from modeshift.engines.cpu.fields.tree_state import TreeState, leaf_of
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import node_behind, split_points

MOST = 1024
"""Largest number of places of a group. Their sums stay in the cache."""

_SMALL = 256  # a group may have as many places, whatever their total
_SHARES = 32  # larger groups have at most such a share of all places, for threads
_FEWEST = 8  # groups are not halved below this size
_WIDEST = 16.0  # largest spread of a group in radii; beyond it float32 decides little
_ASKED = 16  # places in the sample, at most
_PER_ASKED = 64  # places for each of them, at least
_HEARD = 256  # points in the sample, at most
_BINS = 128  # for spreads
_FINEST = 2.0**-26  # largest spread of the first bin, in radii
_NO_NODE, _ROOT = 0, 1  # the spread of no node is 0, as that of a single place


class Costs(NamedTuple):
    """Costs of walks, in units of comparing a point on the stage with a place.

    Attributes
    ----------
    walk, walk_alone : float
        The upper nodes, for a group and for a place that walks alone.
    opened, opened_alone : float
        A point in a leaf that is opened.
    staged : float
        To put a point on the stage, and its share of the table.
    """

    walk: float
    walk_alone: float
    opened: float
    opened_alone: float
    staged: float


_IN_FEW = Costs(walk=16000.0, walk_alone=1200.0, opened=20.0, opened_alone=2.8, staged=33.0)
_IN_MANY = Costs(walk=1000.0, walk_alone=1000.0, opened=16.0, opened_alone=16.0, staged=60.0)
"""Measured in 2 and in 10 dimensions. In few of them single walks are vector instructions."""


class PackCosts(NamedTuple):
    """Costs of packs, in the same units.

    Attributes
    ----------
    walk : float
        The upper nodes.
    opened, boxed : float
        A point in a leaf that is opened: for the pack, and for each place.
    compared : float
        A point in a leaf that the border of a place cuts, for this place.
    """

    walk: float
    opened: float
    boxed: float
    compared: float


_PACKS = PackCosts(walk=8000.0, opened=3.0, boxed=0.07, compared=1.0)
"""Measured in 2 dimensions."""


class Plan(NamedTuple):
    """Groups, and places that walk alone.

    Attributes
    ----------
    order : ndarray
        The places that have a group.
    starts : (G + 1,)
        Group g is ``order[starts[g] : starts[g + 1]]``.
    centres : (G, d)
    spreads : (G,)
        Largest distance of a place of the group from its centre.
    packed : bool
        Whether groups are answered as packs (``packs.py``), or with shells (``shell.py``).
    alone : ndarray
        The other places.
    gain : float
        How many times less the plan costs than places that all walk alone (estimated).
    """

    order: np.ndarray
    starts: np.ndarray
    centres: np.ndarray
    spreads: np.ndarray
    packed: bool
    alone: np.ndarray
    gain: float


def plan_groups(state: TreeState, places: np.ndarray, radius: float, n_jobs: int = 1) -> Plan:
    """Divide the places into groups, so that all walks together cost least."""
    in_order = places.copy()
    splits = split_points(in_order, _FEWEST, n_jobs)
    starts, stops = splits.starts[:-1], splits.stops[:-1]
    centres, spreads = np.zeros((len(starts), places.shape[1])), np.zeros(len(starts))
    most = min(MOST, max(_SMALL, len(places) // _SHARES))
    _enclose(in_order, starts, stops, most, centres, spreads)
    sizes = stops - starts
    opened, shell = _estimate(state, in_order, radius, spreads)
    few = len(state.dims) > 0
    costs = _IN_FEW if few else _IN_MANY
    apart = sizes * (costs.walk_alone + costs.opened_alone * opened[_NO_NODE])
    together = costs.walk + costs.opened * opened + (costs.staged + sizes) * shell
    together[(sizes > most) | (spreads > _WIDEST * radius)] = np.inf
    cuts = [_halve(together, apart)]
    if few:
        together = _PACKS.walk + _PACKS.compared * sizes * opened[_NO_NODE]
        together += (_PACKS.opened + _PACKS.boxed * sizes) * opened
        together[sizes > PACK] = np.inf
        cuts.append(_halve(together, apart))
    best = int(np.argmin([cut.cost for cut in cuts]))
    cost, groups, leaves = cuts[best]
    single = np.zeros(len(places), dtype=bool)
    for leaf in leaves:
        single[starts[leaf] : stops[leaf]] = True
    return Plan(
        order=splits.order[~single],
        starts=np.concatenate([[0], np.cumsum(sizes[groups])]),
        centres=centres[groups],
        spreads=spreads[groups],
        packed=best > 0,
        alone=splits.order[single],
        gain=apart[_ROOT] / cost,
    )


class _Cut(NamedTuple):
    """Where the halving stops: the cost, the nodes that are groups, and those that walk alone."""

    cost: float
    groups: np.ndarray
    leaves: np.ndarray


def _halve(together: np.ndarray, apart: np.ndarray) -> _Cut:
    """Choose nodes with the least cost: each node together, in halves, or a leaf one by one."""
    parted, least = apart < together, np.minimum(together, apart)
    nodes = np.empty(len(together) // 2, dtype=np.int64)
    nodes = nodes[: _cut(together, least, parted, nodes)]
    return _Cut(least[_ROOT], nodes[~parted[nodes]], nodes[parted[nodes]])


def _estimate(
    state: TreeState, places: np.ndarray, radius: float, spreads: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what walks for groups of these spreads have to do.

    The first array has the number of points in the leaves that are opened, the second that of the
    points in the shell. Both are means over some of the places, from some of the points.
    """
    asked = places[:: max(_PER_ASKED, -(-len(places) // _ASKED))].copy()
    heard = state.splits.order[:: -(-len(state.points) // _HEARD)]
    changes = np.zeros((2, _BINS))
    _listen(state, asked, heard, radius, changes)
    bins = np.empty(len(spreads), dtype=np.int64)
    _find_bins(spreads, radius, bins)
    share = len(state.points) / (len(asked) * len(heard))
    opened, shell = share * np.cumsum(changes, axis=1)[:, bins]
    return opened, shell


@bare_kernel
def _listen(state, asked, heard, radius, changes):
    """Count by spread, in bins, from where on and up to where points are opened or in the shell.

    A point is in the shell if the spread is at least the difference of its distance and the radius,
    and its leaf is opened if that holds for a place in it. Neither happens if the leaf is a lump.
    """
    n_leaves = state.counts.shape[0]
    for i in range(asked.shape[0]):
        for j in heard:
            leaf = n_leaves + leaf_of(state.homes, state.slots, j)
            nearest, farthest, diagonal = box_squares(state.boxes, leaf, asked[i])
            opens = max(radius - np.sqrt(farthest), np.sqrt(nearest) - radius)
            enters = abs(np.sqrt(quick_square(asked[i], state.points[j])) - radius)
            lump = np.sqrt(diagonal) / LUMP
            for k, start in enumerate((opens, enters)):
                if start < lump:
                    changes[k, _bin(start / radius)] += 1.0
                    changes[k, _bin(lump / radius)] -= 1.0


@bare_kernel
def _find_bins(spreads, radius, bins):
    for i in range(spreads.shape[0]):
        bins[i] = _bin(spreads[i] / radius)


@bare_kernel
def _bin(ratio):
    """Return the bin of a spread: there are four for every doubling, the first is for 0."""
    if ratio <= _FINEST:
        return 0
    return int(min(4.0 * np.log2(ratio / _FINEST) + 1.0, _BINS - 1.0))


@bare_kernel
def _cut(together, least, parted, nodes):
    """Find the nodes at which the halving stops; return their number.

    ``least`` and ``parted`` come with the values of the leaves: the least cost, and whether the
    node costs less in parts than together.
    """
    n_leaves = together.shape[0] // 2
    for node in range(n_leaves - 1, 0, -1):
        halves = least[2 * node] + least[2 * node + 1]
        parted[node] = halves < together[node]
        least[node] = min(together[node], halves)
    n_nodes, node = np.int64(0), np.int64(1)
    while True:
        if parted[node] and node < n_leaves:
            node *= 2
            continue
        nodes[n_nodes] = node
        n_nodes += 1
        node = node_behind(node)
        if node == 1:
            return n_nodes


@bare_kernel
def _enclose(places, starts, stops, most, centres, spreads):
    """Compute centre and spread of each run of at most ``most`` places."""
    for node in range(1, starts.shape[0]):
        start, stop = starts[node], stops[node]
        if stop - start > most:
            continue
        square = 0.0
        for k in range(places.shape[1]):
            low = high = places[start, k]
            for i in range(start + 1, stop):
                low, high = min(low, places[i, k]), max(high, places[i, k])
            centres[node, k] = low + 0.5 * (high - low)
        for i in range(start, stop):
            square = max(square, quick_square(places[i], centres[node]))
        spreads[node] = np.sqrt(square)
