"""The vector loops equal their equations, compiled and in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from modeshift.engines.cpu import lanes
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.lanes import STAGE, aligned, padded


@bare_kernel
def near_bits(places, stage, lows, highs, count, near, within):
    lanes.near_bits(places, stage, lows, highs, count, near, within)


@bare_kernel
def add_subsets(table, bits, sums):
    lanes.add_subsets(table, bits, sums)


@bare_kernel
def fill_subsets(table, rows):
    lanes.fill_subsets(table, rows)


KINDS = ["python", pytest.param("compiled", marks=pytest.mark.jit)]


def loop(kind, name):
    return globals()[name] if kind == "compiled" else getattr(lanes, name)


def from_bits(bits):
    """Mask of the points in a set of bits."""
    return np.array([int(bits) >> c & 1 for c in range(STAGE)], dtype=bool)


def to_bits(mask):
    return np.packbits(mask, bitorder="little").view(np.int64)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("d", [1, 4, 10, 31])
def test_near_bits(kind, count, d):
    """Whole numbers, so that every order of the sums gives the same."""
    rng = np.random.default_rng([count, d])
    places = rng.integers(-3, 4, (6, d)).astype(np.float32)
    stage = rng.integers(-3, 4, (d + 2, STAGE)).astype(np.float32)
    stage[d + 1] = abs(stage[d + 1])
    lows = rng.integers(-5, 5, 6).astype(np.float32)
    highs = lows + np.float32(1.0)
    near, within = np.full(6, 77), np.full(6, 77)
    loop(kind, "near_bits")(places, stage, lows, highs, count, near, within)
    values = places @ stage[:d] + stage[d]
    for i in range(count):
        assert_array_equal(from_bits(near[i]), values[i] <= lows[i])
        assert_array_equal(from_bits(within[i]), values[i] - stage[d + 1] <= highs[i])
    assert_array_equal(near[count + count % 2 :], 77)
    assert_array_equal(within[count + count % 2 :], 77)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([4, 8, 12, 32]))
def test_subsets_add_up(kind, seed, width):
    rng = np.random.default_rng(seed)
    rows, table = aligned((STAGE, width)), aligned((256, width))
    rows[:] = rng.integers(-9, 9, rows.shape)
    table[:] = np.nan
    loop(kind, "fill_subsets")(table, rows)
    for mask in (rng.random(STAGE) < rng.random(), np.zeros(STAGE, bool), np.ones(STAGE, bool)):
        sums = np.arange(width, dtype=float)
        loop(kind, "add_subsets")(table, to_bits(mask), sums)
        assert_array_equal(sums, np.arange(width) + rows[mask].sum(axis=0))


@pytest.mark.jit
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 40))
def test_the_error_of_the_products_is_below_the_bound_of_the_groups(seed, d):
    """|v - exact| < 2^-24 (1.5 (d + 4) + 1) for places and points of length up to 1 and 1."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(STAGE, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    place = rng.normal(size=(2, d))
    place /= np.linalg.norm(place, axis=1, keepdims=True)
    exact = 0.5 * (points**2).sum(axis=1) - points @ place[0]
    bound = 2.0**-24 * (1.5 * (d + 4) + 1)
    stage = np.zeros((d + 2, STAGE), dtype=np.float32)
    stage[:d], stage[d] = points.T, 0.5 * (points**2).sum(axis=1)
    near, within = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for c in range(0, STAGE, 7):
        low, high = (np.full(2, exact[c] + sign * bound, np.float32) for sign in (-1, 1))
        near_bits(-place.astype(np.float32), stage, low, high, 1, near, within)
        assert not from_bits(near[0])[c]
        assert from_bits(within[0])[c]


def test_arrays_begin_at_a_cache_line():
    for shape in [(1,), (3, 5), (256, 12)]:
        array = aligned(shape, np.float32)
        assert array.ctypes.data % 64 == 0
        assert array.shape == shape
        assert array.dtype == np.float32
        assert_allclose(array, 0.0)
    assert [padded(width) for width in (1, 4, 5, 11, 32)] == [4, 4, 8, 12, 32]
