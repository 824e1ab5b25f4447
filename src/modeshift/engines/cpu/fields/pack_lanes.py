"""The inner loops of packs (``packs.py``) as vector instructions.

In Python these are plain loops. Compiled code gets the same as vectors of eight. LLVM does not make
such vectors of loops that store sums: it would have to know that no two arrays overlap.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from modeshift.engines.cpu.fields.tree_state import SLOTS

PACK = 64
"""Largest number of places of a pack. A set of them is an integer of 64 bits, its *bits*."""

LANES = 8
"""Numbers in a vector."""

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_MASK = ir.VectorType(ir.IntType(1), LANES)
_WORD = ir.IntType(64)


def split_places(dims, places, reaches, n_vectors, box, bits):
    """Find the places that have all of a box within reach, or some of it.

    The arithmetic is that of ``flat_in_tree``, so the answer agrees with ``squared_distance`` for
    every point in the box.

    Parameters
    ----------
    dims : tuple
        Its length is d, which the compiler must know.
    places : ndarray of shape (d, 64)
    reaches : ndarray of shape (64,)
        Squared radii; -1 where there is no place.
    n_vectors : int
        Number of vectors of places that are used.
    box : ndarray of shape (3 d + 1,)
        Lower corner, upper corner, and more.
    bits : ndarray of shape (2,)
        The result: the places with all of the box within reach, and those with a part of it.
    """
    bits[0] = bits[1] = 0
    d = places.shape[0]
    for i in range(LANES * n_vectors):
        nearest = farthest = 0.0
        for k in range(d):
            below, above = box[k] - places[k, i], places[k, i] - box[d + k]
            larger, span = max(below, above), min(below, above)
            gap = max(larger, 0.0)
            nearest += gap * gap
            farthest += span * span
        inside = farthest <= reaches[i]
        bits[0] |= np.int64(inside) << i
        bits[1] |= np.int64(nearest <= reaches[i] and not inside) << i


def add_to_places(dims, bits, numbers, sums, n_vectors):
    """Add the numbers to the sums of the places in ``bits``.

    Parameters
    ----------
    dims : tuple of length d
    bits : int64
    numbers : ndarray of shape (d + 1,)
    sums : ndarray of shape (d + 1, 64)
    n_vectors : int
        Number of vectors of places that are used.
    """
    for i in range(LANES * n_vectors):
        if (bits >> i) & 1:
            for k in range(numbers.shape[0]):
                sums[k, i] += numbers[k]


def add_near(dims, points, weights, x, reach, sums):
    """Add the offsets from x of the points within reach, times their weights, and the weights.

    Parameters
    ----------
    dims : tuple of length d
    points : ndarray of shape (d, SLOTS)
    weights : ndarray of shape (SLOTS,)
    x : ndarray of shape (d,)
    reach : float
        Squared radius.
    sums : ndarray of shape (d + 1, 8)
        Eight sums that together are one.
    """
    for c in range(SLOTS):
        square = 0.0
        for k in range(len(dims)):
            offset = points[k, c] - x[k]
            square += offset * offset
        if square <= reach:
            for k in range(len(dims)):
                sums[k, c % LANES] += weights[c] * (points[k, c] - x[k])
            sums[len(dims), c % LANES] += weights[c]


def lowest_bit(bits):
    """Return the number of the lowest bit that is set."""
    return (int(bits) & -int(bits)).bit_length() - 1


@overload(split_places)
def _compile_split_places(dims, places, reaches, n_vectors, box, bits):
    return lambda dims, places, reaches, n_vectors, box, bits: _split_places(
        dims, places, reaches, n_vectors, box, bits
    )


@overload(add_to_places)
def _compile_add_to_places(dims, bits, numbers, sums, n_vectors):
    return lambda dims, bits, numbers, sums, n_vectors: _add_to_places(
        dims, bits, numbers, sums, n_vectors
    )


@overload(add_near)
def _compile_add_near(dims, points, weights, x, reach, sums):
    return lambda dims, points, weights, x, reach, sums: _add_near(
        dims, points, weights, x, reach, sums
    )


@overload(lowest_bit)
def _compile_lowest_bit(bits):
    return lambda bits: _lowest_bit(bits)


@intrinsic
def _split_places(typing, dims, places, reaches, n_vectors, box, bits):
    def generate(context, builder, signature, arguments):
        d = signature.args[0].count
        places, reaches, box, bits = _arrays(context, builder, signature, arguments, (1, 2, 4, 5))
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        corners = [_spread(builder, _number(builder, box, _WORD(k))) for k in range(2 * d)]
        found = [cgutils.alloca_once_value(builder, _WORD(0)) for _ in range(2)]
        with cgutils.for_range(builder, arguments[3]) as loop:
            first = builder.mul(loop.index, _WORD(LANES))
            nearest = farthest = zeros
            for k in range(d):
                x = _load(builder, places, builder.add(first, _WORD(PACK * k)))
                below, above = builder.fsub(corners[k], x), builder.fsub(x, corners[d + k])
                below_is_larger = builder.fcmp_ordered(">", below, above)
                larger = builder.select(below_is_larger, below, above)
                span = builder.select(below_is_larger, above, below)
                gap = builder.select(builder.fcmp_ordered(">", larger, zeros), larger, zeros)
                nearest = builder.fadd(nearest, builder.fmul(gap, gap))
                farthest = builder.fadd(farthest, builder.fmul(span, span))
            reach = _load(builder, reaches, first)
            inside = builder.fcmp_ordered("<=", farthest, reach)
            touched = builder.fcmp_ordered("<=", nearest, reach)
            partly = builder.and_(touched, builder.not_(inside))
            for bit, mask in zip(found, (inside, partly), strict=True):
                part = builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _WORD)
                builder.store(builder.or_(builder.load(bit), builder.shl(part, first)), bit)
        for i, bit in enumerate(found):
            builder.store(builder.load(bit), builder.gep(bits.data, [_WORD(i)]))
        return context.get_dummy_value()

    return types.void(dims, places, reaches, types.int64, box, bits), generate


@intrinsic
def _add_to_places(typing, dims, bits, numbers, sums, n_vectors):
    def generate(context, builder, signature, arguments):
        rows = range(signature.args[0].count + 1)
        numbers, sums = _arrays(context, builder, signature, arguments, (2, 3))
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        spread = [_spread(builder, _number(builder, numbers, _WORD(k))) for k in rows]
        with cgutils.for_range(builder, arguments[4]) as loop:
            first = builder.mul(loop.index, _WORD(LANES))
            part = builder.trunc(builder.lshr(arguments[1], first), ir.IntType(LANES))
            mask = builder.bitcast(part, _MASK)
            for k in rows:
                place = builder.add(first, _WORD(PACK * k))
                term = builder.select(mask, spread[k], zeros)
                _store(builder, builder.fadd(_load(builder, sums, place), term), sums, place)
        return context.get_dummy_value()

    return types.void(dims, types.int64, numbers, sums, types.int64), generate


@intrinsic
def _add_near(typing, dims, points, weights, x, reach, sums):
    """All vectors of a sum stay in registers."""

    def generate(context, builder, signature, arguments):
        d = signature.args[0].count
        points, weights, x, sums = _arrays(context, builder, signature, arguments, (1, 2, 3, 5))
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        reach = _spread(builder, arguments[4])
        centre = [_spread(builder, _number(builder, x, _WORD(k))) for k in range(d)]
        totals = [_load(builder, sums, _WORD(LANES * k)) for k in range(d + 1)]
        for slot in range(0, SLOTS, LANES):
            offsets, square = [], zeros
            for k in range(d):
                points_k = _load(builder, points, _WORD(SLOTS * k + slot))
                offsets.append(builder.fsub(points_k, centre[k]))
                square = builder.fadd(square, builder.fmul(offsets[k], offsets[k]))
            near = builder.fcmp_ordered("<=", square, reach)
            weight = _load(builder, weights, _WORD(slot))
            terms = [builder.fmul(weight, offset) for offset in offsets] + [weight]
            for k, term in enumerate(terms):
                totals[k] = builder.fadd(totals[k], builder.select(near, term, zeros))
        for k, total in enumerate(totals):
            _store(builder, total, sums, _WORD(LANES * k))
        return context.get_dummy_value()

    return types.void(dims, points, weights, x, types.float64, sums), generate


@intrinsic
def _lowest_bit(typing, bits):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


def _arrays(context, builder, signature, arguments, which):
    """Return some of the arguments as arrays."""
    return [context.make_array(signature.args[i])(context, builder, arguments[i]) for i in which]


def _number(builder, array, place):
    return builder.load(builder.gep(array.data, [place]))


def _load(builder, array, place):
    loaded = builder.load(_vector_at(builder, array, place))
    loaded.align = 8  # an array need not begin at a vector
    return loaded


def _store(builder, value, array, place):
    builder.store(value, _vector_at(builder, array, place)).align = 8


def _vector_at(builder, array, place):
    return builder.bitcast(builder.gep(array.data, [place]), _VECTOR.as_pointer())


def _spread(builder, number):
    """Return a vector of equal numbers."""
    index = ir.IntType(32)
    alone = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, index(0))
    zeros = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
    return builder.shuffle_vector(alone, alone, zeros)
