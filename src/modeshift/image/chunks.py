"""Images in chunks of Dask: every chunk is a tile, and all work is done where Dask does it."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from modeshift.image.large import filter_in_parts, hierarchy_in_parts, paint_tile, plan_of
from modeshift.image.layout import Layout, check_mask, find_layout
from modeshift.image.plan import Request, check_workers
from modeshift.image.tiles import Tiling
from modeshift.image.tree import Hierarchy
from modeshift.io.optional import require

_FETCHED = 32  # results that are brought here together


class Chunks:
    """A Dask array as a source of tiles.

    Parameters
    ----------
    image : dask array
    layout : Layout
    mask : array or None
    """

    def __init__(self, image: Any, layout: Layout, mask: Any) -> None:
        require("dask", "dask")
        import dask.array as da

        from modeshift.engines.dask.lookout import Lookout

        if any(np.isnan(sum(each)) for each in image.chunks):
            raise ValueError(
                "image has chunks of unknown length; call image.compute_chunk_sizes() first."
            )
        self.layout = layout
        self._pixels = _bands_last(image, layout)
        self._mask = None if mask is None else da.asarray(mask).reshape(layout.grid)
        self.tiling = Tiling(self._pixels.chunks[:3])
        self._lookout = Lookout()

    def read(self, box: Any) -> tuple[Any, Any]:
        """Return pixels and mask as Dask arrays."""
        return self._pixels[box], None if self._mask is None else self._mask[box]

    def each(self, function: Callable, tasks: Iterable[tuple], n: int) -> list[Any]:
        """Compute the results and leave them with the workers."""
        import dask

        delayed = dask.delayed(function, pure=False)
        return self._lookout.persist([delayed(*arguments) for arguments in tasks])

    def reduce(self, function: Callable, results: list[Any]) -> list[Any]:
        """Compute a function of the results and leave it with the workers."""
        return self.each(function, ((result,) for result in results), len(results))

    def fetch(self, function: Callable, results: list[Any]) -> list[Any]:
        """Compute a function of the results, and bring it here.

        A worker has to hold in memory what it sends, so only some come at a time.
        """
        import dask

        delayed = [dask.delayed(function, pure=False)(result) for result in results]
        parts = (delayed[start : start + _FETCHED] for start in range(0, len(delayed), _FETCHED))
        return [each for part in parts for each in self._lookout.get(part)]


def _bands_last(image: Any, layout: Layout) -> Any:
    """Return a Dask array of three axes in space, and all bands last in one chunk."""
    import dask.array as da

    if layout.channel_axis is None:
        image = image[..., np.newaxis]
    else:
        image = da.moveaxis(image, layout.channel_axis, -1)
    while image.ndim < 4:
        image = image[np.newaxis]
    return image.rechunk({3: -1})


def hierarchy_of_chunks(image: Any, request: Request) -> Hierarchy:
    """Return the hierarchy of a Dask array; its labels are a Dask array."""
    import dask

    source = _source(image, request)
    plan = plan_of(source, request)
    found, parts = hierarchy_in_parts(source, plan)
    numbers = np.append(np.arange(1, found.n_regions + 1), 0).astype(np.int32)
    paint = dask.delayed(paint_tile)  # when asked for: labels take more room than packed tiles
    painted = [paint(*task) for task in parts.tasks(numbers)]
    tiles = dict(zip(parts.packed, painted, strict=True))
    labels = _assembled(source, tiles, np.dtype(np.int32), ())
    found.labels = labels[(0,) * (3 - len(source.layout.shape))]
    return found


def filter_chunks(image: Any, request: Request) -> Any:
    """Return the smoothed Dask array."""
    import dask.array as da

    source = _source(image, request)
    layout = source.layout
    tiles = filter_in_parts(source, plan_of(source, request))
    smoothed = _assembled(source, tiles, layout.dtype, (layout.n_bands,))
    smoothed = smoothed[(0,) * (3 - len(layout.shape))]
    if layout.channel_axis is None:
        return smoothed[..., 0]
    return da.moveaxis(smoothed, -1, layout.channel_axis)


def _source(image: Any, request: Request) -> Chunks:
    layout = find_layout(image, request.channel_axis)
    check_workers(request)
    if request.device == "cuda":
        raise ValueError("device='cuda' needs an image in memory, and image is a Dask array.")
    if request.schedule != "deterministic":
        raise ValueError(
            f"schedule={request.schedule!r} needs an image in memory, and image is a Dask array; "
            "pass image.compute(), or leave schedule out."
        )
    return Chunks(image, layout, check_mask(request.mask, layout.shape))


def _assembled(source: Chunks, tiles: dict, dtype: np.dtype, bands: tuple[int, ...]) -> Any:
    """Return delayed tiles as one Dask array."""
    import dask.array as da

    lengths, counts = source.tiling.lengths, source.tiling.counts
    blocks = [
        [
            [
                da.from_delayed(
                    tiles[i, j, k],
                    (lengths[0][i], lengths[1][j], lengths[2][k], *bands),
                    dtype,
                )
                for k in range(counts[2])
            ]
            for j in range(counts[1])
        ]
        for i in range(counts[0])
    ]
    rows = [[da.concatenate(row, axis=2) for row in plane] for plane in blocks]
    return da.concatenate([da.concatenate(plane, axis=1) for plane in rows], axis=0)
