"""Climbs that meet go on as one, and nobody can tell."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from helpers import make_data
from modeshift import MeanShift
from modeshift.engines.cpu.fields import make_field
from modeshift.engines.cpu.meeting import MeetingTable
from modeshift.engines.schedules.climb import LastSteps, climb


@pytest.mark.parametrize("max_iter", [1, 2, 5, 9, 300])
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "lattice", "uniform"])
def test_same_ends_and_counts_as_climbs_that_go_alone(maker, max_iter):
    """Recorded climbs go alone. max_iter must cut a follower where it would have been cut."""
    X, h = make_data(maker, 150, 2)
    field = make_field(X, np.ones(150), h)
    settings = {"tol": 1e-3 * h, "max_iter": max_iter}
    together = climb(field, X, **settings)
    alone = climb(field, X, **settings, record=True)
    assert_array_equal(together.ends, alone.ends)
    assert together[1:4] == alone[1:4]


@pytest.mark.parametrize("max_iter", [1, 5, 300])
@pytest.mark.parametrize("maker", ["clustered", "lattice"])
def test_last_steps_are_those_of_climbs_that_go_alone(maker, max_iter):
    X, h = make_data(maker, 150, 2)
    field = make_field(X, np.ones(150), h)
    settings = {"tol": 1e-3 * h, "max_iter": max_iter}
    last = LastSteps(field.space, X)
    climb(field, X, **settings, last=last)
    paths = climb(field, X, **settings, record=True).paths
    assert_array_equal(last.places, [path[-2] for path in paths])
    assert_array_equal(last.masses, field.means_near(last.places).masses)


def test_who_comes_where_another_has_been_follows():
    table = MeetingTable(3, 2)
    places = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert not table.meet(np.arange(3), places, 1).any()
    met = table.meet(np.array([0, 2]), np.array([[3.0, 4.0], [7.0, 8.0]]), 4)
    assert_array_equal(met, [True, False])
    assert table.leaders[0] == 1
    assert table.heads[0] == 1 - 4
    assert_array_equal(table.leaders[1:], [-1, -1])


def test_threads_change_nothing():
    """Enough climbs for several threads; many come to the same places, and the table overflows."""
    rng = np.random.default_rng(0)
    tables = [MeetingTable(20_000, 2, n_jobs) for n_jobs in (1, 3)]
    climbing = np.arange(20_000)
    for step in range(1, 12):
        positions = rng.integers(0, 300, (len(climbing), 2)) / 7.0
        one, three = (table.meet(climbing, positions, step) for table in tables)
        assert_array_equal(one, three)
        climbing = climbing[~one]
    assert len(climbing) < 5000
    for name in ("leaders", "heads"):
        assert_array_equal(getattr(tables[0], name), getattr(tables[1], name))


def test_two_who_arrive_at_the_same_time_meet():
    table = MeetingTable(2, 1)
    assert_array_equal(table.meet(np.arange(2), np.array([[1.5], [1.5]]), 3), [False, True])
    assert_array_equal(table.leaders, [-1, 0])


def test_climbs_that_go_in_circles_follow_nobody():
    """A climb may come to its own earlier place, or to that of a climb that follows it."""
    table = MeetingTable(2, 1)
    here, there = np.array([[1.0]]), np.array([[2.0]])
    first, second = np.array([0]), np.array([1])
    assert not table.meet(first, here, 1).any()
    assert not table.meet(first, here, 2).any()  # its own place
    assert not table.meet(second, there, 1).any()
    assert table.meet(first, there, 3).all()  # the first follows the second
    assert not table.meet(second, here, 2).any()  # where the first has been
    assert table.leaders.tolist() == [1, -1]


@pytest.mark.parametrize("options", [{"tol": 0.0}, {}])
def test_fits_end_where_rounding_is_coarse(options):
    X = make_blobs(100, random_state=12)[0] + (0.0 if options else 1e15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = MeanShift(bandwidth=1.5, max_iter=50, **options).fit(X)
    assert fitted.n_iter_ <= 50
    assert len(fitted.predict(X[:5])) == 5
