"""Sums that do not depend on the order of their terms."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from modeshift.engines.cpu.compress import cells_of_tally, compress, join, tally

WEIGHTS = st.sampled_from([0.0, 1.0, 3.0, 0.1, 1e-3, 1e9, 2.0**-60, 1e-140, 5e-324, 2.0**26, 1e200])


@st.composite
def weighted_points(draw):
    n, d = draw(st.integers(1, 30)), draw(st.sampled_from([1, 2, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([1e-9, 1.0, 50.0, 1e7, 1e17]))
    points = scale * rng.normal(size=(n, d))
    if draw(st.booleans()):
        points = np.rint(points)
    return points, np.array(draw(st.lists(WEIGHTS, min_size=n, max_size=n)))


@given(weighted_points(), st.sampled_from([0.3, 0.5, 1.0, 1.7]), st.randoms(use_true_random=False))
def test_cells_are_the_same_bit_for_bit_however_the_data_are_cut(data, side, random):
    """The cells of the whole, and those of chunks joined in any order by any tree."""
    points, weights = data
    whole = compress(points, weights, side)
    cuts = sorted(random.choices(range(len(points) + 1), k=random.randrange(6)))
    bounds = [0, *cuts, len(points)]
    parts = [tally(points[a:b], weights[a:b], side, a) for a, b in pairwise(bounds)]
    random.shuffle(parts)
    while len(parts) > 1:
        size = random.randrange(2, 5)
        parts = [*parts[size:], join(parts[:size])]
    cells = cells_of_tally(parts[0], side)
    assert_array_equal(cells.points, whole.points)
    assert_array_equal(cells.weights, whole.weights)
    assert_array_equal(cells.keys, whole.keys)
    assert_array_equal(cells.firsts, whole.firsts)


@given(st.lists(WEIGHTS, min_size=1, max_size=40))
def test_masses_are_the_sums_to_the_last_bits(weights):
    """Against rational numbers: 52 bits below the heaviest weight are kept."""
    weights = np.array(weights)
    mass = compress(np.zeros((len(weights), 1)), weights, 1.0).weights[0]
    exact = sum(map(Fraction, weights.tolist()))
    lost = len(weights) * Fraction(weights.max()) / 2**52 + Fraction(2) ** -1000
    assert abs(Fraction(float(mass)) - exact) <= lost + exact / 2**52


@pytest.mark.parametrize("place", [0.1, -0.1, 1e-7, 3.7, -1e6 / 3, 123456.789])
@pytest.mark.parametrize("n", [1, 3, 7, 1000])
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs long doubles")
def test_points_that_coincide_keep_their_place(place, n):
    """To the last bit, so that a fine grid changes nothing."""
    cells = compress(np.full((n, 1), place), np.ones(n), 0.3)
    assert cells.points.tolist() == [[place]]
    assert cells.weights.tolist() == [n]


def test_many_heavy_points_do_not_overflow():
    points = np.full((100_000, 1), 0.999)
    cells = compress(points, np.full(100_000, 2.0**26), 1.0)
    assert cells.points[0, 0] == pytest.approx(0.999, abs=1e-15)
    assert cells.weights[0] == 100_000 * 2.0**26


def test_where_cells_are_finer_than_floats_every_float_is_a_cell():
    """Even where the number of a cell is beyond all floats; and none is taken for another cell."""
    points = np.array([[1e300], [5.5], [5.5 * 2.0**-60], [5.4e-18], [-5.5], [5.5]])
    cells = compress(points, np.ones(6), 1e-18)
    assert_array_equal(cells.points[cells.cell_of], points)
    assert cells.cell_of.tolist()[1] == cells.cell_of.tolist()[5]
    assert len(cells.points) == 5
