"""The field on a tree of boxes, which is updated when points move.

``tree_state.py`` holds the tree, ``flat_in_tree.py``, ``gaussian_in_tree.py`` and
``nearest_in_tree.py`` ask it, ``moves_in_tree.py`` moves points. When searches in crowded leaves
have cost as much as a new tree, the field is tended: the tree is rebuilt.
"""

from copy import copy, deepcopy
from typing import Self

import numpy as np

from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.moves_in_tree import arrive, arrive_late, depart
from modeshift.engines.cpu.fields.protocol import wants_care
from modeshift.engines.cpu.fields.tree_state import (
    FEW,
    LEAF,
    LEVELS,
    NOWHERE,
    SLOTS,
    WARDS,
    WIDE,
    TreeState,
    join_top,
    settle_wards,
)  # fmt: skip
from modeshift.engines.cpu.jit import kernel
from modeshift.engines.cpu.kdtree import cut, depth_for, leaf_at, split_points
from modeshift.engines.cpu.parallel import run_shares, threads_for
from modeshift.engines.rule import Flat

_LARGE = 1 << 16  # points from which it pays to ask steps together (measured)
_AHEAD = 1536  # those steps: more cost more corrections, fewer leave threads idle
_QUESTIONS, _MOVES = 384, 768  # those that take longer than waking a thread, where that is slow


class TreeField(Field):
    """Field on a tree of boxes."""

    _n_moved = 0  # points moved in copies since the tree was built

    @property
    def ahead(self) -> int:
        """Number of stochastic steps that are best asked together; 1 if one after the other."""
        large = isinstance(self.rule, Flat) and len(self.points) >= _LARGE
        return _AHEAD if large else 1

    @property
    def asks_together(self) -> bool:
        """Whether many questions together may cost less than each by itself."""
        return False

    @property
    def thread_load(self) -> int:
        """Least number of questions for which it pays to wake a thread; they are short if flat."""
        is_short = isinstance(self.rule, Flat) and self.points.shape[1] <= FEW
        return _QUESTIONS if is_short else 1

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
        other.move_points(rows, places)
        return other

    def move_points(self, rows: np.ndarray, places: np.ndarray) -> None:
        """Move some of the points, on all threads. No point may be there twice."""
        state, n_wards = self.state, len(self.state.free)
        goals = np.empty(len(rows), dtype=np.int64)
        n_jobs = threads_for(len(rows), _MOVES, self.n_jobs)
        run_shares(lambda *wards: depart(state, rows, places, goals, *wards), n_wards, n_jobs)
        run_shares(lambda *wards: arrive(state, rows, places, goals, *wards), n_wards, n_jobs)
        arrive_late(state, rows, places, goals)
        self.tend()

    def tend(self) -> None:
        """Rebuild the tree over the current positions, if the field needs it."""
        state = self.state
        if wants_care(state):
            state.splits.order[:] = np.arange(len(state.points))
            cut(state.points.copy(), state.splits, self.n_jobs)
            self._settle(state)

    def _build(self, points: np.ndarray) -> TreeState:
        n, d = points.shape
        splits = split_points(points.copy(), LEAF, self.n_jobs)
        n_leaves = len(splits.axes)
        n_wards = min(WARDS, n_leaves)
        # Each ward has enough blocks for its own points, and all together for any distribution.
        n_blocks = n_wards * ((n // n_wards + 1) // SLOTS + 1 + n_leaves // n_wards)
        alike = bool((self.weights == self.weights[0]).all())
        state = TreeState(
            dims=(0,) * d if d <= FEW else (),
            points=points,
            weights=self.weights,
            rule=self.rule,
            splits=splits,
            boxes=np.empty((2 * n_leaves, 3 * d + 1)),
            nodes=_empty_nodes(-(-2 * n_leaves // WIDE), d),
            width=1 << depth_for(n, LEAF) % LEVELS,
            counts=np.zeros(n_leaves, dtype=np.int32),
            heads=np.empty(n_leaves, dtype=np.int32),
            chain=np.full(n_blocks + 1, -1, dtype=np.int32),
            homes=np.empty(n_blocks, dtype=np.int32),
            members=np.empty((n_blocks, SLOTS), dtype=np.int32),
            blocks=np.full((n_blocks + 1, d, SLOTS), NOWHERE),
            block_weights=np.zeros((0 if alike else n_blocks, SLOTS)),
            slots=np.empty(n, dtype=np.int64),
            free=np.empty(n_wards, dtype=np.int32),
            bits=(n_leaves // n_wards).bit_length() - 1,
            marks=np.zeros(2 * n_leaves, dtype=np.bool_),
            waste=np.zeros(1),
        )
        self._settle(state)
        return state

    def _settle(self, state: TreeState) -> None:
        """Put all points into the leaves given by the splits, and compute the sums."""
        n_wards = len(state.free)
        run_shares(lambda *wards: settle_wards(state, *wards), n_wards, self.n_jobs)
        join_top(state)
        state.waste[0] = 0.0

    def _order(self, places: np.ndarray) -> np.ndarray:
        splits = self.state.splits
        return splits.order if places is self.points else _by_leaf(splits, places)


def _empty_nodes(n_groups: int, d: int) -> np.ndarray:
    """Return nodes without points; some remain so, to fill up the groups of a tiny tree."""
    nodes = np.zeros((n_groups, 3 * d + 1, WIDE))
    nodes[:, :d] = np.inf
    nodes[:, d : 2 * d] = -np.inf
    return nodes


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
