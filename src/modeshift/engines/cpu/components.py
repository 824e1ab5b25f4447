"""Connected components of points at most a radius apart, without comparing all pairs."""

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.jit import bare_kernel, kernel
from modeshift.engines.cpu.kdtree import enclose, split_points

_LEAF = 8


def connected_components(points: np.ndarray, radius: float) -> np.ndarray:
    """Number the connected components, by first appearance.

    All points of a box with a diagonal of at most the radius are connected at once. Then pairs of
    boxes of a k-d tree are compared, except pairs that are too far apart or connected already.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    radius : float
        Two points are connected when their squared distance is at most ``radius * radius``.

    Returns
    -------
    ndarray of shape (n,), int
    """
    points = points.copy()
    splits = split_points(points, _LEAF)
    return _connect(points, splits.order, splits.starts, radius * radius)


@kernel
def _connect(points, order, starts, reach):
    """Connect sorted points; node i of the tree owns the points from starts[i] on."""
    n, d = points.shape
    n_leaves = starts.shape[0] // 2
    boxes = enclose(points, starts)
    tight = np.zeros(2 * n_leaves, dtype=np.bool_)
    parents = np.arange(n)
    for node in range(2 * n_leaves - 1, 0, -1):
        tight[node] = _extent(boxes, node, d) <= reach
    for leaf in range(n_leaves, 2 * n_leaves):
        if tight[leaf]:
            for i in range(starts[leaf] + 1, starts[leaf + 1]):
                unite(parents, starts[leaf], i)
    for node in range(n_leaves - 1, 0, -1):
        if tight[node]:
            unite(parents, starts[2 * node], starts[2 * node + 1])
    _connect_boxes(points, starts, boxes, tight, parents, reach)
    return _number(parents, order)


@kernel
def _connect_boxes(points, starts, boxes, tight, parents, reach):
    """Connect points in different boxes: walk over pairs of nodes, and split the larger node."""
    d = points.shape[1]
    n_leaves = starts.shape[0] // 2
    waiting = [(1, 1)]
    while len(waiting) > 0:
        a, b = waiting.pop()
        if tight[a] and tight[b]:
            if root(parents, starts[a]) == root(parents, starts[b]):
                continue
            if _farthest(boxes, a, b, d) <= reach:
                unite(parents, starts[a], starts[b])
                continue
        if _nearest(boxes, a, b, d) > reach:
            continue
        if a >= n_leaves and b >= n_leaves:
            _connect_leaves(points, starts, a, b, parents, reach)
        elif a == b:
            waiting.append((2 * a, 2 * a))
            waiting.append((2 * a, 2 * a + 1))
            waiting.append((2 * a + 1, 2 * a + 1))
        elif b >= n_leaves or (a < n_leaves and a < b):
            waiting.append((2 * a, b))
            waiting.append((2 * a + 1, b))
        else:
            waiting.append((a, 2 * b))
            waiting.append((a, 2 * b + 1))


@bare_kernel
def _connect_leaves(points, starts, a, b, parents, reach):
    for i in range(starts[a], starts[a + 1]):
        for j in range(starts[b], starts[b + 1]):
            if (
                root(parents, i) != root(parents, j)
                and squared_distance(points[i], points[j]) <= reach
            ):
                unite(parents, i, j)


@bare_kernel
def _extent(boxes, node, d):
    """Return the squared diagonal of a box."""
    total = 0.0
    for k in range(d):
        side = boxes[node, d + k] - boxes[node, k]
        total += side * side
    return total


@bare_kernel
def _nearest(boxes, a, b, d):
    """Return the smallest squared distance between two boxes."""
    total = 0.0
    for k in range(d):
        gap = max(boxes[a, k] - boxes[b, d + k], boxes[b, k] - boxes[a, d + k], 0.0)
        total += gap * gap
    return total


@bare_kernel
def _farthest(boxes, a, b, d):
    """Return the largest squared distance between two boxes."""
    total = 0.0
    for k in range(d):
        span = max(boxes[a, d + k] - boxes[b, k], boxes[b, d + k] - boxes[a, k])
        total += span * span
    return total


@bare_kernel
def root(parents, i):
    """Return the root of the component of i, and shorten the path to it."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@bare_kernel
def unite(parents, i, j):
    """Join two components under the lower root."""
    a, b = root(parents, i), root(parents, j)
    if a < b:
        parents[b] = a
    else:
        parents[a] = b


@kernel
def _number(parents, order):
    """Number the components by the first of their points in the original order."""
    n = parents.shape[0]
    places = np.empty(n, dtype=np.int64)
    for i in range(n):
        places[order[i]] = i
    numbers = np.full(n, -1)
    components = np.empty(n, dtype=np.int64)
    n_components = 0
    for i in range(n):
        first = root(parents, places[i])
        if numbers[first] < 0:
            numbers[first] = n_components
            n_components += 1
        components[i] = numbers[first]
    return components
