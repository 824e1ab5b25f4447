"""Exact sums of the cells of a grid, to which points are added in any order and any portions.

The sums serve the plain fit (all points at once), Dask (sums of chunks, joined) and streams (batch
after batch). They do not depend on the portions, to the last bit; see ``exact_sums.py``.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.exact_sums import (
    PLACES,
    WEIGHTLESS,
    add_term,
    lower,
    masses,
    top_place,
    totals,
)
from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel, kernel

FINEST = 2.0**51  # cells from 0; further out floats are sparser than cells
ASIDE = 2.0**60  # brings all numbers below 2 * FINEST below 0.5
_ROOM = 64  # cells at first


class Tally(NamedTuple):
    """Sums of the cells for a part of the data. Tallies of several parts can be joined.

    Attributes
    ----------
    keys : ndarray of shape (m, d)
        Centre of each cell, in sides; see :func:`cell_keys`.
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

    def select(self, rows: np.ndarray) -> "Tally":
        """Return some of the cells."""
        return Tally(*(part[rows] for part in self))

    def masses(self, place: int = 0) -> np.ndarray:
        """Return the weights of the cells, divided by 2^(26 place)."""
        return masses(self.digits[:, -1], self.tops, place)

    def means(self, side: float) -> np.ndarray:
        """Return corner plus weighted mean offset (plain mean offset in cells without weight)."""
        mass = totals(self.digits[:, -1])
        exponent = int(np.frexp(side)[1])
        columns = []
        for k in range(self.keys.shape[1]):
            offsets = (totals(self.digits[:, k]) / mass).astype(np.float64)
            columns.append(_corners(self.keys[:, k], side) + np.ldexp(offsets, exponent))
        return np.column_stack(columns)


class CellSums:
    """The sums of the occupied cells of a grid.

    The cell of x is floor(x / side), feature by feature. The grid is fixed in space. Cells are
    numbered as they come.

    Parameters
    ----------
    d : int
        Number of features.
    side : float
    """

    def __init__(self, d: int, side: float) -> None:
        self._side = side
        self._n = 0
        self._all = _empty(d, _ROOM)
        self._entries = np.full(2 * _ROOM, -1, dtype=np.int32)

    def __len__(self) -> int:
        return self._n

    def add(
        self, points: np.ndarray, weights: np.ndarray, start: int, place: int = 0
    ) -> np.ndarray:
        """Add points; return the number of the cell of each.

        Parameters
        ----------
        points : ndarray of shape (n, d)
        weights : ndarray of shape (n,)
            The weight of a point is this number times 2^(26 place).
        start : int
            Number of the first point in all the data.
        place : int
        """
        cell_of = np.empty(len(points), dtype=np.int32)
        done = 0
        while True:
            self._n, done = _add_points(
                points, weights, start, place, self._side, *_factors(self._side), done,
                self._n, *self._all, self._entries, cell_of, np.empty(points.shape[1]),
            )  # fmt: skip
            if done == len(points):
                return cell_of
            self._grow()

    def merge(self, tally: Tally) -> None:
        """Add the sums of another part of the data."""
        done = 0
        while True:
            self._n, done = _add_cells(*tally, done, self._n, *self._all, self._entries)
            if done == len(tally.keys):
                return
            self._grow()

    def keep(self, kept: np.ndarray) -> None:
        """Keep some of the cells, in their order. They are numbered from 0 again."""
        tally = self.tally().select(kept)
        self._n, self._all = 0, _empty(tally.keys.shape[1], _ROOM)
        self._entries = np.full(2 * _ROOM, -1, dtype=np.int32)
        self.merge(tally)

    def tally(self) -> Tally:
        """Return the sums."""
        return Tally(*(part[: self._n].copy() for part in self._all))

    def _grow(self) -> None:
        """Double the room."""
        more = _empty(self._all.keys.shape[1], len(self._all.keys))
        self._all = Tally(*map(np.concatenate, zip(self._all, more, strict=True)))
        self._entries = np.full(2 * len(self._all.keys), -1, dtype=np.int32)
        _enter(self._all.keys, self._n, self._entries)


def cell_keys(points: np.ndarray, side: float) -> np.ndarray:
    """Return the centre of the cell of each point, in sides: floor(x / side) + 0.5.

    If cells are finer than the gaps between floats, every float is its own cell and its own key.
    """
    with np.errstate(over="ignore"):
        cells = np.floor(points / side)
    themselves = np.where(np.abs(points) < 2 * FINEST, points / ASIDE, points)
    return np.where(np.abs(cells) < FINEST, cells + 0.5, themselves)


def _empty(d: int, room: int) -> Tally:
    return Tally(
        np.empty((room, d)),
        np.full(room, np.iinfo(np.int64).max),
        np.full(room, WEIGHTLESS, dtype=np.int64),
        np.zeros((room, d + 1, PLACES), dtype=np.int64),
    )


def _corners(keys: np.ndarray, side: float) -> np.ndarray:
    """Return the corner of each cell that is nearest to 0: offsets from it are exact."""
    sizes = np.abs(keys)
    with np.errstate(over="ignore"):  # in the branch that is not used
        corners = np.where(sizes < 0.5, keys * ASIDE, np.trunc(keys) * side)
    return np.where(sizes < 2 * FINEST, corners, keys)


def _factors(side: float) -> tuple[float, float]:
    """Return two powers of two whose product brings offsets below 1: one could overflow."""
    exponent = -int(np.frexp(side)[1])
    return float(np.ldexp(1.0, exponent // 2)), float(np.ldexp(1.0, exponent - exponent // 2))


@bare_kernel
def _key(x, side):
    """Return one coordinate of the key of a cell, as ``cell_keys`` does."""
    cell = np.floor(x / side)
    if abs(cell) < FINEST:
        return cell + 0.5
    return x / ASIDE if abs(x) < 2 * FINEST else x


@bare_kernel
def _corner(key, side):
    """Return one coordinate of the corner of a cell, as ``_corners`` does."""
    size = abs(key)
    if size < 0.5:
        return key * ASIDE
    return np.trunc(key) * side if size < 2 * FINEST else key


@bare_kernel
def _entry_of(key, keys, entries):
    """Return the entry of a cell in the hash table, or the empty one in which it belongs."""
    last = entries.shape[0] - 1
    entry = np.int64(hash_row(key) & np.uint64(last))
    while entries[entry] >= 0:
        cell = entries[entry]
        same = True
        for k in range(key.shape[0]):
            same &= keys[cell, k] == key[k]
        if same:
            break
        entry = (entry + 1) & last
    return entry


@bare_kernel
def _raise(cell, top, tops, digits):
    """Raise the top place of a cell, if it is lower."""
    if top > tops[cell]:
        lower(digits[cell], top - tops[cell])
        tops[cell] = top


@bare_kernel
def _add_points(
    points, weights, start, place, side, shrink, shrink_more, done, n, keys, firsts, tops, digits,
    entries, cell_of, key,
):  # fmt: skip
    """Add points from number ``done`` on, until there is no room for another cell."""
    d = points.shape[1]
    weight, top = 0.0, WEIGHTLESS
    for i in range(done, points.shape[0]):
        for k in range(d):
            key[k] = _key(points[i, k], side)
        entry = _entry_of(key, keys, entries)
        cell = entries[entry]
        if cell < 0:
            if n == keys.shape[0]:
                return n, i
            cell = n
            entries[entry] = cell
            for k in range(d):
                keys[cell, k] = key[k]
            n += 1
        cell_of[i] = cell
        firsts[cell] = min(firsts[cell], start + i)
        if weights[i] != weight:
            weight, top = weights[i], top_place(weights[i])
        if top == WEIGHTLESS and tops[cell] > WEIGHTLESS:
            continue
        if top > WEIGHTLESS:
            _raise(cell, top + place, tops, digits)
        # In a cell without weight all points count 1, whatever the place.
        factor, top_here = (1.0, top) if top == WEIGHTLESS else (weight, tops[cell] - place)
        for k in range(d):
            offset = (points[i, k] - _corner(key[k], side)) * shrink * shrink_more
            add_term(factor * offset, top_here, digits[cell, k])
        add_term(factor, top_here, digits[cell, d])
    return n, points.shape[0]


@kernel
def _add_cells(
    more_keys, more_firsts, more_tops, more_digits, done, n, keys, firsts, tops, digits, entries
):
    """Add sums of cells from number ``done`` on, until there is no room for another cell."""
    for i in range(done, more_keys.shape[0]):
        entry = _entry_of(more_keys[i], keys, entries)
        cell = entries[entry]
        if cell < 0:
            if n == keys.shape[0]:
                return n, i
            cell = n
            entries[entry] = cell
            keys[cell] = more_keys[i]
            n += 1
        firsts[cell] = min(firsts[cell], more_firsts[i])
        _raise(cell, more_tops[i], tops, digits)
        by = tops[cell] - more_tops[i]
        for column in range(digits.shape[1]):
            for place in range(by, PLACES):
                digits[cell, column, place] += more_digits[i, column, place - by]
    return n, more_keys.shape[0]


@kernel
def _enter(keys, n, entries):
    """Enter the first n cells into an empty hash table."""
    for cell in range(n):
        entries[_entry_of(keys[cell], keys, entries)] = cell
