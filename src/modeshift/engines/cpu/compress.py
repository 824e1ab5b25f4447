"""Replace many points by the weighted means of few cells."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.cell_sums import CellSums, Tally


class Cells(NamedTuple):
    """Weighted means of grid cells, and the cell of each point.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Weighted mean of each occupied cell, the cells in lexicographic order.
    weights : ndarray of shape (m,)
        Weight of each cell.
    keys : ndarray of shape (m, d)
        Centre of each cell, in sides; see :func:`modeshift.engines.cpu.cell_sums.cell_keys`.
    cell_of : ndarray of shape (n,)
        Cell of each original point; -1 if the cell is gone (see :mod:`stream`).
    firsts : ndarray of shape (m,)
        First original point of each cell.
    """

    points: np.ndarray
    weights: np.ndarray
    keys: np.ndarray
    cell_of: np.ndarray
    firsts: np.ndarray

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Give every original point the value of its cell; -1 or NaN if the cell is gone."""
        spread = values[self.cell_of]
        gone = self.cell_of < 0
        if gone.any():
            spread[gone] = -1 if values.ndim == 1 else np.nan
        return spread


def compress(points: np.ndarray, weights: np.ndarray, side: float) -> Cells:
    """Replace points by the weighted means of the cells of a grid.

    The grid and the order of the cells are fixed, and the sums do not depend on the order of the
    points. So parts of the data can be compressed separately (:func:`tally`, :func:`join`). No
    point is further than the diagonal, side * sqrt(d), from the mean of its cell. Only occupied
    cells take memory.
    """
    sums = CellSums(points.shape[1], side)
    cell_of = sums.add(points, weights, 0)
    return cells_of_tally(sums.tally(), side, cell_of)


def tally(points: np.ndarray, weights: np.ndarray, side: float, start: int) -> Tally:
    """Compress a part of the data; ``start`` is the number of its first point."""
    sums = CellSums(points.shape[1], side)
    sums.add(points, weights, start)
    return sums.tally()


def join(tallies: Sequence[Tally]) -> Tally:
    """Join the tallies of several parts into one."""
    sums = CellSums(tallies[0].keys.shape[1], side=1.0)  # no point is added
    for each in tallies:
        sums.merge(each)
    return sums.tally()


def cells_of_tally(
    tally: Tally, side: float, cell_of: np.ndarray | None = None, place: int = 0
) -> Cells:
    """Return the cells in lexicographic order.

    Parameters
    ----------
    tally : Tally
    side : float
    cell_of : ndarray of shape (n,), or None
        Cell of each point, by its number in the tally. None: points are unknown.
    place : int
        Weights are divided by 2^(26 place).
    """
    order = np.lexsort(tally.keys.T[::-1])
    rank = np.full(len(order) + 1, -1)  # -1 stays -1
    rank[order] = np.arange(len(order))
    found = np.empty(0, dtype=np.int64) if cell_of is None else rank[cell_of]
    ordered = tally.select(order)
    return Cells(ordered.means(side), ordered.masses(place), ordered.keys, found, ordered.firsts)
