"""Large TIFF files as a source of tiles: only the parts that a tile needs are read and decoded."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from modeshift.image.files import alpha_of, channel_axis_of, is_palette, nodata_of, reading
from modeshift.image.geo import place_tags
from modeshift.image.large import hierarchy_in_parts, paint_tile, plan_of
from modeshift.image.layout import Layout, find_layout
from modeshift.image.plan import Request
from modeshift.image.tiles import even_tiling
from modeshift.io.errors import FileError
from modeshift.io.limits import check_unpacked
from modeshift.io.optional import require
from modeshift.io.whole_file import whole_file

SIDE = 1024
"""Side of a tile in pixels."""


def _in_silence(tasks: Iterable, n: int) -> Iterable:
    return tasks


class TiffSource:
    """One page of a TIFF as a source of tiles. It is a context manager, which closes the file.

    Parameters
    ----------
    path : path
    side : int
        Largest side of a tile.
    progress : function
        Wraps n tasks and reports how many are done.
    """

    def __init__(
        self,
        path: Path,
        side: int = SIDE,
        progress: Callable[[Iterable, int], Iterable] = _in_silence,
    ) -> None:
        tifffile = require("tifffile", "image")
        self._path, self._progress = path, progress
        with reading(path, "TIFF"):
            self._tiff = tifffile.TiffFile(path)
        try:
            self._describe(side)
        except BaseException:
            self._tiff.close()
            raise

    def _describe(self, side: int) -> None:
        """Read what the file says of its pixels; refuse what cannot be read in parts."""
        with reading(self._path, "TIFF"):
            series = self._tiff.series[0]
            if len(series.pages) != 1:
                raise FileError(
                    f"{self._path} has {len(series.pages)} pages; tile by tile only a file of one "
                    "page can be read"
                )
            self._page = series.pages[0]
            if is_palette(self._page):
                raise FileError(
                    f"{self._path} has a palette; tile by tile only files with colours can be "
                    "read. Convert it to RGB first"
                )
            self.nodata = nodata_of(self._page)
            self.place_tags = place_tags(self._page)
            axis = channel_axis_of(series.axes)
            segment = _values_of_segment(self._page) * series.dtype.itemsize
            check_unpacked(str(self._path), self._path.stat().st_size, segment)
        shaped = np.broadcast_to(np.zeros((), dtype=series.dtype), series.shape)
        stored = find_layout(shaped, axis)
        self._alpha, self._n_stored = alpha_of(self._page), stored.n_bands
        self.layout: Layout = stored._replace(n_bands=stored.n_bands - (self._alpha is not None))
        self.side = side + -side % 16  # as TIFF wants it
        self.tiling = even_tiling(self.layout.grid, self.side)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._tiff.close()

    def read(self, box: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the pixels of a box, bands last, and which are not transparent."""
        _, rows, columns = (
            part.indices(length) for part, length in zip(box, self.layout.grid, strict=True)
        )
        with reading(self._path, "TIFF"):
            pixels = self._cut(rows[0], rows[1], columns[0], columns[1])
        pixels = pixels[np.newaxis, :: rows[2], :: columns[2]]
        if self._alpha is None:
            return pixels, None
        return np.delete(pixels, self._alpha, -1), pixels[..., self._alpha] > 0

    def each(self, function: Callable, tasks: Iterable[tuple], n: int) -> list[Any]:
        """Return the results of a function, one after the other."""
        return [function(*arguments) for arguments in self._progress(tasks, n)]

    def reduce(self, function: Callable, results: list[Any]) -> list[Any]:
        """Return a function of each of these results."""
        return [function(result) for result in results]

    fetch = reduce

    def _cut(self, top: int, bottom: int, left: int, right: int) -> np.ndarray:
        """Decode the segments (tiles or strips) that overlap a rectangle."""
        page, n_bands = self._page, self._n_stored
        pixels = np.zeros((bottom - top, right - left, n_bands), dtype=self.layout.dtype)
        separate = page.planarconfig == 2 and n_bands > 1
        height = page.tilelength if page.is_tiled else page.rowsperstrip
        width = page.tilewidth if page.is_tiled else page.imagewidth
        per_row = -(-page.imagewidth // width)
        per_band = per_row * -(-page.imagelength // height)
        for band in range(n_bands if separate else 1):
            for row in range(top // height, -(-bottom // height)):
                for column in range(left // width, -(-right // width)):
                    index = band * per_band + row * per_row + column
                    segment = self._segment(index)
                    if segment is None:
                        continue
                    y, x = row * height, column * width
                    rows = slice(max(top, y), min(bottom, y + segment.shape[0]))
                    columns = slice(max(left, x), min(right, x + segment.shape[1]))
                    part = segment[
                        rows.start - y : rows.stop - y, columns.start - x : columns.stop - x
                    ]
                    bands = slice(band, band + 1) if separate else slice(None)
                    pixels[
                        rows.start - top : rows.stop - top,
                        columns.start - left : columns.stop - left,
                        bands,
                    ] = part
        return pixels

    def _segment(self, index: int) -> np.ndarray | None:
        """Return the pixels of a segment, bands last; None if the file has left it out."""
        page = self._page
        offset, size = page.dataoffsets[index], page.databytecounts[index]
        if size == 0:
            return None
        handle = self._tiff.filehandle
        handle.seek(offset)
        content = handle.read(size)
        if len(content) < size:
            raise ValueError(f"it ends after {handle.size} bytes")
        decoded, _, shape = page.decode(content, index, jpegtables=page.jpegtables)
        if decoded is None:
            return None
        return decoded.reshape(shape)[0] if decoded.ndim == 4 else decoded


def _values_of_segment(page: Any) -> int:
    """Return the number of values of a tile or a strip."""
    sides = (
        (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    )
    return int(sides[0]) * int(sides[1]) * int(page.samplesperpixel)


def segment_tiff(
    out: Path, request: Request, source: TiffSource, n_regions: Any, level: Any
) -> int:
    """Write the labels of a large TIFF to another one, tile by tile; return the number of regions.

    Only one tile is in memory at a time, and the graph of the regions.
    """
    tifffile = require("tifffile", "image")
    tree, parts = hierarchy_in_parts(
        source, plan_of(source, request), effective_n_jobs(request.n_jobs)
    )
    regions = tree.regions_at(n_regions, level=level)
    numbers = np.append(regions + 1, 0).astype(np.int32)
    side = source.side

    def tiles() -> Iterator[np.ndarray]:
        for task in parts.tasks(numbers):
            labels = paint_tile(*task)[0]
            yield np.pad(labels, [(0, side - length) for length in labels.shape])

    with whole_file(out) as file:
        tifffile.imwrite(
            file, tiles(), shape=source.layout.shape, dtype=np.int32, tile=(side, side),
            photometric="minisblack",
            compression="zlib", extratags=source.place_tags,
        )  # fmt: skip
    return int(regions.max()) + 1
