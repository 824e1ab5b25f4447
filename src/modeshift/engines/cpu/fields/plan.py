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
from modeshift.engines.cpu.fields.tree import TreeState
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import node_behind, split_points

MOST = 256
"""Largest number of places of a group. Their sums stay in the cache."""

_FEWEST = 8  # groups are not halved below this size
_WIDEST = 16.0  # largest spread of a group in radii; beyond it float32 decides little
_ASKED = 16  # places in the sample
_HEARD = 512  # points in the sample

# Costs in units of comparing a staged point with a place, measured in 10 dimensions.
_WALK = 1000.0  # the upper nodes
_OPEN = 16.0  # a point in a leaf that is opened
_STAGED = 60.0  # to put a point on the stage, and its share of the table


class Plan(NamedTuple):
    """Groups, and places that walk alone.

    Attributes
    ----------
    order : (m,)
        The places, so that each group is a run of them.
    starts, stops : (G,)
        Group g is ``order[starts[g]:stops[g]]``.
    centres : (G, d)
    spreads : (G,)
        Largest distance of a place of the group from its centre.
    alone : ndarray
        Numbers of the other places.
    """

    order: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    centres: np.ndarray
    spreads: np.ndarray
    alone: np.ndarray


def plan_groups(state: TreeState, places: np.ndarray, radius: float, n_jobs: int = 1) -> Plan:
    """Divide the places into groups, so that all walks together cost least."""
    in_order = places.copy()
    splits = split_points(in_order, _FEWEST, n_jobs)
    starts, stops = splits.starts[:-1], splits.stops[:-1]
    centres, spreads = np.zeros((len(starts), places.shape[1])), np.zeros(len(starts))
    _enclose(in_order, starts, stops, MOST, centres, spreads)
    together, apart = _costs(state, stops - starts, spreads, radius, _gaps(state, in_order, radius))
    parted = apart < together
    nodes = np.empty(len(splits.axes), dtype=np.int64)
    nodes = nodes[: _cut(together, np.minimum(together, apart), parted, nodes)]
    groups, leaves = nodes[~parted[nodes]], nodes[parted[nodes]]
    alone = [splits.order[starts[leaf] : stops[leaf]] for leaf in leaves]
    return Plan(
        order=splits.order,
        starts=starts[groups],
        stops=stops[groups],
        centres=centres[groups],
        spreads=spreads[groups],
        alone=np.concatenate(alone) if alone else splits.order[:0],
    )


def _gaps(state: TreeState, places: np.ndarray, radius: float) -> np.ndarray:
    """Return | |x - p| - h | for some places x and some points p, sorted."""
    asked = places[:: -(-len(places) // _ASKED)]
    heard = state.splits.order[:: -(-len(state.points) // _HEARD)]
    gaps = np.empty((len(asked), len(heard)))
    _measure(asked, state.points, heard, radius, gaps)
    return np.sort(gaps, axis=None)


@bare_kernel
def _measure(asked, points, heard, radius, gaps):
    for i in range(asked.shape[0]):
        for j in range(heard.shape[0]):
            gaps[i, j] = abs(np.sqrt(quick_square(asked[i], points[heard[j]])) - radius)


def _costs(
    state: TreeState, sizes: np.ndarray, spreads: np.ndarray, radius: float, gaps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cost of each node of the places as one group, and as single places.

    A point is in the shell of a group if its gap is at most the spread. Its leaf is opened if a
    part of the leaf is in the shell.
    """

    def share(thickness: np.ndarray) -> np.ndarray:
        return np.searchsorted(gaps, thickness, "right") / len(gaps)

    n, leaf = len(state.points), _leaf_spread(state)
    shell, opened = n * share(spreads), n * share(spreads + leaf)
    together = _WALK + _OPEN * opened + (_STAGED + sizes) * shell
    together[(sizes > MOST) | (spreads > _WIDEST * radius)] = np.inf
    return together, sizes * (_WALK + _OPEN * n * share(np.array([leaf])))


def _leaf_spread(state: TreeState) -> float:
    """Return the mean distance between the middle of a leaf and its corners."""
    d, n_leaves = state.points.shape[1], len(state.counts)
    boxes = state.nodes[n_leaves:][state.counts > 0]
    with np.errstate(over="ignore"):
        sides = boxes[:, d : 2 * d] - boxes[:, :d]
        return 0.5 * float(np.sqrt((sides**2).sum(axis=1)).mean())


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
    n_nodes = 0
    node = 1
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
