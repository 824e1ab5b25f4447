"""Two inner loops as vector instructions that the compiler does not find by itself.

Both work on a stage of 64 points. A set of them is an integer of 64 bits, its *bits*. In Python
these are plain loops; compiled code gets the same as vectors, which every processor understands.

LLVM makes vectors of loops over arrays only if the arrays are known not to overlap, and it keeps
sums in memory in between. These loops are several times faster than what it makes of them.
"""

from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

STAGE = 64
"""Number of points in a stage."""

QUARTET = 4
"""Number of points that a table row adds up: there is a row for each of their 16 subsets."""

_FLOATS = ir.VectorType(ir.FloatType(), 16)
_DOUBLES = ir.VectorType(ir.DoubleType(), 4)
_WORD = ir.IntType(64)
_INDEX = ir.IntType(32)
_VECTORS = STAGE // _FLOATS.count
_PAIR = 2
_QUARTETS = STAGE // QUARTET
_SUBSETS = 1 << QUARTET


def padded(width: int) -> int:
    """Return a number of columns that is a whole number of vectors."""
    return -(-width // _DOUBLES.count) * _DOUBLES.count


def aligned(shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Return an array of zeros that starts at a cache line, so that no vector lies across two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def near_bits(places, stage, lows, highs, count, near, within):
    """Compute for each place which points are near for certain, and which may be near.

    With v_c = sum_k x_k stage[k, c] + stage[d, c] for the place x, in float32 and in any order, the
    first are those with v_c <= low, the second those with v_c - stage[d + 1, c] <= high.

    Parameters
    ----------
    places : ndarray of shape (m, d), float32
        m is even.
    stage : ndarray of shape (d + 2, 64), float32
    lows, highs : ndarray of shape (m,), float32
    count : int
        Number of places, from the first. If it is odd, the next place is computed too.
    near, within : ndarray of shape (m,), int64
        The bits.
    """
    d = places.shape[1]
    for i in range(count):
        near[i] = within[i] = 0
        for c in range(STAGE):
            value = stage[d, c]
            for k in range(d):
                value += places[i, k] * stage[k, c]
            near[i] |= np.int64(value <= lows[i]) << c
            within[i] |= np.int64(value - stage[d + 1, c] <= highs[i]) << c


def add_subsets(table, bits, sums):
    """Add to ``sums`` the rows of the points in ``bits``, four points at a time.

    Parameters
    ----------
    table : ndarray of shape (16 * 16, w)
        Row 16 g + s is the sum over the points 4 g + b for which bit b of s is set.
    bits : int64
    sums : ndarray of shape (w,)
        w is a multiple of 4; see ``padded``.
    """
    for quartet in range(_QUARTETS):
        row = quartet * _SUBSETS + (bits >> (QUARTET * quartet)) % _SUBSETS
        for k in range(sums.shape[0]):
            sums[k] += table[row, k]


def fill_subsets(table, rows):
    """Compute the table for :func:`add_subsets` from the rows of the 64 points."""
    for quartet in range(_QUARTETS):
        first = quartet * _SUBSETS
        table[first] = 0.0
        for b in range(QUARTET):
            for subset in range(1 << b):
                for k in range(table.shape[1]):
                    table[first + subset + (1 << b), k] = (
                        table[first + subset, k] + rows[QUARTET * quartet + b, k]
                    )


@overload(near_bits)
def _compile_near_bits(places, stage, lows, highs, count, near, within):
    return lambda places, stage, lows, highs, count, near, within: _near_bits(
        places, stage, lows, highs, count, near, within
    )


@overload(add_subsets)
def _compile_add_subsets(table, bits, sums):
    return lambda table, bits, sums: _add_subsets(table, bits, sums)


@overload(fill_subsets)
def _compile_fill_subsets(table, rows):
    return lambda table, rows: _fill_subsets(table, rows)


@intrinsic
def _near_bits(typing, places, stage, lows, highs, count, near, within):
    """Two places at a time, whose values stay in registers during the loop over the features."""

    def generate(context, builder, signature, arguments):
        places, stage, lows, highs, near, within = _arrays(
            context, builder, signature, arguments, (0, 1, 2, 3, 5, 6)
        )
        d = builder.extract_value(places.shape, 1)
        values = [cgutils.alloca_once(builder, _FLOATS) for _ in range(_PAIR * _VECTORS)]
        with _steps(builder, arguments[4], _PAIR) as first:
            pair = [builder.add(first, _WORD(i)) for i in range(_PAIR)]
            for v, value in enumerate(values):
                builder.store(_load(builder, stage, _at(builder, d, v % _VECTORS), _FLOATS), value)
            with cgutils.for_range(builder, d) as loop:
                columns = [
                    _load(builder, stage, _at(builder, loop.index, v), _FLOATS)
                    for v in range(_VECTORS)
                ]
                for p, place in enumerate(pair):
                    where = builder.add(builder.mul(place, d), loop.index)
                    factor = _spread(builder, _number(builder, places, where))
                    for value, column in zip(values[p * _VECTORS :], columns, strict=False):
                        product = builder.fmul(factor, column, flags=("contract",))
                        total = builder.fadd(builder.load(value), product, flags=("contract",))
                        builder.store(total, value)
            last = builder.add(d, _WORD(1))
            slack = [_load(builder, stage, _at(builder, last, v), _FLOATS) for v in range(_VECTORS)]
            for p, place in enumerate(pair):
                upper = [builder.load(value) for value in values[p * _VECTORS : (p + 1) * _VECTORS]]
                lower = [builder.fsub(*both) for both in zip(upper, slack, strict=True)]
                for found, limits, bits in ((upper, lows, near), (lower, highs, within)):
                    found = _bits_up_to(builder, found, _number(builder, limits, place))
                    builder.store(found, builder.gep(bits.data, [place]))
        return context.get_dummy_value()

    arguments = (places, stage, lows, highs, count, near, within)
    return types.void(*arguments), generate


@intrinsic
def _add_subsets(typing, table, bits, sums):
    """The rows of all quartets are added up at once, a vector of columns at a time."""

    def generate(context, builder, signature, arguments):
        table, sums = _arrays(context, builder, signature, arguments, (0, 2))
        width = builder.extract_value(sums.shape, 0)
        starts = []
        for quartet in range(_QUARTETS):
            shifted = builder.lshr(arguments[1], _WORD(QUARTET * quartet))
            row = builder.add(builder.and_(shifted, _WORD(_SUBSETS - 1)), _WORD(_SUBSETS * quartet))
            starts.append(builder.mul(row, width))
        with _steps(builder, width, _DOUBLES.count) as k:
            terms = [_load(builder, table, builder.add(start, k), _DOUBLES) for start in starts]
            total = _load(builder, sums, k, _DOUBLES)
            while len(terms) > 1:  # in pairs, so that no addition waits for all others
                terms = [builder.fadd(*pair) for pair in zip(terms[::2], terms[1::2], strict=True)]
            _store(builder, builder.fadd(total, terms[0]), sums, k)
        return context.get_dummy_value()

    return types.void(table, bits, sums), generate


@intrinsic
def _fill_subsets(typing, table, rows):
    """Every subset is a smaller one and one point more."""

    def generate(context, builder, signature, arguments):
        table, rows = _arrays(context, builder, signature, arguments, (0, 1))
        width = builder.extract_value(table.shape, 1)
        with (
            cgutils.for_range(builder, _WORD(_QUARTETS)) as loop,
            _steps(builder, width, _DOUBLES.count) as k,
        ):

            def place(row, count):
                first = builder.mul(loop.index, _WORD(count))
                return builder.add(builder.mul(builder.add(first, _WORD(row)), width), k)

            subsets = [ir.Constant(_DOUBLES, [0.0] * _DOUBLES.count)]
            for b in range(QUARTET):
                point = _load(builder, rows, place(b, QUARTET), _DOUBLES)
                subsets += [builder.fadd(smaller, point) for smaller in subsets]
            for row, subset in enumerate(subsets):
                _store(builder, subset, table, place(row, _SUBSETS))
        return context.get_dummy_value()

    return types.void(table, rows), generate


def _arrays(context, builder, signature, arguments, which):
    """Return some of the arguments as arrays."""
    return [context.make_array(signature.args[i])(context, builder, arguments[i]) for i in which]


def _at(builder, row, vector):
    """Return the place of a vector of a row of the stage."""
    return builder.add(builder.mul(row, _WORD(STAGE)), _WORD(_FLOATS.count * vector))


@contextmanager
def _steps(builder, stop, step):
    """Loop from 0 to before ``stop``."""
    with cgutils.for_range_slice(builder, _WORD(0), stop, _WORD(step)) as (index, _):
        yield index


def _number(builder, array, place):
    return builder.load(builder.gep(array.data, [place]))


def _load(builder, array, place, vector):
    pointer = builder.bitcast(builder.gep(array.data, [place]), vector.as_pointer())
    loaded = builder.load(pointer)
    loaded.align = _alignment(vector)
    return loaded


def _store(builder, value, array, place):
    pointer = builder.bitcast(builder.gep(array.data, [place]), value.type.as_pointer())
    builder.store(value, pointer).align = _alignment(value.type)


def _alignment(vector):
    """Return the alignment of a number: an array need not begin at a vector."""
    return 4 if vector is _FLOATS else 8


def _spread(builder, number):
    """Return a vector of equal float32 numbers."""
    alone = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), number, _INDEX(0))
    zeros = ir.Constant(ir.VectorType(_INDEX, _FLOATS.count), [0] * _FLOATS.count)
    return builder.shuffle_vector(alone, alone, zeros)


def _bits_up_to(builder, values, limit):
    """Return the bits of the values that are at most the limit."""
    bits = _WORD(0)
    for q, value in enumerate(values):
        within = builder.fcmp_ordered("<=", value, _spread(builder, limit))
        part = builder.zext(builder.bitcast(within, ir.IntType(_FLOATS.count)), _WORD)
        bits = builder.or_(bits, builder.shl(part, _WORD(_FLOATS.count * q)))
    return bits
