"""A block of an image as the kernels read it: colours in whole units, plane by plane."""

from typing import NamedTuple

import numpy as np

from modeshift.image import lab
from modeshift.image.lattice import FAR
from modeshift.image.layout import find_valid
from modeshift.image.plan import Plan
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
    plan: Plan, pixels: np.ndarray, mask: np.ndarray | None, goes_on: np.ndarray = ALL_OF_IT
) -> Block:
    """Return the block of pixels with bands last."""
    valid = find_valid(pixels, mask, plan.nodata)
    pixels = np.where(valid[..., np.newaxis], pixels, np.zeros(1, dtype=pixels.dtype))
    colours = lab.to_lab(pixels) if plan.is_lab else pixels
    depth, height, width = valid.shape
    unit, (_, _, radius) = plan.settings.unit, plan.settings.radius
    pad = radius // unit + 1
    # The last span of a row may begin at the last pixel, or beyond it after rounding.
    length = pad + width + pad + LANES
    n_planes = max(plan.layout.n_bands, FEWEST)
    planes = np.full((n_planes, depth, height, length), FAR)
    inside = slice(pad, pad + width)
    planes[plan.layout.n_bands :] = 0.0
    for band, plane in enumerate(planes[: plan.layout.n_bands]):
        middle, factor = plan.colours.middle[band], plan.colours.factor[band]
        units = np.rint((colours[..., band] - middle) * factor)
        plane[..., inside] = np.where(valid, units, FAR)
    return Block(planes, pad, (depth, height, width), goes_on, valid)
