"""Replace many points by the weighted means of few cells."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.exact_sums import (
    group_tops,
    join_digits,
    masses,
    sum_digits,
    top_places,
    totals,
)
from modeshift.engines.cpu.hashing import number_rows

_FINEST = 2.0**51  # cells from 0; further out floats are sparser than cells
_ASIDE = 2.0**60  # brings all numbers below 2 * _FINEST below 0.5


class Cells(NamedTuple):
    """Weighted means of grid cells, and the cell of each point.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Weighted mean of each occupied cell, the cells in lexicographic order.
    weights : ndarray of shape (m,)
        Weight of each cell.
    keys : ndarray of shape (m, d)
        Centre of each cell, in sides; see :func:`cell_keys`.
    cell_of : ndarray of shape (n,)
        Cell of each original point.
    firsts : ndarray of shape (m,)
        First original point of each cell.
    """

    points: np.ndarray
    weights: np.ndarray
    keys: np.ndarray
    cell_of: np.ndarray
    firsts: np.ndarray

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Give every original point the value of its cell."""
        return values[self.cell_of]


class Tally(NamedTuple):
    """Sums of the cells for a part of the data. Tallies of several parts can be joined.

    Attributes
    ----------
    keys : ndarray of shape (m, d)
    firsts : ndarray of shape (m,)
        Number of the first point of each cell.
    tops : ndarray of shape (m,)
        Top place of the digits of each cell; see :mod:`modeshift.engines.cpu.exact_sums`.
    digits : ndarray of shape (m, d + 1, 3)
        Digits of the sums of offsets from the corner of the cell, feature by feature, and of the
        weights.
    """

    keys: np.ndarray
    firsts: np.ndarray
    tops: np.ndarray
    digits: np.ndarray


def compress(points: np.ndarray, weights: np.ndarray, side: float) -> Cells:
    """Replace points by the weighted means of the cells of a grid.

    The cell of x is floor(x / side), feature by feature. The grid and the order of the cells are
    fixed, and the sums do not depend on the order of the points. So parts of the data can be
    compressed separately (:func:`tally`, :func:`join`). No point is further than the diagonal,
    side * sqrt(d), from the mean of its cell. Only occupied cells take memory.
    """
    keys, cell_of, firsts = _number_cells(points, side)
    tops = group_tops(top_places(weights), cell_of, len(keys))
    mass = sum_digits(weights, np.ones(len(points)), cell_of, tops)
    means = np.empty_like(keys)
    for k in range(points.shape[1]):
        offsets = _offsets(points[:, k], keys[:, k], cell_of, side)
        means[:, k] = _means(keys[:, k], sum_digits(weights, offsets, cell_of, tops), mass, side)
    return Cells(means, masses(mass, tops), keys, cell_of, firsts)


def tally(points: np.ndarray, weights: np.ndarray, side: float, start: int) -> Tally:
    """Compress a part of the data; ``start`` is the number of its first point."""
    keys, cell_of, firsts = _number_cells(points, side)
    tops = group_tops(top_places(weights), cell_of, len(keys))
    values = [_offsets(points[:, k], keys[:, k], cell_of, side) for k in range(points.shape[1])]
    values.append(np.ones(len(points)))
    digits = np.stack([sum_digits(weights, column, cell_of, tops) for column in values], axis=1)
    return Tally(keys, firsts + start, tops, digits)


def join(tallies: Sequence[Tally]) -> Tally:
    """Join the tallies of several parts into one."""
    keys, firsts, tops, digits = (np.concatenate(parts) for parts in zip(*tallies, strict=True))
    groups, examples = number_rows(keys)
    joined_firsts = np.full(len(examples), np.iinfo(np.int64).max)
    np.minimum.at(joined_firsts, groups, firsts)
    joined_tops = group_tops(tops, groups, len(examples))
    return Tally(
        keys[examples], joined_firsts, joined_tops, join_digits(digits, tops, groups, joined_tops)
    )


def cells_of_tally(tally: Tally, side: float) -> Cells:
    """Return means and weights of the cells, without the cell of each point."""
    order = _lexicographic(tally.keys)
    keys, firsts, tops, digits = (part[order] for part in tally)
    mass = digits[:, -1]
    means = np.column_stack(
        [_means(keys[:, k], digits[:, k], mass, side) for k in range(keys.shape[1])]
    )
    return Cells(means, masses(mass, tops), keys, np.empty(0, dtype=np.int64), firsts)


def cell_keys(points: np.ndarray, side: float) -> np.ndarray:
    """Return the centre of the cell of each point, in sides: floor(x / side) + 0.5.

    If cells are finer than the gaps between floats, every float is its own cell and its own key.
    """
    with np.errstate(over="ignore"):
        cells = np.floor(points / side)
    themselves = np.where(np.abs(points) < 2 * _FINEST, points / _ASIDE, points)
    return np.where(np.abs(cells) < _FINEST, cells + 0.5, themselves)


def _number_cells(points: np.ndarray, side: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return occupied cells in lexicographic order, cells of the points, and first points."""
    coordinates = cell_keys(points, side)
    cell_of, firsts = number_rows(coordinates)
    order = _lexicographic(coordinates[firsts])
    firsts = firsts[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return coordinates[firsts], rank[cell_of], firsts


def _lexicographic(keys: np.ndarray) -> np.ndarray:
    return np.lexsort(keys.T[::-1])


def _corners(keys: np.ndarray, side: float) -> np.ndarray:
    """Return the corner of each cell that is nearest to 0: offsets from it are exact."""
    sizes = np.abs(keys)
    with np.errstate(over="ignore"):  # in the branch that is not used
        corners = np.where(sizes < 0.5, keys * _ASIDE, np.trunc(keys) * side)
    return np.where(sizes < 2 * _FINEST, corners, keys)


def _offsets(column: np.ndarray, keys: np.ndarray, cell_of: np.ndarray, side: float) -> np.ndarray:
    """Return offsets of points from the corner of their cell, divided by a power of two."""
    return np.ldexp(column - _corners(keys, side)[cell_of], -int(np.frexp(side)[1]))


def _means(keys: np.ndarray, digits: np.ndarray, mass: np.ndarray, side: float) -> np.ndarray:
    """Return corner plus weighted mean offset (plain mean offset in cells without weight)."""
    offsets = (totals(digits) / totals(mass)).astype(np.float64)
    return _corners(keys, side) + np.ldexp(offsets, int(np.frexp(side)[1]))
