"""The nearest of many targets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers import make_data
from modeshift.engines.cpu.nearest import NearestSearch, nearest_rows


def first_nearest(targets, places):
    """The twin: all squared distances, the first of the smallest."""
    return np.array([np.argmin(np.sum((targets - x) ** 2, axis=1)) for x in places])


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("maker", ["clustered", "uniform", "duplicates", "lattice"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (15, 1), (80, 2), (70, 3), (60, 7)])
def test_equals_the_twin(maker, n, d, n_jobs):
    targets, h = make_data(maker, n, d)
    rng = np.random.default_rng(1)
    places = np.concatenate([targets, rng.uniform(-3 * h, 3 * h, (40, d))])
    assert_array_equal(nearest_rows(targets, places, n_jobs), first_nearest(targets, places))


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "lattice"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (15, 1), (80, 2), (60, 7)])
def test_several_equal_the_twin(maker, n, d, k):
    targets, h = make_data(maker, n, d)
    rng = np.random.default_rng(1)
    places = np.concatenate([targets, rng.uniform(-3 * h, 3 * h, (40, d))])
    squares = np.sum((places[:, None] - targets) ** 2, axis=2)
    rows, found = NearestSearch(targets).several(places, k)
    assert_allclose(found, np.sort(squares, axis=1)[:, :k], rtol=1e-12, atol=1e-300)
    assert_allclose(np.take_along_axis(squares, rows, 1), found, rtol=1e-12, atol=1e-300)
    assert all(len(set(row)) == min(k, n) for row in rows.tolist())
    ties = found[:, 1:] == found[:, :-1]
    assert np.all((rows[:, 1:] > rows[:, :-1])[ties])


def test_ties_go_to_the_lower_index():
    """The middle of a square of a lattice has four neighbours at the same distance."""
    targets = np.array([[x, y] for x in range(12) for y in range(12)], dtype=float)[::-1].copy()
    places = targets + 0.5
    assert_array_equal(nearest_rows(targets, places), first_nearest(targets, places))


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_squares_that_overflow():
    targets = np.array([[0.0], [1e200], [-1e300]])
    assert_array_equal(nearest_rows(targets, np.array([[9e199], [-2e300], [1.0]])), [1, 2, 0])
    rows, squares = NearestSearch(targets).several(np.array([[3e199], [2e160]]), 3)
    assert_array_equal(rows, [[0, 1, 2], [0, 1, 2]])
    assert_allclose(squares[0, 1] / squares[0, 0], (7 / 3) ** 2)
    assert np.all(squares >= 1e300)
