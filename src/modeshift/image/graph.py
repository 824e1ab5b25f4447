"""The graph of regions that touch."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import kernel


class RegionGraph(NamedTuple):
    """Regions, and the borders between those that touch. All sums are whole numbers.

    Attributes
    ----------
    sizes : ndarray of shape (n,), int64
        Number of pixels of each region.
    sums : ndarray of shape (n, k), int64
        Sums over the pixels of a region: the colours of the modes, band by band, then textures.
    firsts : ndarray of shape (n,), int64
        The first pixel of each region, counted along the rows of the image.
    edges : ndarray of shape (m, 2), int64
        Pairs of regions that touch, the lower number first, in order.
    lengths : ndarray of shape (m,), int64
        Number of pairs of pixels that touch across the border.
    contrasts : ndarray of shape (m,), int64
        Sum of the contrasts of these pairs.
    """

    sizes: np.ndarray
    sums: np.ndarray
    firsts: np.ndarray
    edges: np.ndarray
    lengths: np.ndarray
    contrasts: np.ndarray


def joined(graph: RegionGraph, owners: np.ndarray, n: int) -> RegionGraph:
    """Return the graph of n regions, given the new region of each old one.

    New regions of which no old one is a part must not occur.
    """
    sizes = np.zeros(n, dtype=np.int64)
    np.add.at(sizes, owners, graph.sizes)
    sums = np.zeros((n, graph.sums.shape[1]), dtype=np.int64)
    np.add.at(sums, owners, graph.sums)
    firsts = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(firsts, owners, graph.firsts)
    edges = borders(owners[graph.edges], graph.lengths, graph.contrasts)
    return RegionGraph(sizes, sums, firsts, *edges)


def borders(
    pairs: np.ndarray, lengths: np.ndarray, contrasts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add up borders between the same regions; leave out those inside a region."""
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    outer = low < high
    low, high, lengths, contrasts = low[outer], high[outer], lengths[outer], contrasts[outer]
    if len(low) == 0:
        return np.empty((0, 2), dtype=np.int64), lengths, contrasts
    numbers = low * (high.max() + 1) + high
    order = np.argsort(numbers)
    numbers = numbers[order]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    firsts = order[starts]
    return (
        np.stack([low[firsts], high[firsts]], axis=1),
        np.add.reduceat(lengths[order], starts),
        np.add.reduceat(contrasts[order], starts),
    )


@kernel
def add_up_regions(labels, n, n_bands, colours, textures, offsets):
    """Return sizes, sums and first pixels of n regions; labels are -1 or a region.

    ``offsets`` are the strides of the whole image along the three axes and the number of the first
    pixel there.
    """
    depth, height, width = labels.shape
    n_textures = textures.shape[0]
    sizes = np.zeros(n, dtype=np.int64)
    sums = np.zeros((n, n_bands + n_textures), dtype=np.int64)
    firsts = np.full(n, -1, dtype=np.int64)
    for z in range(depth):
        for y in range(height):
            for x in range(width):
                region = labels[z, y, x]
                if region < 0:
                    continue
                sizes[region] += 1
                if firsts[region] < 0:
                    firsts[region] = offsets[3] + z * offsets[0] + y * offsets[1] + x * offsets[2]
                for band in range(n_bands):
                    sums[region, band] += np.int64(colours[band, z, y, x])
                for k in range(n_textures):
                    sums[region, n_bands + k] += np.int64(textures[k, z, y, x])
    return sizes, sums, firsts
