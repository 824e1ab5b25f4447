"""Images in memory: from pixels to modes, regions and their hierarchy."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import kernel
from modeshift.image import lab
from modeshift.image.block import Block
from modeshift.image.climb import Ends
from modeshift.image.descriptors import describe, sides_of
from modeshift.image.graph import RegionGraph, add_up_regions, borders, joined
from modeshift.image.layout import limits_of
from modeshift.image.merging import absorb_small, merge_all
from modeshift.image.plan import Plan
from modeshift.image.regions import find_borders, find_regions, find_seam
from modeshift.image.rows import as_rows, run_rows
from modeshift.image.tree import Hierarchy, by_size


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


class Described(NamedTuple):
    """Textures and box means of a block."""

    textures: np.ndarray
    means: np.ndarray


def regions_of(
    plan: Plan,
    block: Block,
    ends: Ends,
    core: tuple[slice, slice, slice] | None = None,
    origin: tuple[int, ...] = (0, 0, 0),
    grid: tuple[int, int, int] | None = None,
    n_threads: int = 1,
) -> tuple[Regions, Described]:
    """Return the regions of a block or of its core, before small ones join others.

    ``origin`` is the place of the core in an image of the shape ``grid``; both decide the numbers
    of first pixels.
    """
    core = (slice(None),) * 3 if core is None else core
    _, height, width = block.shape if grid is None else grid
    shape, n_bands = block.shape, plan.layout.n_bands
    places = np.ascontiguousarray(ends.places.reshape(3, *shape)[:, *core])
    colours = np.ascontiguousarray(ends.colours.reshape(-1, *shape)[:, *core])
    valid = np.ascontiguousarray(block.valid[core])
    labels, n = find_regions(valid, places, colours, plan.settings, n_threads)
    described = Described(*describe(plan, block, n_threads))
    strides = np.array([height * width, width, 1])
    offsets = np.append(strides, np.dot(strides, origin))
    textures = np.ascontiguousarray(described.textures[:, *core])
    sizes, sums, firsts = add_up_regions(labels, n, n_bands, colours, textures, offsets)
    around = np.full(shape, -1, dtype=np.int64)
    around[core] = labels
    pairs, contrasts = find_borders(
        around, described.means, described.textures, np.array(sides_of(plan))
    )
    edges = borders(pairs, np.ones(len(pairs), dtype=np.int64), contrasts)
    return Regions(labels, RegionGraph(sizes, sums, firsts, *edges)), described


def seam_of(
    plan: Plan,
    block: Block,
    ends: Ends,
    core: tuple[slice, slice, slice],
    described: Described,
    axis: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether the last pixels of a core join the next ones along an axis, and contrasts."""
    last = core[axis].stop - 1
    slab = tuple(slice(last, last + 1) if k == axis else part for k, part in enumerate(core))
    starts, stops = np.array([[part.start, part.stop] for part in slab]).T
    joins, contrasts = find_seam(
        block.valid, ends.places.reshape(3, *block.shape),
        ends.colours.reshape(-1, *block.shape), plan.settings, axis, starts, stops,
        described.means, described.textures, np.array(sides_of(plan)),
    )  # fmt: skip
    return np.take(joins, 0, axis), np.take(contrasts, 0, axis)


def settle(plan: Plan, graph: RegionGraph) -> tuple[np.ndarray, RegionGraph]:
    """Let small regions join others, and number regions by size.

    Returns the final region of each region, and the graph of the final regions.
    """
    owners = absorb_small(graph, plan.layout.n_bands, plan.min_size)
    kept, numbers = np.unique(owners, return_inverse=True)
    graph = joined(graph, numbers, len(kept))
    ranks = by_size(graph)
    return ranks[numbers], joined(graph, ranks, len(kept))


def hierarchy_of(plan: Plan, labels: Any, graph: RegionGraph) -> Hierarchy:
    """Return the hierarchy over final regions."""
    n_bands = plan.layout.n_bands
    means = graph.sums[:, :n_bands] / graph.sizes[:, np.newaxis]
    merges = merge_all(graph, plan.colours.range_units, plan.window)
    return Hierarchy(labels, graph, plan.colours.from_units(means), merges)


def smooth(
    plan: Plan, ends: Ends, valid: np.ndarray, pixels: np.ndarray, n_threads: int = 1
) -> np.ndarray:
    """Return pixels, bands last, in which those that count have the colours of their modes."""
    smoothed = np.empty(pixels.shape, dtype=plan.layout.dtype)
    n_bands, width = plan.layout.n_bands, valid.shape[2]
    units = ends.colours[:n_bands].reshape(n_bands, -1, width)
    before, after, valid_rows = as_rows(pixels), as_rows(smoothed), as_rows(valid)
    middle, factor = plan.colours.middle, plan.colours.factor
    low, high, whole = limits_of(plan.layout.dtype)

    def paint(rows: slice) -> None:
        counts = valid_rows[rows]
        after[rows] = before[rows]
        if plan.is_lab:
            colours = plan.colours.from_units(np.moveaxis(units[:, rows], 0, -1))
            rgb = lab.to_rgb(colours, plan.layout.dtype)
            np.copyto(after[rows], rgb, where=counts[..., np.newaxis])
        else:
            _paint(units[:, rows], middle, factor, counts, low, high, whole, after[rows])

    run_rows(paint, valid.shape, n_threads)
    return smoothed


@kernel
def _paint(units, middle, factor, valid, low, high, whole, pixels):
    """Write colours in units to the pixels that count."""
    for band in range(units.shape[0]):
        for row in range(valid.shape[0]):
            for i in range(valid.shape[1]):
                if valid[row, i]:
                    value = units[band, row, i] / factor[band] + middle[band]
                    value = min(max(value, low), high)
                    pixels[row, i, band] = np.rint(value) if whole else value
