"""Find the nearest target for each of many places."""

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


class NearestSearch:
    """Search for the nearest target. The tree is built once.

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
        """Return for each place the index of the nearest target; ties go to the lower index.

        If squared distances overflow, places and targets are scaled down first.
        """
        nearest, distances = self._search(self._tree, places)
        far = np.isinf(distances)
        if far.any():
            smaller = _plant(np.ldexp(self._targets, -600), self._n_jobs)
            nearest[far] = self._search(smaller, np.ldexp(places[far], -600))[0]
        return nearest

    def _search(self, tree: "_Tree", places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the nearest targets, and the squared distances to them."""
        nearest = np.empty(len(places), dtype=np.int64)
        distances = np.empty(len(places))

        def block(start: int, stop: int) -> None:
            _search_block(*tree, places, start, stop, nearest, distances)

        run_blocks(block, len(places), self._n_jobs)
        return nearest, distances


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
def _search_block(points, splits, boxes, places, start, stop, nearest, distances):
    """Search the leaf of each place first, then all nodes that may hold a nearer target."""
    n_leaves = splits.axes.shape[0]
    for i in range(start, stop):
        x = places[i]
        home = n_leaves + leaf_at(splits.axes, splits.values, x)
        nearest[i], distances[i] = points.shape[0], np.inf
        _look_through(points, splits, home, x, i, nearest, distances)
        node = 1
        while True:
            if box_square(boxes, node, x) <= distances[i] and node != home:
                if node < n_leaves:
                    node *= 2
                    continue
                _look_through(points, splits, node, x, i, nearest, distances)
            node = node_behind(node)
            if node == 1:
                break


@bare_kernel
def _look_through(points, splits, leaf, x, i, nearest, distances):
    for row in range(splits.starts[leaf], splits.starts[leaf + 1]):
        square = squared_distance(points[row], x)
        if square < distances[i] or (square == distances[i] and splits.order[row] < nearest[i]):
            nearest[i], distances[i] = splits.order[row], square
