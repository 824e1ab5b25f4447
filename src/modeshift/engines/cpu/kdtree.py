"""A balanced k-d tree over points.

The tree is perfect: with ``depth`` levels of splits it has 2**depth leaves, numbered like a heap
(node i has the children 2i and 2i + 1, the root is 1). So it needs no pointers.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel, kernel
from modeshift.engines.cpu.parallel import run_blocks


def depth_for(n: int, leaf_size: int) -> int:
    """Return the number of levels with which no leaf has more than ``leaf_size`` of n points."""
    depth = 0
    while (n - 1 >> depth) + 1 > leaf_size:
        depth += 1
    return depth


class Splits(NamedTuple):
    """A tree over sorted points.

    Attributes
    ----------
    order : (n,)
        The original index of each sorted point.
    axes, values : (L,)
        Inner node i is cut in feature ``axes[i]`` at ``values[i]``: points below are in its left
        half. L is the number of leaves.
    starts, stops : (2 L + 1,)
        Node i owns the sorted points from ``starts[i]`` to before ``stops[i]``. Since the last
        entry of ``starts`` is n, a leaf also ends where the next one starts.
    """

    order: np.ndarray
    axes: np.ndarray
    values: np.ndarray
    starts: np.ndarray
    stops: np.ndarray


def split_points(points: np.ndarray, leaf_size: int, n_jobs: int = 1) -> Splits:
    """Sort points, in place, so that each node of a tree owns a run of them.

    A node is halved at the median of the feature in which its points extend most.
    """
    n_leaves = 1 << depth_for(len(points), leaf_size)
    splits = Splits(
        order=np.arange(len(points)),
        axes=np.zeros(n_leaves, dtype=np.int32),
        values=np.zeros(n_leaves),
        starts=np.zeros(2 * n_leaves + 1, dtype=np.int64),
        stops=np.zeros(2 * n_leaves + 1, dtype=np.int64),
    )
    splits.stops[1] = splits.starts[-1] = len(points)
    cut(points, splits, n_jobs)
    return splits


def cut(points: np.ndarray, splits: Splits, n_jobs: int) -> None:
    """Cut the root and all below it; sort the points in place.

    The upper nodes are cut one after another; the parts below them are cut in parallel, one for
    each thread.
    """
    n_leaves = len(splits.axes)
    top = min(n_leaves, 1 << (n_jobs - 1).bit_length())
    for node in range(1, top):
        split_node(points, splits, node)

    def parts(start: int, stop: int) -> None:
        for part in range(start, stop):
            split_below(points, splits, top + part)

    run_blocks(parts, top, n_jobs)


@bare_kernel
def split_below(points, splits, root):
    """Cut a node and all below it."""
    n_leaves = splits.axes.shape[0]
    first, last = root, root
    while first < n_leaves:
        for node in range(first, last + 1):
            split_node(points, splits, node)
        first, last = 2 * first, 2 * last + 1


@bare_kernel
def split_node(points, splits, node):
    """Cut the run of a node into the runs of its children."""
    starts, stops = splits.starts, splits.stops
    start, stop = starts[node], stops[node]
    middle = (start + stop) // 2
    axis = _widest_axis(points, start, stop)
    _put_median(points, splits.order, axis, start, stop, middle)
    splits.axes[node], splits.values[node] = axis, points[middle, axis]
    starts[2 * node], stops[2 * node] = start, middle
    starts[2 * node + 1], stops[2 * node + 1] = middle, stop


@bare_kernel
def _widest_axis(points, start, stop):
    widest_axis, widest = 0, -1.0
    for k in range(points.shape[1]):
        low, high = points[start, k], points[start, k]
        for i in range(start, stop):
            low = min(low, points[i, k])
            high = max(high, points[i, k])
        if high - low > widest:
            widest_axis, widest = k, high - low
    return widest_axis


@bare_kernel
def _put_median(points, order, axis, start, stop, middle):
    """Sort partly (Hoare): no value before ``middle`` is larger, none after it smaller."""
    low, high = start, stop - 1
    while low < high:
        pivot = _median_of_three(
            points[low, axis], points[(low + high) // 2, axis], points[high, axis]
        )
        i, j = low, high
        while i <= j:
            while points[i, axis] < pivot:
                i += 1
            while points[j, axis] > pivot:
                j -= 1
            if i <= j:
                for k in range(points.shape[1]):
                    points[i, k], points[j, k] = points[j, k], points[i, k]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@bare_kernel
def _median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@bare_kernel
def leaf_at(axes, values, x):
    """Return the number of the leaf in whose part of space x lies."""
    node = 1
    while node < axes.shape[0]:
        node = 2 * node + (x[axes[node]] >= values[node])
    return node - axes.shape[0]


@kernel
def enclose(points, starts):
    """Compute the box of every node over sorted points: lower corner, then upper corner."""
    d = points.shape[1]
    n_leaves = starts.shape[0] // 2
    boxes = np.empty((2 * n_leaves, 2 * d))
    for node in range(n_leaves, 2 * n_leaves):
        for k in range(d):
            low = high = points[starts[node], k]
            for i in range(starts[node] + 1, starts[node + 1]):
                low, high = min(low, points[i, k]), max(high, points[i, k])
            boxes[node, k], boxes[node, d + k] = low, high
    for node in range(n_leaves - 1, 0, -1):
        for k in range(d):
            boxes[node, k] = min(boxes[2 * node, k], boxes[2 * node + 1, k])
            boxes[node, d + k] = max(boxes[2 * node, d + k], boxes[2 * node + 1, d + k])
    return boxes


@bare_kernel
def box_square(boxes, node, x):
    """Return the squared distance from x to the box of a node."""
    d = x.shape[0]
    total = 0.0
    for k in range(d):
        gap = max(boxes[node, k] - x[k], x[k] - boxes[node, d + k], 0.0)
        total += gap * gap
    return total


@bare_kernel
def node_behind(node):
    """Return the next node of a depth-first walk that skips the nodes below ``node``.

    It is node + 1 without its trailing zeros in binary; 1, the root, ends the walk.
    """
    node += 1
    while node & 1 == 0:
        node >>= 1
    return node
