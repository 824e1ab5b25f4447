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
from modeshift.engines.cpu.kdtree import split_points

MOST = 256
"""Largest number of places of a group. Their sums stay in the cache."""

_FEWEST = 8  # groups are not halved below this size
_WIDEST = 16.0  # largest spread of a group in radii; beyond it float32 decides little
_ASKED = 16  # places in the sample
_HEARD = 1024  # points in the sample

# Costs in units of comparing a staged point with a place, measured in 10 dimensions.
_WALK = 500.0  # the upper nodes
_OPEN = 5.0  # a point in a leaf that is opened
_STAGED = 25.0  # to put a point on the stage, and its share of the table


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


def plan_groups(state: TreeState, places: np.ndarray, radius: float) -> Plan:
    """Divide the places into groups, so that all walks together cost least."""
    in_order = places.copy()
    splits = split_points(in_order, _FEWEST)
    starts, stops = splits.starts[:-1], splits.stops[:-1]
    centres, spreads = np.zeros((len(starts), places.shape[1])), np.zeros(len(starts))
    _enclose(in_order, starts, stops, MOST, centres, spreads)
    share = _shell_share(state, in_order, radius)
    together, apart = _costs(state, stops - starts, spreads, radius, share)
    chosen, alone = _cheapest(together, apart)
    return Plan(
        order=splits.order,
        starts=starts[chosen],
        stops=stops[chosen],
        centres=centres[chosen],
        spreads=spreads[chosen],
        alone=np.concatenate([splits.order[starts[i] : stops[i]] for i in alone] + [[]]).astype(
            int
        ),
    )


class _ShellShare:
    """Share of the points whose distance from a place differs from the radius by up to t.

    It is measured between some of the places and some of the points.
    """

    def __init__(self, places: np.ndarray, points: np.ndarray, radius: float) -> None:
        with np.errstate(over="ignore"):
            gaps = [np.abs(np.sqrt(((points - x) ** 2).sum(axis=1)) - radius) for x in places]
        self._gaps = np.sort(np.concatenate(gaps))

    def __call__(self, thickness: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._gaps, thickness, "right") / len(self._gaps)


def _shell_share(state: TreeState, places: np.ndarray, radius: float) -> _ShellShare:
    heard = state.splits.order[:: -(-len(state.points) // _HEARD)]
    return _ShellShare(places[:: -(-len(places) // _ASKED)], state.points[heard], radius)


def _costs(
    state: TreeState, sizes: np.ndarray, spreads: np.ndarray, radius: float, share: _ShellShare
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cost of each node of the places as one group, and as single places."""
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


def _cheapest(together: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes that are groups, and the leaves of places that walk alone.

    The cheapest way below a node is to take it as one group, or the cheapest ways below its halves.
    """
    n_leaves = len(together) // 2
    least = np.minimum(together, apart)
    is_group = together <= apart
    for node in range(n_leaves - 1, 0, -1):
        halves = least[2 * node] + least[2 * node + 1]
        is_group[node] = together[node] <= halves
        least[node] = min(together[node], halves)
    groups, leaves, level = [], [], np.array([1])
    while len(level) > 0:
        groups.append(level[is_group[level]])
        level = level[~is_group[level]]
        leaves.append(level[level >= n_leaves])
        level = level[level < n_leaves]
        level = np.stack([2 * level, 2 * level + 1], axis=1).reshape(-1)
    return np.sort(np.concatenate(groups)), np.concatenate(leaves)


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
