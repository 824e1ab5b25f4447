"""Patches: boxes of places that share the sums of all points within reach.

A query at a place of a patch evaluates one polynomial (``expansion.py``), which holds all points
that are within reach of every place of the patch, and compares the points of a list, those within
reach of some places only. So the truncation of the kernel is exact, as in all fields.

Patches are made where they pay. Space is cut by a grid of the side of one bandwidth; its cells, and
the 2^d parts of a patch, become patches when the queries there have cost as much as making them.
A part begins with the polynomial of its patch and only has to decide about its list, which gets
shorter with every cut. While a part is not made, its patch answers; where there is no patch, the
tree does.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.fields.expansion import (
    Basis,
    Room,
    Sources,
    expand,
    make_basis,
    make_room,
    shift,
)
from modeshift.engines.cpu.fields.monomials import monomials
from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.kdtree import node_behind
from modeshift.engines.cpu.parallel import run_blocks

SIDE = 1.0
"""Side of the cells of the grid, in bandwidths."""

DEGREE = 24
"""Highest degree of a polynomial."""

NEVER = np.iinfo(np.int64).max
_UNMADE, _HOPELESS = -1, -2  # degrees of boxes without a polynomial
_SHORT = 48  # a list of this length is not worth cutting
_LEVELS = 30
_BATCH = 64  # patches that are made at the same time
_FIRST = 16  # queries in a cell before its costs are found out

# Costs in the unit of one comparison, about a nanosecond.
_MULTIPLY = 0.12  # adding one monomial of one point
_DECIDE = 4.0  # deciding about a point, or looking at it twice
_EVALUATE = 0.8  # one term of a polynomial
_SHIFT = 40.0  # moving one term of a polynomial
_MAKE = 3000.0


class Boxes(NamedTuple):
    """Boxes of places, made or not; C boxes, d features.

    Attributes
    ----------
    lows, highs, centers : (C, d)
    roots : (C,)
        The cell of the grid that each box is in.
    parents, levels : (C,)
    kids : (C, 2^d)
        The parts of each box; -1: no query has been there.
    asked, prices : (C,)
        Number of queries in an unmade box, and at how many it is made.
    degrees : (C,)
        Degree of the polynomial, or ``_UNMADE`` or ``_HOPELESS``.
    floors, errors : (C,)
        Lower bound of the polynomial, and the error so far.
    terms, lists : (C,)
        Where its coefficients begin in the pool, and its list.
    lengths : (C,)
        Length of the list.
    table : (size,)
        Hash table of the cells of the grid.
    used : (1,)
        Number of boxes.
    """

    lows: np.ndarray
    highs: np.ndarray
    centers: np.ndarray
    roots: np.ndarray
    parents: np.ndarray
    levels: np.ndarray
    kids: np.ndarray
    asked: np.ndarray
    prices: np.ndarray
    degrees: np.ndarray
    floors: np.ndarray
    errors: np.ndarray
    terms: np.ndarray
    lists: np.ndarray
    lengths: np.ndarray
    table: np.ndarray
    used: np.ndarray


class Pool:
    """An array that grows at its end."""

    def __init__(self, dtype: type) -> None:
        self.values = np.empty(1024, dtype=dtype)
        self.used = 0

    def append(self, values: np.ndarray) -> int:
        """Add values; return where they begin."""
        start = self.used
        self.used += len(values)
        if self.used > len(self.values):
            larger = np.empty(2 * self.used, dtype=self.values.dtype)
            larger[:start] = self.values[:start]
            self.values = larger
        self.values[start : self.used] = values
        return start
