"""Regions join their neighbours: small ones at once, all of them step by step."""

import heapq
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.components import root
from modeshift.engines.cpu.jit import bare_kernel, kernel
from modeshift.image.graph import RegionGraph

_SIZE_POWER = 0.2
_CONTRAST = 1.5
"""Chosen on 20 pictures of BSDS500 (docs/images.md)."""


class Merges(NamedTuple):
    """The order in which regions join.

    Attributes
    ----------
    pairs : ndarray of shape (m, 2), int64
        In each step the second region becomes a part of the first, which keeps its number.
    heights : ndarray of shape (m,), float64
        Cost of each step, or of an earlier one if that was higher.
    """

    pairs: np.ndarray
    heights: np.ndarray


def absorb_small(graph: RegionGraph, n_bands: int, min_size: int) -> np.ndarray:
    """Return the owner of each region: regions below ``min_size`` join the nearest in colour.

    The smallest region is first, then the one with the first pixel. Its colour is the mean of its
    modes. Among equally near neighbours the first one takes it. A region without neighbours stays.
    """
    return _absorb(
        graph.sizes.copy(), graph.sums[:, :n_bands].astype(np.float64), graph.edges, min_size
    )


def merge_all(graph: RegionGraph, range_units: int, window: int) -> Merges:
    """Join regions that touch, the cheapest pair first, until none touch.

    The cost of joining i and j is

        (s / w)^0.2 sqrt(|c_i - c_j|^2 + 1.5 b^2),    s = s_i s_j / (s_i + s_j),

    with the sizes s, the number w of pixels in a window, the means c of modes and textures in
    ranges, and the mean contrast b along the border, also in ranges. Without b and with the power
    1/2 it would be the cost of Ward.
    """
    pairs, heights = _merge(
        graph.sizes.astype(np.float64),
        graph.sums / float(range_units),
        graph.edges,
        graph.lengths.astype(np.float64),
        graph.contrasts / float(range_units),
        float(window),
    )
    return Merges(pairs, heights)


@bare_kernel
def _thread(edges, n, heads, tails, following):
    """Make a list of the borders of each region. Borders 2e and 2e + 1 are the sides of edge e."""
    for region in range(n):
        heads[region] = -1
        tails[region] = -1
    for side in range(2 * edges.shape[0]):
        region = edges[side // 2, side % 2]
        following[side] = -1
        if heads[region] < 0:
            heads[region] = side
        else:
            following[tails[region]] = side
        tails[region] = side


@bare_kernel
def _append(heads, tails, following, into, other):
    """Append the borders of one region to those of another."""
    if heads[other] < 0:
        return
    if heads[into] < 0:
        heads[into] = heads[other]
    else:
        following[tails[into]] = heads[other]
    tails[into] = tails[other]
    heads[other] = -1


@kernel
def _absorb(sizes, sums, edges, min_size):
    n, n_bands = sums.shape
    owners = np.arange(n)
    heads, tails = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    following = np.empty(2 * edges.shape[0], dtype=np.int64)
    _thread(edges, n, heads, tails, following)
    waiting = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for region in range(n):
        if sizes[region] < min_size:
            waiting.append((sizes[region], region))
    heapq.heapify(waiting)
    while len(waiting) > 0:
        size, region = heapq.heappop(waiting)
        if owners[region] != region or sizes[region] != size:
            continue
        best, least = np.int64(-1), np.inf
        side = heads[region]
        while side >= 0:
            other = root(owners, edges[side // 2, 1 - side % 2])
            if other != region:
                square = 0.0
                for band in range(n_bands):
                    apart = sums[region, band] / sizes[region] - sums[other, band] / sizes[other]
                    square += apart * apart
                if square < least or (square == least and other < best):
                    best, least = other, square
            side = following[side]
        if best < 0:
            continue
        owners[region] = best
        sizes[best] += sizes[region]
        for band in range(n_bands):
            sums[best, band] += sums[region, band]
        _append(heads, tails, following, best, region)
        if sizes[best] < min_size:
            heapq.heappush(waiting, (sizes[best], best))
    for region in range(n):
        owners[region] = root(owners, region)
    return owners


@bare_kernel
def _cost(sizes, sums, length, contrast, window, a, b):
    square = 0.0
    for k in range(sums.shape[1]):
        apart = sums[a, k] / sizes[a] - sums[b, k] / sizes[b]
        square += apart * apart
    along = contrast / length
    size = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    return (size / window) ** _SIZE_POWER * np.sqrt(square + _CONTRAST * along * along)


@kernel
def _merge(sizes, sums, edges, lengths, contrasts, window):
    n, m = sizes.shape[0], edges.shape[0]
    lengths, contrasts = lengths.copy(), contrasts.copy()
    owners = np.arange(n)
    heads, tails = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    following = np.empty(2 * m, dtype=np.int64)
    _thread(edges, n, heads, tails, following)
    edge_to = np.full(n, -1, dtype=np.int64)  # the border kept with each neighbour, while scanning
    alive = np.ones(m, dtype=np.bool_)
    changes = np.zeros(m, dtype=np.int64)  # an entry of the heap is valid until its edge changes
    waiting = [
        (
            _cost(sizes, sums, lengths[e], contrasts[e], window, edges[e, 0], edges[e, 1]),
            np.int64(e),
            np.int64(0),
        )
        for e in range(m)
    ]
    heapq.heapify(waiting)
    pairs = np.empty((max(n - 1, 0), 2), dtype=np.int64)
    heights = np.empty(max(n - 1, 0))
    n_merges, height = 0, 0.0
    while len(waiting) > 0:
        cost, edge, change = heapq.heappop(waiting)
        if not alive[edge] or changes[edge] != change:
            continue
        a, b = root(owners, edges[edge, 0]), root(owners, edges[edge, 1])
        if sizes[a] < sizes[b] or (sizes[a] == sizes[b] and b < a):
            a, b = b, a
        alive[edge] = False
        owners[b] = a
        sizes[a] += sizes[b]
        sums[a] += sums[b]
        height = max(height, cost)
        pairs[n_merges] = a, b
        heights[n_merges] = height
        n_merges += 1
        _append(heads, tails, following, a, b)
        _join_borders(a, owners, edges, lengths, contrasts, alive, heads, tails, following, edge_to)
        side = heads[a]
        while side >= 0:
            e = side // 2
            other = root(owners, edges[e, 1 - side % 2])
            changes[e] += 1
            cost = _cost(sizes, sums, lengths[e], contrasts[e], window, a, other)
            heapq.heappush(waiting, (cost, np.int64(e), changes[e]))
            side = following[side]
    return pairs[:n_merges].copy(), heights[:n_merges].copy()


@bare_kernel
def _join_borders(a, owners, edges, lengths, contrasts, alive, heads, tails, following, edge_to):
    """Keep one border of region a with each neighbour, and drop those inside it."""
    before, side = -1, heads[a]
    while side >= 0:
        e = side // 2
        other = root(owners, edges[e, 1 - side % 2])
        kept = edge_to[other]
        if alive[e] and other != a and kept < 0:
            edge_to[other] = e
            before = side
        else:
            if alive[e] and other != a:
                lengths[kept] += lengths[e]
                contrasts[kept] += contrasts[e]
            alive[e] = False
            if before < 0:
                heads[a] = following[side]
            else:
                following[before] = following[side]
        side = following[side]
    tails[a] = before
    side = heads[a]
    while side >= 0:
        edge_to[root(owners, edges[side // 2, 1 - side % 2])] = -1
        side = following[side]
