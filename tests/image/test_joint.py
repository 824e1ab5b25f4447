"""The stochastic and the blurring schedule equal their twins to the last unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from image.pictures import PICTURES, holes_in, noise, prepared, units_of
from modeshift.engines.cpu.fields.protocol import mean_of, move
from modeshift.image.joint import joint_field, seek
from twins import image as twin

WIDE = (noise((5, 90), np.uint8), {"range": 40, "spatial": 3})
"""Many cells, most of which are far from each other."""


def points_and_units(plan, block):
    places = np.argwhere(block.valid) * plan.settings.unit
    points = np.concatenate([places, units_of(plan, block)[block.valid]], axis=1)
    n_bands = plan.layout.n_bands
    return points, np.array([*plan.settings.radius, *[plan.colours.range_units] * n_bands])


def ends_of(block, ends, n_bands):
    valid = block.valid.ravel()
    return np.concatenate([ends.places[:, valid], ends.colours[:n_bands, valid]]).T


@pytest.mark.parametrize("schedule", ["stochastic", "blurring"])
@pytest.mark.parametrize("name", [*PICTURES, "wide"])
def test_equals_the_twin(name, schedule):
    image, parameters = PICTURES.get(name, WIDE)
    mask = None if name == "wide" else holes_in(name)
    plan, block = prepared(image, mask, schedule=schedule, **parameters)
    points, units = points_and_units(plan, block)
    tol, max_iter = np.sqrt(plan.settings.quiet), plan.settings.max_iter
    ends, converged = seek(plan, block, np.random.RandomState(3), 1)
    if schedule == "stochastic":
        wanted = twin.wander(points, units, tol, max_iter, np.random.RandomState(3))
    else:
        wanted = twin.blur(points, units, tol, max_iter)
    assert_array_equal(ends_of(block, ends, plan.layout.n_bands), wanted[0])
    assert converged == wanted[1]


def test_threads_change_nothing():
    plan, block = prepared(WIDE[0], schedule="blurring", **WIDE[1])
    alone, together = (seek(plan, block, None, n_threads)[0] for n_threads in (1, 3))
    assert_array_equal(alone.places, together.places)
    assert_array_equal(alone.colours, together.colours)


def test_a_point_that_stays_is_asked_again_when_its_neighbours_move():
    plan, block = prepared(np.full((1, 60), 7, np.uint8), range=5, spatial=2)
    state = joint_field(plan, block, 1).state
    out = np.zeros(400)

    def asked(j):
        mass = mean_of(state, j, 1.0, out)
        return mass, (out[2] * plan.settings.radius[2] / plan.settings.unit).item()

    assert asked(30) == (5, 30)
    far = state.points[30].copy()
    move(state, 31, far)
    assert asked(30) == (5, 29.8125)  # (28 + 29 + 30 + 30 + 32) / 5, in sixteenths
    assert asked(10) == (5, 10)
    move(state, 30, state.points[0].copy())
    assert asked(10) == (5, 10)
    move(state, 30, state.points[10].copy())
    assert asked(10) == (6, 10)


def test_blocks_of_cells_are_used_again():
    """All points go through one cell and back, so that blocks are emptied and taken again."""
    plan, block = prepared(np.full((6, 40), 7, np.uint8), range=5, spatial=2)
    field = joint_field(plan, block, 1)
    state, before = field.state, field.points.copy()
    wanted = field.means_near(before)
    for j in range(len(before)):
        move(state, j, before[0])
    assert field.means_near(before[:1]).masses.tolist() == [len(before)]
    for j in np.random.default_rng(0).permutation(len(before)):
        move(state, j, before[j])
    found = field.means_near(before)
    assert_array_equal(found.means, wanted.means)
    assert_array_equal(found.masses, wanted.masses)
