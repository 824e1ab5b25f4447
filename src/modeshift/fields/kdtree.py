"""A balanced k-d tree: which points lie together.

The tree is perfect: with ``depth`` levels of splits it has 2**depth leaves, numbered like a heap
(node i has the children 2i and 2i + 1, the root is 1). So nothing has to be stored to walk it.
"""

import numpy as np

from modeshift._jit import bare_kernel, kernel


def depth_for(n: int, leaf_size: int) -> int:
    """Levels of splits after which no leaf holds more than ``leaf_size`` of n points."""
    depth = 0
    while (n - 1 >> depth) + 1 > leaf_size:
        depth += 1
    return depth


@kernel
def split_points(points, order, axes, values, bounds):
    """Sort ``points``, and ``order`` with them, so that each node of the tree owns a run.

    A node is halved at the median of the feature in which its points extend most. Writes that
    feature and the median of inner node i to ``axes[i]`` and ``values[i]`` (points below the value
    are in the left half), and to ``bounds[l]`` where the run of leaf l begins.
    """
    n_leaves = axes.shape[0]
    starts = np.empty(2 * n_leaves, dtype=np.int64)
    stops = np.empty(2 * n_leaves, dtype=np.int64)
    starts[1], stops[1] = 0, order.shape[0]
    for node in range(1, n_leaves):
        start, stop = starts[node], stops[node]
        middle = (start + stop) // 2
        axis = _widest_axis(points, start, stop)
        _put_median(points, order, axis, start, stop, middle)
        axes[node], values[node] = axis, points[middle, axis]
        starts[2 * node], stops[2 * node] = start, middle
        starts[2 * node + 1], stops[2 * node + 1] = middle, stop
    for leaf in range(n_leaves):
        bounds[leaf] = starts[n_leaves + leaf]
    bounds[n_leaves] = order.shape[0]


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
    """Hoare's selection: nothing before ``middle`` is larger, nothing behind it smaller."""
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
def enclose(points, bounds, boxes):
    """Compute the box of every node over sorted points: lower corner, then upper corner."""
    d = points.shape[1]
    n_leaves = bounds.shape[0] - 1
    for leaf in range(n_leaves):
        for k in range(d):
            run = points[bounds[leaf] : bounds[leaf + 1], k]
            boxes[n_leaves + leaf, k] = run.min()
            boxes[n_leaves + leaf, d + k] = run.max()
    for node in range(n_leaves - 1, 0, -1):
        for k in range(d):
            boxes[node, k] = min(boxes[2 * node, k], boxes[2 * node + 1, k])
            boxes[node, d + k] = max(boxes[2 * node, d + k], boxes[2 * node + 1, d + k])


@bare_kernel
def node_behind(node):
    """Return the node that comes after ``node`` and all below it, in the order of a walk.

    It is node + 1 less the zeros at its end in binary; 1, the root, when the walk is over.
    """
    node += 1
    while node & 1 == 0:
        node >>= 1
    return node
