"""Large images tile by tile, with the same result to the pixel.

A tile climbs from its core, and from one more pixel behind it, over a block with margins. A climb
whose window needs a pixel outside the block is noticed (``window.LEFT``); then the tile is solved
again with wider margins. All sums are sums of whole numbers, and regions are put into the order of
their first pixels, so nothing depends on the tiles.
"""

import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from modeshift.image.block import Block, make_block
from modeshift.image.climb import Ends, climb
from modeshift.image.descriptors import margin_of
from modeshift.image.graph import RegionGraph, joined
from modeshift.image.plan import Plan
from modeshift.image.segmenting import regions_of, seam_of

Box = tuple[slice, slice, slice]
"""A part of an image along its three axes, with starts and stops."""

_MARGIN = 12
"""Radii in the first margin. In 80 climbs of BSDS500 no pixel went further than 7 radii."""


class Seam(NamedTuple):
    """The pixels behind which another tile begins, along one axis.

    Attributes
    ----------
    labels : ndarray
        Region of each pixel on this side.
    is_joined : ndarray of bool
        Whether the pixel and the next one have the same mode.
    contrasts : ndarray of int64
    """

    labels: np.ndarray
    is_joined: np.ndarray
    contrasts: np.ndarray


class Tile(NamedTuple):
    """The regions of a tile.

    Attributes
    ----------
    graph : RegionGraph
        Regions and borders inside the tile.
    packed : bytes
        Compressed labels.
    faces : tuple of 3 ndarray or None
        Labels of the first pixels along each axis; None where the image begins.
    seams : tuple of 3 Seam or None
        None where the image ends.
    """

    graph: RegionGraph
    packed: bytes
    faces: tuple[np.ndarray | None, ...]
    seams: tuple[Seam | None, ...]


class Tiling(NamedTuple):
    """How an image is cut: the lengths of the tiles along each of three axes."""

    lengths: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of tiles along each axis."""
        return tuple(len(each) for each in self.lengths)  # type: ignore[return-value]

    def cores(self) -> Iterator[tuple[tuple[int, int, int], Box]]:
        """Return the position and the core of each tile."""
        cuts = [np.concatenate([[0], np.cumsum(each)]).tolist() for each in self.lengths]
        for at in product(*(range(count) for count in self.counts)):
            yield (
                at,
                tuple(  # type: ignore[misc]
                    slice(cut[i], cut[i + 1]) for cut, i in zip(cuts, at, strict=True)
                ),
            )


def even_tiling(grid: tuple[int, int, int], side: int) -> Tiling:
    """Cut an image into tiles of at most this side."""
    cuts = [[*range(0, length, side), length] for length in grid]
    return Tiling(tuple(tuple(b - a for a, b in pairwise(cut)) for cut in cuts))  # type: ignore[arg-type]


def solve_all(
    plan: Plan,
    tiling: Tiling,
    solve: Callable[[list[tuple[Box, Box]]], list[Any]],
) -> dict[tuple[int, int, int], Any]:
    """Return what ``solve`` returns for each tile, with margins that are wide enough.

    ``solve`` gets a list of cores and boxes around them. Where it returns None, a climb has left
    the box, and the margin is doubled.
    """
    waiting, solved, radii = dict(tiling.cores()), {}, _MARGIN
    while waiting:
        margins = [
            max(int(np.ceil(radii * radius)) + 2, least)
            for radius, least in zip(plan.radii, margin_of(plan), strict=True)
        ]
        boxes = [_box_around(core, margins, plan.layout.grid) for core in waiting.values()]
        answers = solve(list(zip(waiting.values(), boxes, strict=True)))
        for at, answer in zip(list(waiting), answers, strict=True):
            if answer is not None:
                solved[at] = answer
                del waiting[at]
        radii *= 2
    return solved


def _box_around(core: Box, margins: list[int], grid: tuple[int, int, int]) -> Box:
    return tuple(  # type: ignore[return-value]
        slice(max(part.start - margin, 0), min(part.stop + margin, length))
        for part, margin, length in zip(core, margins, grid, strict=True)
    )


def climb_tile(
    plan: Plan, pixels: np.ndarray, mask: np.ndarray | None, core: Box, box: Box, n_threads: int
) -> tuple[Block, Ends, Box] | None:
    """Climb from the core of a tile and one more pixel behind it, along each axis.

    Returns the block, the ends, and the core inside the block; None if a climb left the block.
    """
    grid = plan.layout.grid
    goes_on = np.array([[part.start > 0, part.stop < n] for part, n in zip(box, grid, strict=True)])
    block = make_block(plan, pixels, mask, goes_on, n_threads)
    inside = tuple(
        slice(part.start - whole.start, part.stop - whole.start)
        for part, whole in zip(core, box, strict=True)
    )
    asked = np.zeros(block.shape, dtype=bool)
    asked[tuple(slice(part.start, part.stop + 1) for part in inside)] = True
    ends = climb(block, plan.settings, np.flatnonzero(asked & block.valid), n_threads)
    return None if ends.n_left else (block, ends, inside)  # type: ignore[return-value]


def solve_tile(
    plan: Plan, pixels: np.ndarray, mask: np.ndarray | None, core: Box, box: Box, n_threads: int = 1
) -> Tile | None:
    """Return the regions of a tile; None if a climb left the box."""
    climbed = climb_tile(plan, pixels, mask, core, box, n_threads)
    if climbed is None:
        return None
    block, ends, inside = climbed
    regions, described = regions_of(
        plan, block, ends, inside, tuple(part.start for part in core), plan.layout.grid, n_threads
    )
    labels = regions.labels.astype(np.int32)
    seams: list[Seam | None] = []
    for axis, (part, length) in enumerate(zip(core, plan.layout.grid, strict=True)):
        if part.stop == length:
            seams.append(None)
            continue
        last = np.take(labels, -1, axis)
        seams.append(Seam(last, *seam_of(plan, block, ends, inside, described, axis)))
    faces = tuple(
        np.take(labels, 0, axis) if part.start > 0 else None for axis, part in enumerate(core)
    )
    return Tile(regions.graph, zlib.compress(labels.tobytes(), 1), faces, tuple(seams))


def unpack(packed: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """Return the labels of a tile from its compressed labels."""
    return np.frombuffer(zlib.decompress(packed), dtype=np.int32).reshape(shape)


def stitch(
    tiles: dict[tuple[int, int, int], Tile],
) -> tuple[RegionGraph, dict[tuple[int, int, int], np.ndarray]]:
    """Join the regions of all tiles.

    Returns the graph of the whole image, in the order of first pixels, and for each tile the
    regions there that its own ones are parts of.
    """
    places = list(tiles)
    starts = np.cumsum([0, *(len(tiles[at].graph.sizes) for at in places)])
    offsets = dict(zip(places, starts[:-1].tolist(), strict=True))
    pairs, contrasts, links = [], [], [np.empty((0, 2), dtype=np.int64)]
    for at, tile in tiles.items():
        for axis, seam in enumerate(tile.seams):
            if seam is None:
                continue
            behind = tuple(i + (k == axis) for k, i in enumerate(at))
            a, b = seam.labels.ravel(), tiles[behind].faces[axis].ravel()  # type: ignore[index, union-attr]
            both = (a >= 0) & (b >= 0)
            pair = np.stack([a[both] + offsets[at], b[both] + offsets[behind]], axis=1)  # type: ignore[index]
            is_joined = seam.is_joined.ravel()[both]
            links.append(pair[is_joined])
            pairs.append(pair)
            contrasts.append(seam.contrasts.ravel()[both])
    n = int(starts[-1])
    graphs = [tiles[at].graph for at in places]
    owners, n_regions = _components(np.concatenate(links), n, [graph.firsts for graph in graphs])
    across = np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)
    edges = [graph.edges + offsets[at] for at, graph in zip(places, graphs, strict=True)]
    ones = np.ones(len(across), dtype=np.int64)
    whole = RegionGraph(
        np.concatenate([graph.sizes for graph in graphs]),
        np.concatenate([graph.sums for graph in graphs]),
        np.concatenate([graph.firsts for graph in graphs]),
        np.concatenate([*edges, across]),
        np.concatenate([*(graph.lengths for graph in graphs), ones]),
        np.concatenate([*(graph.contrasts for graph in graphs), *contrasts]),
    )
    graph = joined(whole, owners, n_regions)
    return graph, {
        at: owners[start:stop]
        for at, (start, stop) in zip(places, pairwise(starts.tolist()), strict=True)
    }


def _components(links: np.ndarray, n: int, firsts: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Number the connected regions in the order of their first pixels."""
    ones = np.ones(len(links), dtype=bool)
    n_regions, owners = connected_components(
        coo_array((ones, (links[:, 0], links[:, 1])), shape=(n, n)), directed=False
    )
    first = np.full(n_regions, np.iinfo(np.int64).max)
    np.minimum.at(first, owners, np.concatenate(firsts))
    ranks = np.empty(n_regions, dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(n_regions)
    return ranks[owners], int(n_regions)
