"""Climbs that meet go on as one, and nobody can tell."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from conftest import make_data
from modeshift.fields import make_field
from modeshift.schedules.deterministic import climb
from modeshift.schedules.meeting import MeetingTable


@pytest.mark.parametrize("max_iter", [1, 2, 5, 9, 300])
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "lattice", "uniform"])
def test_same_ends_and_counts_as_climbs_that_go_alone(maker, max_iter):
    """Recorded climbs go alone. max_iter must cut a follower where it would have been cut."""
    X, h = make_data(maker, 150, 2)
    field = make_field(X, np.ones(150), h)
    settings = {"radius": h, "tol": 1e-3 * h, "max_iter": max_iter}
    together = climb(field, X, **settings).outcome
    alone = climb(field, X, **settings, record=True).outcome
    assert_array_equal(together.ends, alone.ends)
    assert together[1:4] == alone[1:4]


def test_who_comes_where_another_has_been_follows():
    table = MeetingTable(3, 2)
    places = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert not table.meet(np.arange(3), places, 1).any()
    met = table.meet(np.array([0, 2]), np.array([[3.0, 4.0], [7.0, 8.0]]), 4)
    assert_array_equal(met, [True, False])
    assert table.leaders[0] == 1
    assert table.heads[0] == 1 - 4
    assert_array_equal(table.leaders[1:], [-1, -1])


def test_two_who_arrive_at_the_same_time_meet():
    table = MeetingTable(2, 1)
    assert_array_equal(table.meet(np.arange(2), np.array([[1.5], [1.5]]), 3), [False, True])
    assert_array_equal(table.leaders, [-1, 0])
