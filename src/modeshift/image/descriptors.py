"""What regions are compared by, besides their modes: texture, and contrast along borders.

All numbers are whole, so that their sums do not depend on the order, nor on tiles.

- The texture of a pixel along an axis is log(1 + 6.5 g) * 4.6, where g is the root mean square of
  the gradient in a box around it. The gradient is that of all bands, in ranges.
- The contrast between two pixels that touch is the length of the difference of two box means, one
  on each side, and of the textures in the middle of the boxes.

The numbers were chosen on 20 pictures of BSDS500 (docs/images.md).
"""

from math import prod
from typing import Any

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import run_shares
from modeshift.image.block import Block
from modeshift.image.plan import Plan
from modeshift.image.rows import as_rows, run_rows

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


def describe(plan: Plan, block: Block, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the textures, and the box means of all bands; both in units, axis or band first."""
    inside = slice(block.pad, block.pad + block.shape[2])
    means = np.empty((plan.layout.n_bands, *block.shape), dtype=np.float32)
    axes = [axis for axis in range(3) if plan.layout.grid[axis] > 1]
    energies = np.zeros((len(axes), *block.shape))
    boxes = Boxes(block.valid, n_threads)
    for mean, plane in zip(means, block.planes, strict=False):
        band = np.where(block.valid, plane[..., inside], 0.0)
        np.rint(boxes.mean(band, _sides(plan, _BOX)), out=mean, casting="unsafe")
        for energy, axis in zip(energies, axes, strict=True):
            across = tuple(int(other in axes and other != axis) for other in range(3))
            _along(_add_squares, axis, n_threads, boxes.mean(band, across), block.valid, energy)
    return _textures(plan, boxes, energies, n_threads), means


def _textures(plan: Plan, boxes: "Boxes", energies: np.ndarray, n_threads: int) -> np.ndarray:
    textures = np.empty(energies.shape, dtype=np.float32)
    unit = plan.colours.range_units
    for texture, energy in zip(textures, energies, strict=True):
        np.rint(np.minimum(energy, _LARGEST_ENERGY, out=energy), out=energy)
        mean = as_rows(boxes.mean(energy, _sides(plan, _TEXTURE_BOX)))
        written = as_rows(texture)

        def write(rows: slice, mean: np.ndarray = mean, written: np.ndarray = written) -> None:
            gradient = np.sqrt(mean[rows]) / unit
            written[rows] = np.rint(_WEIGHT * unit * np.log1p(_GAIN * gradient))

        run_rows(write, energy.shape, n_threads)
    return textures


def _sides(plan: Plan, share: float) -> tuple[int, int, int]:
    """Return half the sides of a box, in pixels; 0 along axes that the image does not have."""
    return tuple(  # type: ignore[return-value]
        max(1, round(share * radius)) if length > 1 else 0
        for radius, length in zip(plan.radii, plan.layout.grid, strict=True)
    )


class Boxes:
    """Means of whole numbers over the valid pixels of boxes; the sums are exact in any order.

    Parameters
    ----------
    valid : ndarray of shape (depth, height, width), bool
    n_threads : int
    """

    def __init__(self, valid: np.ndarray, n_threads: int) -> None:
        self._valid = valid.astype(np.float64)
        self._n_threads = n_threads
        self._counts: dict[tuple[int, ...], np.ndarray] = {}

    def mean(self, values: np.ndarray, sides: tuple[int, ...]) -> np.ndarray:
        """Return the mean around each pixel; NaN where there are no valid ones.

        ``values`` is 0 where pixels are not valid.
        """
        if sides not in self._counts:
            self._counts[sides] = self._sum(self._valid, sides)
        means = np.empty(values.shape)
        arrays = (self._sum(values, sides), self._counts[sides], means)
        _along(_divide, 0, self._n_threads, *arrays)
        return means

    def _sum(self, values: np.ndarray, sides: tuple[int, ...]) -> np.ndarray:
        for axis, side in enumerate(sides):
            if side:
                sums = np.empty(values.shape)
                _along(_add_up, axis, self._n_threads, values, sums, side=side)
                values = sums
        return values


def _along(kernel: Any, axis: int, n_threads: int, *arrays: np.ndarray, **how: int) -> None:
    """Call a kernel for arrays seen as (before, axis, behind), in shares for the threads."""
    n = arrays[0].shape[axis]
    parts = [array.reshape(prod(array.shape[:axis]), n, -1) for array in arrays]
    before, _, behind = parts[0].shape
    if behind > 1:
        run_shares(
            lambda start, stop: kernel(*(part[:, :, start:stop] for part in parts), **how),
            behind, n_threads,
        )  # fmt: skip
    else:
        run_shares(
            lambda start, stop: kernel(*(part[start:stop] for part in parts), **how),
            before, n_threads,
        )  # fmt: skip


@bare_kernel
def _add_up(values, sums, side):
    """Write the sums of the values up to ``side`` places before and behind."""
    n = values.shape[1]
    for a in range(values.shape[0]):
        for b in range(values.shape[2]):
            sums[a, 0, b] = 0.0
        for i in range(min(side + 1, n)):
            for b in range(values.shape[2]):
                sums[a, 0, b] += values[a, i, b]
        for i in range(1, n):
            first, last = i - side - 1, i + side
            for b in range(values.shape[2]):
                total = sums[a, i - 1, b]
                if last < n:
                    total += values[a, last, b]
                if first >= 0:
                    total -= values[a, first, b]
                sums[a, i, b] = total


@bare_kernel
def _divide(totals, counts, means):
    for a in range(totals.shape[0]):
        for i in range(totals.shape[1]):
            for b in range(totals.shape[2]):
                count = counts[a, i, b]
                means[a, i, b] = totals[a, i, b] / count if count > 0 else np.nan


@bare_kernel
def _add_squares(values, valid, energy):
    """Add the squares of half the differences of the pixels before and behind.

    Pixels beside one without data get none. At the border of the image the pixel itself stands for
    the missing one.
    """
    n = values.shape[1]
    for a in range(values.shape[0]):
        for i in range(n):
            before, behind = max(i - 1, 0), min(i + 1, n - 1)
            for b in range(values.shape[2]):
                if valid[a, i, b] and valid[a, before, b] and valid[a, behind, b]:
                    slope = (values[a, behind, b] - values[a, before, b]) / 2
                    energy[a, i, b] += slope * slope


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
