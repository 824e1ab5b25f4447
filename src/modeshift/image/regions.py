"""Regions: pixels that touch and whose modes are close in place and in colour."""

import numpy as np

from modeshift.engines.cpu.components import root, unite
from modeshift.engines.cpu.jit import bare_kernel, kernel
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.image.descriptors import contrast
from modeshift.image.lattice import Settings

JOIN = 0.5
"""Modes at most this many radii and this many ranges apart are one (Th2 of the paper)."""


def find_regions(
    valid: np.ndarray,
    places: np.ndarray,
    colours: np.ndarray,
    settings: Settings,
    n_threads: int = 1,
) -> tuple[np.ndarray, int]:
    """Number the regions by their first pixels; return labels (-1: no data) and their number.

    Parameters
    ----------
    valid : ndarray of shape (depth, height, width), bool
    places : ndarray of shape (3, depth, height, width)
    colours : ndarray of shape (bands, depth, height, width)
        Ends of the climbs.
    settings : Settings
    n_threads : int
    """
    depth, height, _ = valid.shape
    joins = np.zeros((3, *valid.shape), dtype=bool)

    def work(start: int, stop: int) -> None:
        _find_joins(valid, places, colours, settings, joins, start, stop)

    run_blocks(work, depth * height, n_threads)
    return _number(valid, joins)


@bare_kernel
def _find_joins(valid, places, colours, settings, joins, start, stop):
    """Mark the pixels of some rows that have the same mode as the next one along an axis."""
    height, width = valid.shape[1:]
    for row in range(start, stop):
        z, y = row // height, row % height
        for x in range(width):
            for axis in range(3):
                there = neighbour(axis, z, y, x, valid.shape)
                if there[0] >= 0:
                    joined = is_joined(valid, places, colours, (z, y, x), there, settings)
                    joins[axis, z, y, x] = joined


@kernel
def _number(valid, joins):
    depth, height, width = valid.shape
    strides = (height * width, width, 1)
    parents = np.arange(valid.size)
    for z in range(depth):
        for y in range(height):
            for x in range(width):
                here = (z * height + y) * width + x
                for axis in range(3):
                    if joins[axis, z, y, x]:
                        unite(parents, here, here + strides[axis])
    labels = np.full(valid.shape, -1, dtype=np.int64)
    flat = labels.reshape(-1)
    n = 0
    for i in range(valid.size):
        if valid.reshape(-1)[i]:
            first = root(parents, i)
            if first == i:
                flat[i] = n
                n += 1
            else:
                flat[i] = flat[first]
    return labels, n


@bare_kernel
def neighbour(axis, z, y, x, shape):
    """Return the next pixel along an axis; (-1, -1, -1) at the end."""
    place = (z + (axis == 0), y + (axis == 1), x + (axis == 2))
    if place[0] < shape[0] and place[1] < shape[1] and place[2] < shape[2]:
        return place
    return (-1, -1, -1)


@bare_kernel
def is_joined(valid, places, colours, a, b, settings):
    """Return whether two pixels that touch have the same mode."""
    if not (valid[a] and valid[b]):
        return False
    square = 0.0
    for axis in range(3):
        apart = (places[axis, a[0], a[1], a[2]] - places[axis, b[0], b[1], b[2]]) / settings.radius[
            axis
        ]
        square += apart * apart
    if square > JOIN * JOIN:
        return False
    square = 0.0
    for band in range(colours.shape[0]):
        apart = np.float64(colours[band, a[0], a[1], a[2]] - colours[band, b[0], b[1], b[2]])
        square += apart * apart
    return square <= JOIN * JOIN * settings.reach


@kernel
def find_borders(labels, means, textures, sides):
    """Return regions and contrast of all pairs of pixels that touch across a border."""
    n = 0
    shape = labels.shape
    for round in range(2):  # count, then write
        if round == 1:
            pairs = np.empty((n, 2), dtype=np.int64)
            contrasts = np.empty(n, dtype=np.int64)
        n = 0
        for z in range(shape[0]):
            for y in range(shape[1]):
                for x in range(shape[2]):
                    for axis in range(3):
                        there = neighbour(axis, z, y, x, shape)
                        if there[0] < 0:
                            continue
                        a, b = labels[z, y, x], labels[there]
                        if a < 0 or b < 0 or a == b:
                            continue
                        if round == 1:
                            pairs[n] = a, b
                            contrasts[n] = contrast(textures, means, sides, axis, z, y, x)
                        n += 1
    return pairs, contrasts


@kernel
def find_seam(valid, places, colours, settings, axis, starts, stops, means, textures, sides):
    """Return, for pixels of a box, whether they join the next one along an axis, and contrasts."""
    joins = np.zeros(
        (stops[0] - starts[0], stops[1] - starts[1], stops[2] - starts[2]), dtype=np.bool_
    )
    contrasts = np.zeros(joins.shape, dtype=np.int64)
    for z in range(starts[0], stops[0]):
        for y in range(starts[1], stops[1]):
            for x in range(starts[2], stops[2]):
                there = neighbour(axis, z, y, x, valid.shape)
                at = (z - starts[0], y - starts[1], x - starts[2])
                joins[at] = is_joined(valid, places, colours, (z, y, x), there, settings)
                contrasts[at] = contrast(textures, means, sides, axis, z, y, x)
    return joins, contrasts
