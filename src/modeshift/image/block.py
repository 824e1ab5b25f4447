"""A block of an image as the kernels read it: colours in whole units, plane by plane."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel
from modeshift.image import lab
from modeshift.image.lattice import FAR
from modeshift.image.layout import find_valid
from modeshift.image.plan import Plan
from modeshift.image.rows import as_rows, run_rows
from modeshift.image.window import FEWEST, LANES


class Block(NamedTuple):
    """A block of an image: all of it, or a tile with its margins.

    Attributes
    ----------
    planes : ndarray of shape (bands or more, depth, height, pad + width + more), float32
        Colours in units of the lattice. Pixels that do not count are ``FAR``.
    pad : int
        Number of columns before the first pixel of a row.
    shape : tuple of 3 int
    goes_on : ndarray of shape (3, 2), bool
        Whether the image goes on before and behind the block, along each axis.
    valid : ndarray of shape (depth, height, width), bool
        The pixels that count.
    """

    planes: np.ndarray
    pad: int
    shape: tuple[int, int, int]
    goes_on: np.ndarray
    valid: np.ndarray


ALL_OF_IT = np.zeros((3, 2), dtype=bool)


def make_block(
    plan: Plan,
    pixels: np.ndarray,
    mask: np.ndarray | None,
    goes_on: np.ndarray = ALL_OF_IT,
    n_threads: int = 1,
) -> Block:
    """Return the block of pixels with bands last."""
    valid = find_valid(pixels, mask, plan.nodata)
    depth, height, width = shape = valid.shape
    unit, (_, _, radius) = plan.settings.unit, plan.settings.radius
    pad = radius // unit + 1
    # The last span of a row may begin at the last pixel, or beyond it after rounding.
    length = pad + width + pad + LANES
    planes = np.empty((max(plan.layout.n_bands, FEWEST), depth, height, length), dtype=np.float32)
    planes[plan.layout.n_bands :] = 0.0
    middle, factor = plan.colours.middle, plan.colours.factor
    in_rows, valid_rows = as_rows(pixels), as_rows(valid)
    plane_rows = planes.reshape(len(planes), depth * height, length)

    def fill(rows: slice) -> None:
        counts = valid_rows[rows]
        colours = _colours(plan, in_rows[rows], counts)
        _write_units(colours, counts, middle, factor, FAR, pad, plane_rows[:, rows])

    run_rows(fill, shape, n_threads)
    return Block(planes, pad, shape, goes_on, valid)


def _colours(plan: Plan, pixels: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return the colours that are compared; those of pixels that do not count mean nothing."""
    if not plan.is_lab:
        return np.array(pixels, dtype=np.float64, order="C")
    if pixels.dtype.kind == "f":  # such as NaN
        pixels = np.where(valid[..., np.newaxis], pixels, np.zeros(1, dtype=pixels.dtype))
    return lab.to_lab(pixels)


@bare_kernel
def _write_units(colours, valid, middle, factor, far, pad, planes):
    """Write colours in units of the lattice into the planes, and ``far`` around them."""
    n_rows, width, n_bands = colours.shape
    for band in range(n_bands):
        for row in range(n_rows):
            plane = planes[band, row]
            plane[:pad] = far
            for i in range(width):
                units = np.rint((colours[row, i, band] - middle[band]) * factor[band])
                plane[pad + i] = units if valid[row, i] else far
            plane[pad + width :] = far
