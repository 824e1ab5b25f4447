"""The nearest of many targets, for many places."""

import numpy as np

from modeshift._jit import bare_kernel
from modeshift.fields.distance import squared_distance
from modeshift.fields.kdtree import box_square, enclose, leaf_at, node_behind, split_points
from modeshift.parallel import run_blocks

_LEAF = 16


def nearest_rows(targets: np.ndarray, places: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    """Return for each place the index of the nearest target; ties go to the lower index.

    Where squared distances overflow, both are compared on a scale on which they do not.
    """
    nearest, distances = _search(targets, places, n_jobs)
    far = np.isinf(distances)
    if far.any():
        nearest[far] = _search(np.ldexp(targets, -600), np.ldexp(places[far], -600), n_jobs)[0]
    return nearest


def _search(targets: np.ndarray, places: np.ndarray, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of and squared distances to the nearest targets."""
    points = targets.copy()
    splits = split_points(points, _LEAF, n_jobs)
    boxes = enclose(points, splits.starts)
    nearest = np.empty(len(places), dtype=np.int64)
    distances = np.empty(len(places))

    def block(start: int, stop: int) -> None:
        _search_block(points, splits, boxes, places, start, stop, nearest, distances)

    run_blocks(block, len(places), n_jobs)
    return nearest, distances


@bare_kernel
def _search_block(points, splits, boxes, places, start, stop, nearest, distances):
    """Look through the leaf of the place first, then walk through what may hold a nearer target."""
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
