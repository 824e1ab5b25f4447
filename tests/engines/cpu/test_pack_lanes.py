"""The vector loops of packs equal their equations, compiled and in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from modeshift.engines.cpu.fields import pack_lanes
from modeshift.engines.cpu.fields.pack_lanes import LANES, PACK
from modeshift.engines.cpu.fields.tree_state import SLOTS
from modeshift.engines.cpu.jit import bare_kernel


@bare_kernel
def split_places(dims, places, reaches, n_vectors, box, bits):
    pack_lanes.split_places(dims, places, reaches, n_vectors, box, bits)


@bare_kernel
def add_to_places(dims, bits, numbers, sums, n_vectors):
    pack_lanes.add_to_places(dims, bits, numbers, sums, n_vectors)


@bare_kernel
def add_near(dims, points, weights, x, reach, sums):
    pack_lanes.add_near(dims, points, weights, x, reach, sums)


@bare_kernel
def lowest_bit(bits):
    return pack_lanes.lowest_bit(bits)


KINDS = ["python", pytest.param("compiled", marks=pytest.mark.jit)]
SEEDS = st.integers(0, 2**32 - 1)


def loop(kind, name):
    return globals()[name] if kind == "compiled" else getattr(pack_lanes, name)


def from_bits(bits):
    return np.array([int(bits) >> c & 1 for c in range(PACK)], dtype=bool)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS, d=st.integers(2, 4), n_vectors=st.integers(1, 8))
def test_places_and_a_box(kind, seed, d, n_vectors):
    """On a lattice, so that places are exactly on borders."""
    rng = np.random.default_rng(seed)
    places = rng.integers(-3, 4, (d, PACK)).astype(float)
    reaches = rng.choice([-1.0, 1.0, 4.0, 9.0], PACK)
    box = np.zeros(3 * d + 1)
    box[:d] = rng.integers(-2, 2, d)
    box[d : 2 * d] = box[:d] + rng.integers(0, 3, d)
    bits = np.full(2, 77)
    loop(kind, "split_places")((0,) * d, places, reaches, n_vectors, box, bits)
    low, high = box[:d, np.newaxis], box[d : 2 * d, np.newaxis]
    nearest = (np.maximum(np.maximum(low - places, places - high), 0) ** 2).sum(axis=0)
    farthest = (np.maximum(abs(low - places), abs(places - high)) ** 2).sum(axis=0)
    used = np.arange(PACK) < LANES * n_vectors
    assert_array_equal(from_bits(bits[0]), used & (farthest <= reaches))
    assert_array_equal(from_bits(bits[1]), used & (nearest <= reaches) & (farthest > reaches))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS, d=st.integers(2, 4), n_vectors=st.integers(1, 8))
def test_numbers_are_added_to_marked_places(kind, seed, d, n_vectors):
    rng = np.random.default_rng(seed)
    numbers, sums = rng.normal(size=d + 1), rng.normal(size=(d + 1, PACK))
    marked = rng.random(PACK) < 0.5
    marked[LANES * n_vectors :] = False
    expected = sums + np.where(marked, numbers[:, np.newaxis], 0.0)
    bits = np.packbits(marked, bitorder="little").view(np.int64)[0]
    loop(kind, "add_to_places")((0,) * d, bits, numbers, sums, n_vectors)
    assert_array_equal(sums, expected)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS, d=st.integers(2, 4))
def test_offsets_of_near_points(kind, seed, d):
    rng = np.random.default_rng(seed)
    points, x = rng.integers(-3, 4, (d, SLOTS)).astype(float), rng.integers(-2, 3, d).astype(float)
    points[:, rng.random(SLOTS) < 0.2] = 2.0**1020  # empty slots
    weights, reach = rng.integers(0, 4, SLOTS).astype(float), rng.choice([0.0, 4.0, 9.0])
    sums = np.ones((d + 1, LANES))
    with np.errstate(over="ignore"):
        loop(kind, "add_near")((0,) * d, points, weights, x, reach, sums)
        near = ((points - x[:, np.newaxis]) ** 2).sum(axis=0) <= reach
    terms = np.vstack([weights * (points - x[:, np.newaxis]), weights])
    assert_array_equal(sums.sum(axis=1), LANES + np.where(near, terms, 0.0).sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
@given(bits=st.integers(-(2**63), 2**63 - 1).filter(bool))
def test_lowest_bit(kind, bits):
    expected = next(c for c in range(64) if bits >> c & 1)
    assert loop(kind, "lowest_bit")(np.int64(bits)) == expected
