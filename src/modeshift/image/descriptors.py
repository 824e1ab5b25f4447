"""What regions are compared by, besides their modes: texture, and contrast along borders.

All numbers are whole, so that their sums do not depend on the order, nor on tiles.

- The texture of a pixel along an axis is log(1 + 6.5 g) * 4.6, where g is the root mean square of
  the gradient in a box around it. The gradient is that of all bands, in ranges.
- The contrast between two pixels that touch is the length of the difference of two box means, one
  on each side, and of the textures in the middle of the boxes.

The numbers were chosen on 20 pictures of BSDS500 (docs/images.md).
"""

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel
from modeshift.image.block import Block
from modeshift.image.plan import Plan

_GAIN = 6.5
_WEIGHT = 4.6
_BOX = 3 / 7
"""Half the side of a box beside a border, as a share of the radius of the window."""

_TEXTURE_BOX = 5 / 7
_LARGEST_ENERGY = 2.0**42


def margin_of(plan: Plan) -> tuple[int, int, int]:
    """Return how far descriptors look, along each axis."""
    return tuple(  # type: ignore[return-value]
        max(2 * box + 1, box + texture + 2)
        for box, texture in zip(_sides(plan, _BOX), _sides(plan, _TEXTURE_BOX), strict=True)
    )


def describe(plan: Plan, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return the textures, and the box means of all bands; both in units, axis or band first."""
    inside = slice(block.pad, block.pad + block.shape[2])
    bands = [
        np.where(block.valid, plane[..., inside], np.float32(0.0))
        for plane in block.planes[: plan.layout.n_bands]
    ]
    boxes = _sides(plan, _BOX)
    means = np.stack([_box_mean(band, block.valid, boxes) for band in bands])
    return _textures(plan, block, bands), np.rint(means).astype(np.float32)


def _textures(plan: Plan, block: Block, bands: list[np.ndarray]) -> np.ndarray:
    axes = [axis for axis in range(3) if plan.layout.grid[axis] > 1]
    textures = np.zeros((len(axes), *block.shape), dtype=np.float32)
    boxes = _sides(plan, _TEXTURE_BOX)
    unit = plan.colours.range_units
    for texture, axis in zip(textures, axes, strict=True):
        across = tuple(int(other in axes and other != axis) for other in range(3))
        energy = np.zeros(block.shape)
        for band in bands:
            energy += _slope(_box_mean(band, block.valid, across), block.valid, axis) ** 2
        energy = np.rint(np.minimum(energy, _LARGEST_ENERGY))
        gradient = np.sqrt(_box_mean(energy, block.valid, boxes)) / unit
        texture[...] = np.rint(_WEIGHT * unit * np.log1p(_GAIN * gradient))
    return textures


def _sides(plan: Plan, share: float) -> tuple[int, int, int]:
    """Return half the sides of a box, in pixels; 0 along axes that the image does not have."""
    return tuple(  # type: ignore[return-value]
        max(1, round(share * radius)) if length > 1 else 0
        for radius, length in zip(plan.radii, plan.layout.grid, strict=True)
    )


def _slope(values: np.ndarray, valid: np.ndarray, axis: int) -> np.ndarray:
    """Return half the difference of the pixels before and behind; 0 beside pixels without data.

    At the border of the image the pixel itself stands for the missing one.
    """
    before, behind = (_shifted(values, step, axis) for step in (-1, 1))
    usable = valid & _shifted(valid, -1, axis) & _shifted(valid, 1, axis)
    return np.where(usable, (behind - before) / 2, 0.0)


def _shifted(values: np.ndarray, step: int, axis: int) -> np.ndarray:
    """Return the values ``step`` pixels further along an axis; the last one goes on."""
    places = np.clip(np.arange(values.shape[axis]) + step, 0, values.shape[axis] - 1)
    return np.take(values, places, axis)


def _box_mean(values: np.ndarray, valid: np.ndarray, sides: tuple[int, ...]) -> np.ndarray:
    """Return the mean of whole numbers over the valid pixels of a box; NaN where there are none."""
    total, count = np.where(valid, values, 0.0).astype(np.float64), valid.astype(np.float64)
    for axis, side in enumerate(sides):
        if side:
            total, count = _box_sum(total, side, axis), _box_sum(count, side, axis)
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)


def _box_sum(values: np.ndarray, side: int, axis: int) -> np.ndarray:
    n = values.shape[axis]
    sums = np.cumsum(values, axis=axis)
    after = np.take(sums, np.minimum(np.arange(n) + side, n - 1), axis)
    first = np.arange(n) - side - 1
    before = np.take(sums, np.maximum(first, 0), axis)
    shape = [1, 1, 1]
    shape[axis] = n
    return after - before * (first >= 0).reshape(shape)


@bare_kernel
def contrast(textures, means, sides, axis, z, y, x):
    """Return the contrast between a pixel and the next one along an axis, in whole units.

    The boxes lie ``sides[axis]`` pixels further to both sides, or at the border of the image. The
    contrast is 0 if one of them has no data.
    """
    side = sides[axis]
    total = 0.0
    for values in (means, textures):
        n = values.shape[1 + axis]
        for k in range(values.shape[0]):
            if axis == 0:
                low, high = (
                    values[k, max(z - side, 0), y, x],
                    values[k, min(z + 1 + side, n - 1), y, x],
                )
            elif axis == 1:
                low, high = (
                    values[k, z, max(y - side, 0), x],
                    values[k, z, min(y + 1 + side, n - 1), x],
                )
            else:
                low, high = (
                    values[k, z, y, max(x - side, 0)],
                    values[k, z, y, min(x + 1 + side, n - 1)],
                )
            total += (np.float64(high) - low) * (np.float64(high) - low)
    return np.int64(np.floor(np.sqrt(total) + 0.5)) if total >= 0.0 else 0  # or NaN


def sides_of(plan: Plan) -> tuple[int, int, int]:
    """Return how far from a border the boxes are whose means make its contrast."""
    return _sides(plan, _BOX)
