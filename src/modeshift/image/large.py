"""Images that are read in parts: Dask arrays, and files (``tiff.py``)."""

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from modeshift.image.layout import NOTHING, Layout, find_valid
from modeshift.image.plan import (
    Plan,
    Request,
    Survey,
    check_nodata,
    make_plan,
    make_survey,
    sample_lattice,
)
from modeshift.image.segmenting import hierarchy_of, settle, smooth
from modeshift.image.tiles import (
    Box,
    Tile,
    Tiling,
    climb_tile,
    solve_all,
    solve_tile,
    stitch,
    unpack,
)
from modeshift.image.tree import Hierarchy

At = tuple[int, int, int]


class Source(Protocol):
    """An image that is read in parts.

    Attributes
    ----------
    layout : Layout
    tiling : Tiling
    """

    layout: Layout
    tiling: Tiling

    def read(self, box: Any) -> tuple[Any, Any]:
        """Return pixels with bands last, and the mask or None, at once or as delayed objects."""
        ...

    def each(self, function: Callable, tasks: Iterable[tuple], n: int) -> list[Any]:
        """Return the results of a function for n tuples of arguments, where the work is done."""
        ...

    def reduce(self, function: Callable, results: list[Any]) -> list[Any]:
        """Return a function of each of these results, where they are."""
        ...

    def fetch(self, function: Callable, results: list[Any]) -> list[Any]:
        """Return a function of each of these results, here."""
        ...


class Extent(NamedTuple):
    """Lowest and highest values of a part; None: no pixel counts."""

    low: np.ndarray
    high: np.ndarray


def plan_of(source: Source, request: Request) -> Plan:
    """Check the parameters; look at the values, part by part, if their extent is not known."""

    def survey() -> Survey:
        nodata = check_nodata(request.nodata)
        cores = [core for _, core in source.tiling.cores()]
        lattice = sample_lattice(source.layout.grid)
        extents = ((*source.read(core), nodata) for core in cores)
        sampled = ((*source.read(box), nodata) for box in [lattice])
        *parts, sample = source.fetch(
            _same, source.each(_extent, extents, len(cores)) + source.each(_sample, sampled, 1)
        )
        found = [part for part in parts if part is not None]
        if not found:
            raise ValueError(NOTHING)
        low = np.min([part.low for part in found], axis=0)
        high = np.max([part.high for part in found], axis=0)
        return make_survey(low, high, sample)

    return make_plan(request, source.layout, survey)


class Parts(NamedTuple):
    """The tiles of a hierarchy, and the final region of each of their regions.

    Attributes
    ----------
    packed : dict of place to bytes
        Compressed labels of the tiles, or what stands for them, if the source keeps them elsewhere.
    regions : dict of place to ndarray
    shapes : dict of place to shape
    """

    packed: dict[At, Any]
    regions: dict[At, np.ndarray]
    shapes: dict[At, tuple[int, ...]]

    def tasks(self, values: np.ndarray) -> Iterator[tuple]:
        """Return the arguments of ``paint_tile`` for each tile.

        ``values`` holds one for each final region, and one for "no data" at the end.
        """
        for at, packed in self.packed.items():
            table = np.append(values[self.regions[at]], values[-1:], axis=0)
            yield packed, table, self.shapes[at]


def hierarchy_in_parts(source: Source, plan: Plan, n_threads: int = 1) -> tuple[Hierarchy, Parts]:
    """Return the hierarchy, without labels, and the tiles."""
    tiles = _solved(source, plan, _solve_tile, n_threads)
    graphs = [_unpack_graph(each) for each in source.fetch(_graph_of, list(tiles.values()))]
    graph, owners = stitch(_at(tiles, graphs))
    packed = _at(tiles, source.reduce(_labels_of, list(tiles.values())))  # the graph is here now
    if len(graph.sizes) == 0:
        raise ValueError(NOTHING)
    final, graph = settle(plan, graph)
    shapes = {at: _shape(core) for at, core in source.tiling.cores()}
    parts = Parts(packed, {at: final[owners[at]] for at in tiles}, shapes)
    return hierarchy_of(plan, None, graph), parts


def filter_in_parts(source: Source, plan: Plan, n_threads: int = 1) -> dict[At, Any]:
    """Return the smoothed tiles, bands last."""
    return _solved(source, plan, _smooth_tile, n_threads)


def _solved(source: Source, plan: Plan, function: Callable, n_threads: int) -> dict[At, Any]:
    """Return the result of a function for each tile, with margins that are wide enough."""

    def solve(asked: list[tuple[Box, Box]]) -> list[Any]:
        tasks = ((plan, *source.read(box), core, box, n_threads) for core, box in asked)
        results = source.each(function, tasks, len(asked))
        left = source.fetch(_is_none, results)
        return [None if gone else result for gone, result in zip(left, results, strict=True)]

    return solve_all(plan, source.tiling, solve)


class _Kept(NamedTuple):
    """A tile while others are solved: compressed labels, and the compressed tile without them."""

    labels: bytes
    graph: bytes


def _solve_tile(*arguments: Any) -> _Kept | None:
    tile = solve_tile(*arguments)
    if tile is None:
        return None
    return _Kept(tile.packed, zlib.compress(pickle.dumps(tile._replace(packed=b"")), 1))


def _labels_of(kept: _Kept) -> bytes:
    return kept.labels


def _graph_of(kept: _Kept) -> bytes:
    return kept.graph


def _unpack_graph(graph: bytes) -> Tile:
    """Return a tile without labels. The bytes come from workers of our own."""
    tile: Tile = pickle.loads(zlib.decompress(graph))
    return tile


def _smooth_tile(
    plan: Plan, pixels: np.ndarray, mask: np.ndarray | None, core: Box, box: Box, n_threads: int
) -> np.ndarray | None:
    climbed = climb_tile(plan, pixels, mask, core, box, n_threads)
    if climbed is None:
        return None
    block, ends, inside = climbed
    return smooth(plan, ends, block.valid, pixels, n_threads)[inside]


def _extent(pixels: np.ndarray, mask: np.ndarray | None, nodata: float | None) -> Extent | None:
    values = pixels[find_valid(pixels, mask, nodata)]
    if len(values) == 0:
        return None
    return Extent(values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64))


def _sample(pixels: np.ndarray, mask: np.ndarray | None, nodata: float | None) -> np.ndarray:
    return pixels[find_valid(pixels, mask, nodata)]


def paint_tile(packed: bytes, table: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a tile with the values of its regions; the last value is for "no data"."""
    return table[unpack(packed, shape)]


def _at(places: Iterable[At], things: list[Any]) -> dict[At, Any]:
    return dict(zip(places, things, strict=True))


def _shape(core: Box) -> tuple[int, ...]:
    return tuple(part.stop - part.start for part in core)


def _is_none(result: Any) -> bool:
    return result is None


def _same(result: Any) -> Any:
    return result
