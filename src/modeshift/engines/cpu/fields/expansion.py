"""A polynomial for the Gaussian sums near all places of a box.

Let all lengths be in bandwidths, r a point that stays the same when a box is cut (the centre of
the first one), and c the centre of the box. For a place x = c + y and points s_i of weight w_i

    sum_i w_i exp(-|x - s_i|^2 / 2) = exp(-|x - r|^2 / 2) P(y),
    P(y) = sum_i W_i exp(y.(s_i - r)) = sum_a c_a y^a / a!,
    W_i = w_i exp(-|s_i - r|^2 / 2 + (c - r).(s_i - r)),   c_a = sum_i W_i (s_i - r)^a .

So P and its gradient give the mean: the weighted mean of s_i - r is grad P / P. The factor in front
keeps its r, so that a polynomial can be moved to the centre of a smaller box without any error.

The error bound of the terms beyond degree p: with D_i = |s_i - r|_1 and half the side of the box e,
|y.(s_i - r)| <= z_i = e D_i. So P errs by at most sum_i W_i T_p(z_i), and a component of its
gradient by at most sum_i W_i D_i T_p(z_i), with T_p(z) = sum_(n >= p) z^n / n!. On the other side
P >= sum_i W_i exp(-z_i), the *floor*. With a span S >= |s_i - r| for all i, the mean errs by at
most sum_i W_i (D_i + S) T_p(z_i) / floor. The lowest degree is taken for which this is at most
``TOLERANCE``. Dropping terms of a polynomial that was made before errs by at most
sum_a |c_a| e^|a| / a! (S + |a| / e).
"""

from math import exp
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.fields.monomials import Monomials
from modeshift.engines.cpu.fields.sums import dot
from modeshift.engines.cpu.jit import bare_kernel, fast_sums, inlined_kernel
from modeshift.engines.exponential import exponential

TOLERANCE = 2.0**-42
"""Largest error of a mean by dropped terms, in bandwidths."""

ROUNDING = 2.0**-40
"""Largest error of a mean by rounding, in bandwidths."""

_ROUND_OFF = 2.0**-48  # rounding errors of a sum, as a share of the sum of the absolute terms
_BINS = 64  # for the bound, points are sorted by D into bins
_WIDTH = 128  # number of points whose powers are computed at the same time


class Sources(NamedTuple):
    """The points with weight, sorted by the leaves of a tree.

    Attributes
    ----------
    columns : (d, n)
    weights : (n,)
    starts : (L + 1,)
        Leaf l owns the points from ``starts[l]`` to before ``starts[l + 1]``.
    nodes : (2 L, ...)
        Boxes of the nodes of the tree: lower corner, upper corner.
    """

    columns: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray


class Basis(NamedTuple):
    """Constants of the polynomials of one field; m monomials.

    Attributes
    ----------
    monomials : Monomials
    degrees : (m,)
        Degree of each monomial.
    inverses : (m,)
        1 / a_k for the first feature k in monomial a.
    factorials : (m,)
        1 / a! .
    radius : float
        The bandwidth.
    span : float
        S: no point is further from r, in bandwidths.
    """

    monomials: Monomials
    degrees: np.ndarray
    inverses: np.ndarray
    factorials: np.ndarray
    radius: float
    span: float


class Room(NamedTuple):
    """Scratch space of a thread.

    Attributes
    ----------
    members : (n,)
        Numbers of points to be added.
    offsets : (d, _WIDTH)
        s_i - r of some of them, in bandwidths.
    pulls : (_WIDTH,)
        Their W_i.
    kept : (rows, _WIDTH)
        Their monomials without the first feature.
    rows : (m,)
        Where each of these is kept.
    power : (_WIDTH,)
        One monomial.
    bins, masses : (_BINS,)
        Largest D of each bin, and the sum of W_i in it.
    bounds : (degree + 1,)
        Error bound for each degree.
    coefs : (m,)
    steps : (d,)
    start : (2,)
    """

    members: np.ndarray
    offsets: np.ndarray
    pulls: np.ndarray
    kept: np.ndarray
    rows: np.ndarray
    power: np.ndarray
    bins: np.ndarray
    masses: np.ndarray
    bounds: np.ndarray
    coefs: np.ndarray
    steps: np.ndarray
    start: np.ndarray


def make_basis(tables: Monomials, radius: float, span: float) -> Basis:
    """Return the constants for the monomials of some tables."""
    m = len(tables.axes)
    degrees = np.searchsorted(tables.ends, np.arange(m), side="right")
    inverses = 1.0 / np.maximum(tables.powers, 1)
    factorials = np.ones(m)
    for i in range(1, m):
        factorials[i] = factorials[tables.parents[i]] * inverses[i]
    return Basis(tables, degrees, inverses, factorials, radius, span)


def make_room(basis: Basis, d: int, n: int) -> Room:
    """Return scratch space for n points."""
    ends = basis.monomials.ends
    return Room(
        members=np.empty(n, dtype=np.int32),
        offsets=np.empty((d, _WIDTH)),
        pulls=np.empty(_WIDTH),
        kept=np.empty((np.count_nonzero(basis.monomials.axes) + 1, _WIDTH)),
        rows=np.empty(len(basis.degrees), dtype=np.int32),
        power=np.empty(_WIDTH),
        bins=np.sqrt(d) * basis.span / _BINS * np.arange(1, _BINS + 1),
        masses=np.empty(_BINS),
        bounds=np.empty(len(ends)),
        coefs=np.empty(len(basis.degrees)),
        steps=np.empty(d),
        start=np.empty(2),
    )


@bare_kernel
def expand(sources, basis, room, count, root, center, half, degree, share):
    """Add the first members of the room to a polynomial, and give it the degree that it needs.

    The polynomial has the given degree; -1: there is none yet. It is in ``room.coefs``, and
    ``room.start`` holds its floor and error. Returns the degree of the new polynomial, whose error
    is at most a share of the tolerance; -1 if no degree is exact enough.
    """
    floor, error = room.start[0], room.start[1]
    size = 0.0
    room.bounds[:] = 0.0
    if degree >= 0:
        least, size = _bound_old(basis, room, degree, half)
        floor = max(floor, least)
    room.masses[:] = 0.0
    for first in range(0, count, _WIDTH):
        width = min(_WIDTH, count - first)
        _weigh(sources, basis, room, first, width, root, center)
        for s in range(width):
            distance = 0.0
            for k in range(root.shape[0]):
                distance += abs(room.offsets[k, s])
            room.masses[min(int(distance / room.bins[0]), _BINS - 1)] += room.pulls[s]
    floor_new, size_new = _bound_new(basis, room, half)
    floor += floor_new
    if (size + size_new) * _ROUND_OFF > ROUNDING * floor:
        return -1
    best = 1
    while error + room.bounds[best] > share * TOLERANCE * floor:
        best += 1
        if best == room.bounds.shape[0]:
            return -1
    for i in range(basis.monomials.ends[degree] if degree >= 0 else 0, basis.monomials.ends[best]):
        room.coefs[i] = 0.0
    for first in range(0, count, _WIDTH):
        width = min(_WIDTH, count - first)
        _weigh(sources, basis, room, first, width, root, center)
        _add_powers(basis.monomials, room, best, (width + 15) // 16 * 16)
    room.start[0], room.start[1] = floor, error + room.bounds[best]
    return best


@bare_kernel
def shift(coefs, basis, degree, steps):
    """Move a polynomial to another centre, in place: c_a becomes sum_b c_(a+b) step^b / b!."""
    tables = basis.monomials
    for k in range(steps.shape[0]):
        for i in range(tables.ends[degree]):
            factor = 1.0
            up = i
            for n in range(1, degree - basis.degrees[i] + 1):
                up = tables.ups[up, k]
                factor *= steps[k] / n
                coefs[i] += coefs[up] * factor


@bare_kernel
def _bound_old(basis, room, degree, half):
    """Write the error of dropping all terms above each degree to ``room.bounds``.

    Returns a lower bound of the polynomial, and the sum of the absolute terms.
    """
    bounds, ends = room.bounds, basis.monomials.ends
    size, least, power = 0.0, 0.0, 1.0
    for p in range(degree + 1):
        terms = 0.0
        for i in range(ends[p - 1] if p > 0 else 0, ends[p]):
            terms += abs(room.coefs[i]) * basis.factorials[i]
        terms *= power
        bounds[p] = terms * (basis.span + p / half)
        size += bounds[p]
        least += room.coefs[0] if p == 0 else -terms
        power *= half
    above = 0.0
    for p in range(degree, -1, -1):
        bounds[p], above = above, above + bounds[p]
    return least, size


@bare_kernel
def _bound_new(basis, room, half):
    """Add the error of new terms above each degree to ``room.bounds``, for the masses in the bins.

    Returns the floor of the new points, and the sum of their absolute terms.
    """
    floor, size = 0.0, 0.0
    for b in range(_BINS):
        mass = room.masses[b]
        if mass > 0.0:
            z = half * room.bins[b]
            growth = exp(z)
            factor = mass * (room.bins[b] + basis.span)
            floor += mass / growth
            size += factor * growth
            term = 1.0
            for p in range(room.bounds.shape[0]):
                # z^p / p! (1 + z / (p + 1) + ...), as a geometric series
                rest = min(growth, term / (1.0 - z / (p + 1))) if z < p + 1 else growth
                room.bounds[p] += factor * rest
                term *= z / (p + 1)
    return floor, size


@bare_kernel
def _weigh(sources, basis, room, first, width, root, center):
    """Write offsets and W_i of some members to the room; unused places get no weight."""
    d, offsets, pulls = root.shape[0], room.offsets, room.pulls
    for s in range(width):
        pulls[s] = 0.0
    for k in range(d):
        tilt = (center[k] - root[k]) / basis.radius
        for s in range(width):
            offset = (sources.columns[k, room.members[first + s]] - root[k]) / basis.radius
            offsets[k, s] = offset
            pulls[s] += offset * (tilt - 0.5 * offset)
        for s in range(width, _WIDTH):
            offsets[k, s] = 0.0
    for s in range(width):
        pulls[s] = exponential(pulls[s])
    for s in range(width):
        pulls[s] *= sources.weights[room.members[first + s]]
    for s in range(width, _WIDTH):
        pulls[s] = 0.0


@bare_kernel
def _add_powers(tables, room, degree, width):
    """Add the monomials of the members that were weighed, up to a degree, to ``room.coefs``.

    Monomials without the first feature are kept, in the order of their numbers; each of them is
    then multiplied by the first feature, again and again.
    """
    kept = 0
    for p in range(degree + 1):
        for i in range(tables.ends[p - 1] if p > 0 else 0, tables.ends[p]):
            if i > 0 and tables.axes[i] == 0:
                continue
            if i == 0:
                room.coefs[0] += _start(room.pulls, room.kept, room.power, width)
            else:
                parent = room.rows[tables.parents[i]]
                room.coefs[i] += _multiply(
                    room.kept, parent, kept, room.offsets, tables.axes[i], room.power, width
                )
            room.rows[i] = kept
            kept += 1
            up = i
            for q in range(p, degree, 4):
                for total in _raise(room.power, room.offsets, width):
                    q += 1
                    if q <= degree:
                        up = tables.ups[up, 0]
                        room.coefs[up] += total


@fast_sums
def _start(pulls, kept, power, width):
    """Begin with the monomial 1; return its sum."""
    total = 0.0
    for s in range(width):
        kept[0, s] = pulls[s]
        power[s] = pulls[s]
        total += pulls[s]
    return total


@fast_sums
def _multiply(kept, parent, child, offsets, axis, power, width):
    """Begin with another monomial, its parent times a feature; return its sum."""
    total = 0.0
    for s in range(width):
        value = kept[parent, s] * offsets[axis, s]
        kept[child, s] = value
        power[s] = value
        total += value
    return total


@fast_sums
def _raise(power, offsets, width):
    """Multiply a monomial four times by the first feature; return the four sums."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for s in range(width):
        x = offsets[0, s]
        value = power[s] * x
        first += value
        value *= x
        second += value
        value *= x
        third += value
        value *= x
        fourth += value
        power[s] = value
    return first, second, third, fourth


@inlined_kernel
def evaluate(coefs, slopes, basis, degree, y, values, sums):
    """Write P(y) and its gradient to ``sums``; ``values`` is room for the monomials.

    ``slopes`` holds the coefficients of the derivatives, one feature after the other.
    """
    tables, d = basis.monomials, y.shape[0]
    m, m_slope = tables.ends[degree], tables.ends[degree - 1]
    values[0] = 1.0
    for i in range(1, m):
        values[i] = values[tables.parents[i]] * y[tables.axes[i]] * basis.inverses[i]
    sums[0] = dot(coefs[:m], values)
    for k in range(d):
        sums[1 + k] = dot(slopes[k * m_slope : (k + 1) * m_slope], values)
