"""Images that are read in parts: Dask arrays, and files (``tiff.py``)."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from modeshift.image.hierarchy import Hierarchy
from modeshift.image.layout import Layout, find_valid
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
    Tiling,
    climb_tile,
    solve_all,
    solve_tile,
    stitch,
    unpack,
)

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

    def each(self, function: Callable, tasks: list[tuple]) -> list[Any]:
        """Return the results of a function for each tuple of arguments, where the work is done."""
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
        tasks = [(*source.read(core), nodata) for _, core in source.tiling.cores()]
        lattice = sample_lattice(source.layout.grid)
        *parts, sample = source.fetch(
            _same,
            source.each(_extent, tasks) + source.each(_sample, [(*source.read(lattice), nodata)]),
        )
        found = [part for part in parts if part is not None]
        if not found:
            raise ValueError(NOTHING)
        low = np.min([part.low for part in found], axis=0)
        high = np.max([part.high for part in found], axis=0)
        return make_survey(low, high, sample)

    return make_plan(request, source.layout, survey)


NOTHING = (
    "image has no pixel that counts: all are masked or without data; check mask= and nodata=, and "
    "the image for NaN."
)


def hierarchy_in_parts(
    source: Source, plan: Plan, n_threads: int = 1
) -> tuple[Hierarchy, Callable[[np.ndarray], dict[At, Any]]]:
    """Return the hierarchy, without labels, and a function that paints regions, tile by tile.

    The function takes a value for each final region and one for "no data" at the end, and returns
    the painted tiles.
    """

    def solve(asked: list[tuple[Box, Box]]) -> list[Any]:
        tasks = [(plan, *source.read(box), core, box, n_threads) for core, box in asked]
        return _unless_left(source, source.each(solve_tile, tasks))

    tiles = solve_all(plan, source.tiling, solve)
    small = source.fetch(_without_labels, list(tiles.values()))
    graph, owners = stitch(dict(zip(tiles, small, strict=True)))
    if len(graph.sizes) == 0:
        raise ValueError(NOTHING)
    final, graph = settle(plan, graph)
    cores = dict(source.tiling.cores())

    def paint(values: np.ndarray) -> dict[At, Any]:
        tasks = [
            (
                tiles[at],
                np.append(values[final[owners[at]]], values[-1:], axis=0),
                _shape(cores[at]),
            )
            for at in tiles
        ]
        return dict(zip(tiles, source.each(_paint, tasks), strict=True))

    return hierarchy_of(plan, None, graph), paint


def filter_in_parts(source: Source, plan: Plan, n_threads: int = 1) -> dict[At, Any]:
    """Return the smoothed tiles, bands last."""

    def solve(asked: list[tuple[Box, Box]]) -> list[Any]:
        tasks = [(plan, *source.read(box), core, box, n_threads) for core, box in asked]
        return _unless_left(source, source.each(_smooth_tile, tasks))

    return solve_all(plan, source.tiling, solve)


def _unless_left(source: Source, results: list[Any]) -> list[Any]:
    left = source.fetch(_is_none, results)
    return [None if gone else result for gone, result in zip(left, results, strict=True)]


def _smooth_tile(
    plan: Plan, pixels: np.ndarray, mask: np.ndarray | None, core: Box, box: Box, n_threads: int
) -> np.ndarray | None:
    climbed = climb_tile(plan, pixels, mask, core, box, n_threads)
    if climbed is None:
        return None
    block, ends, inside = climbed
    return smooth(plan, ends, block.valid, pixels)[inside]


def _extent(pixels: np.ndarray, mask: np.ndarray | None, nodata: float | None) -> Extent | None:
    values = pixels[find_valid(pixels, mask, nodata)]
    if len(values) == 0:
        return None
    return Extent(values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64))


def _sample(pixels: np.ndarray, mask: np.ndarray | None, nodata: float | None) -> np.ndarray:
    return pixels[find_valid(pixels, mask, nodata)]


def _paint(tile: Any, table: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return table[unpack(tile, shape)]


def _shape(core: Box) -> tuple[int, ...]:
    return tuple(part.stop - part.start for part in core)


def _without_labels(tile: Any) -> Any:
    return tile._replace(packed=b"")


def _is_none(result: Any) -> bool:
    return result is None


def _same(result: Any) -> Any:
    return result
