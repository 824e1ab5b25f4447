"""Images in memory: from pixels to modes, regions and their hierarchy."""

from typing import NamedTuple

import numpy as np

from modeshift.image.block import Block
from modeshift.image.climb import Ends
from modeshift.image.descriptors import describe, sides_of
from modeshift.image.graph import RegionGraph, add_up_regions, borders, joined
from modeshift.image.hierarchy import Hierarchy, by_size
from modeshift.image.merging import absorb_small, merge_all
from modeshift.image.plan import Plan
from modeshift.image.regions import find_borders, find_regions


class Regions(NamedTuple):
    """Regions of a block.

    Attributes
    ----------
    labels : ndarray of shape (depth, height, width), int64
        -1 for pixels without data.
    graph : RegionGraph
    """

    labels: np.ndarray
    graph: RegionGraph


def regions_of(plan: Plan, block: Block, ends: Ends) -> Regions:
    """Return the regions of a whole image, before small ones join others."""
    shape, n_bands = block.shape, plan.layout.n_bands
    colours = ends.colours.reshape(-1, *shape)
    labels, n = find_regions(block.valid, ends.places.reshape(3, *shape), colours, plan.settings)
    textures, means = describe(plan, block)
    strides = np.array([shape[1] * shape[2], shape[2], 1, 0])
    sizes, sums, firsts = add_up_regions(labels, n, n_bands, colours, textures, strides)
    pairs, contrasts = find_borders(labels, means, textures, np.array(sides_of(plan)))
    edges = borders(pairs, np.ones(len(pairs), dtype=np.int64), contrasts)
    return Regions(labels, RegionGraph(sizes, sums, firsts, *edges))


def settle(plan: Plan, graph: RegionGraph) -> tuple[np.ndarray, RegionGraph]:
    """Let small regions join others, and number regions by size.

    Returns the final region of each region, and the graph of the final regions.
    """
    owners = absorb_small(graph, plan.layout.n_bands, plan.min_size)
    kept, numbers = np.unique(owners, return_inverse=True)
    graph = joined(graph, numbers, len(kept))
    ranks = by_size(graph)
    return ranks[numbers], joined(graph, ranks, len(kept))


def hierarchy_of(plan: Plan, labels: np.ndarray, graph: RegionGraph) -> Hierarchy:
    """Return the hierarchy over final regions."""
    n_bands = plan.layout.n_bands
    means = graph.sums[:, :n_bands] / graph.sizes[:, np.newaxis]
    merges = merge_all(graph, plan.colours.range_units, plan.window)
    return Hierarchy(labels, graph, plan.colours.from_units(means), merges)
