"""Many points as the weighted means of few cells."""

from typing import NamedTuple

import numpy as np

from modeshift._jit import kernel
from modeshift.hashing import number_rows


class Cells(NamedTuple):
    """Weighted points that stand for many, and who stands for whom.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Weighted mean of each occupied cell, the cells in lexicographic order.
    weights : ndarray of shape (m,)
        Weight of each cell.
    cell_of : ndarray of shape (n,)
        Cell of each original point.
    firsts : ndarray of shape (m,)
        First original point of each cell.
    """

    points: np.ndarray
    weights: np.ndarray
    cell_of: np.ndarray
    firsts: np.ndarray


def compress(points: np.ndarray, weights: np.ndarray, side: float) -> Cells:
    """Replace points by the weighted means of the cells of a grid.

    Cell of x: floor(x / side), feature by feature. The grid is fixed in space and the order of the
    cells in themselves, so parts of the data can be compressed apart. No point is further from the
    mean of its cell than the diagonal, side * sqrt(d). Only occupied cells cost memory.
    """
    with np.errstate(over="ignore"):
        coordinates = points / side
    coordinates = np.floor(coordinates) + 0.0  # no -0.0, whose bits are not those of 0.0
    # Beyond 2**53 cells every float is a cell of its own, even where the division overflows.
    coordinates = np.where(np.isinf(coordinates), points, coordinates)
    cell_of, firsts = number_rows(coordinates)
    order = np.lexsort(coordinates[firsts].T[::-1])
    firsts = firsts[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    cell_of = rank[cell_of]
    means, masses = _cell_means(points, weights, cell_of, points[firsts])
    return Cells(means, masses, cell_of, firsts)


@kernel
def _cell_means(points, weights, cell_of, anchors):
    """Weighted means of the cells (plain ones where nothing has weight), and masses.

    Offsets from a point of the cell are added up: far from the origin no digit is lost.
    """
    n, d = points.shape
    m = anchors.shape[0]
    sums = np.zeros((m, d))
    plain_sums = np.zeros((m, d))
    masses = np.zeros(m)
    counts = np.zeros(m)
    for i in range(n):
        cell = cell_of[i]
        masses[cell] += weights[i]
        counts[cell] += 1.0
        for k in range(d):
            offset = points[i, k] - anchors[cell, k]
            sums[cell, k] += weights[i] * offset
            plain_sums[cell, k] += offset
    for cell in range(m):
        for k in range(d):
            if masses[cell] > 0.0:
                anchors[cell, k] += sums[cell, k] / masses[cell]
            else:
                anchors[cell, k] += plain_sums[cell, k] / counts[cell]
    return anchors, masses
