"""Find the nearest targets of many places."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import (
    Splits,
    box_square,
    enclose,
    leaf_at,
    node_behind,
    split_points,
)
from modeshift.engines.cpu.parallel import run_blocks

_LEAF = 16


class Neighbours(NamedTuple):
    """The nearest targets of each place, from near to far.

    Attributes
    ----------
    rows : ndarray of shape (m, k)
        Indices of the targets.
    squares : ndarray of shape (m, k)
        Squared distances to them.
    """

    rows: np.ndarray
    squares: np.ndarray


class NearestSearch:
    """Search for the nearest targets. The tree is built once.

    Parameters
    ----------
    targets : ndarray of shape (n, d)
    n_jobs : int
        Threads.
    """

    def __init__(self, targets: np.ndarray, n_jobs: int = 1) -> None:
        self._targets = targets
        self._n_jobs = n_jobs
        self._tree = _plant(targets, n_jobs)

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """Return for each place the index of the nearest target; ties go to the lower index."""
        return self.several(places, 1).rows[:, 0]

    def several(self, places: np.ndarray, k: int) -> Neighbours:
        """Return the k nearest targets of each place, or all if there are fewer.

        Where squared distances overflow, only their ratios are right.
        """
        found = self._search(self._tree, places, k)
        far = np.isinf(found.squares[:, 0])
        if far.any():
            smaller = _plant(np.ldexp(self._targets, -600), self._n_jobs)
            rows, squares = self._search(smaller, np.ldexp(places[far], -600), k)
            found.rows[far] = rows
            with np.errstate(over="ignore"):
                found.squares[far] = squares / squares[:, :1] * 1e300
        return found

    def _search(self, tree: "_Tree", places: np.ndarray, k: int) -> Neighbours:
        k = min(k, len(self._targets))
        rows = np.empty((len(places), k), dtype=np.int64)
        squares = np.empty((len(places), k))

        def block(start: int, stop: int) -> None:
            _search_block(*tree, places, start, stop, rows, squares)

        run_blocks(block, len(places), self._n_jobs)
        return Neighbours(rows, squares)


def nearest_rows(targets: np.ndarray, places: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    """Return for each place the index of the nearest target; ties go to the lower index."""
    return NearestSearch(targets, n_jobs)(places)


class _Tree(NamedTuple):
    """Targets in the order of a k-d tree, its splits, and the boxes of its nodes."""

    points: np.ndarray
    splits: Splits
    boxes: np.ndarray


def _plant(targets: np.ndarray, n_jobs: int) -> _Tree:
    points = targets.copy()
    splits = split_points(points, _LEAF, n_jobs)
    return _Tree(points, splits, enclose(points, splits.starts))


@bare_kernel
def _search_block(points, splits, boxes, places, start, stop, nearest, squares):
    """Search the leaf of each place first, then all nodes that may hold a nearer target.

    ``nearest[i]`` and ``squares[i]`` are filled from near to far.
    """
    n_leaves = splits.axes.shape[0]
    last = nearest.shape[1] - 1
    for i in range(start, stop):
        x = places[i]
        home = n_leaves + leaf_at(splits.axes, splits.values, x)
        nearest[i, :] = points.shape[0]
        squares[i, :] = np.inf
        _look_through(points, splits, home, x, nearest[i], squares[i])
        node = 1
        while True:
            if box_square(boxes, node, x) <= squares[i, last] and node != home:
                if node < n_leaves:
                    node *= 2
                    continue
                _look_through(points, splits, node, x, nearest[i], squares[i])
            node = node_behind(node)
            if node == 1:
                break


@bare_kernel
def _look_through(points, splits, leaf, x, nearest, squares):
    """Sort the targets of a leaf into the nearest ones; ties go to the lower index."""
    last = nearest.shape[0] - 1
    for row in range(splits.starts[leaf], splits.starts[leaf + 1]):
        square, index = squared_distance(points[row], x), splits.order[row]
        if square > squares[last] or (square == squares[last] and index > nearest[last]):
            continue
        slot = last
        while slot > 0 and (
            square < squares[slot - 1]
            or (square == squares[slot - 1] and index < nearest[slot - 1])
        ):
            nearest[slot], squares[slot] = nearest[slot - 1], squares[slot - 1]
            slot -= 1
        nearest[slot], squares[slot] = index, square
