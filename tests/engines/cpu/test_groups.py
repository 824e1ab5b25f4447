"""Groups of places answer like the naive twin, whatever the groups; the plan covers all places."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import ALL_MAKERS, WEIGHTS, assert_close, make_data, make_weights
from modeshift.engines.cpu.fields import make_field
from modeshift.engines.cpu.fields.brute import BruteField
from modeshift.engines.cpu.fields.field import Asked, Averages
from modeshift.engines.cpu.fields.groups import GroupField
from modeshift.engines.cpu.fields.plan import MOST, Plan, plan_groups
from modeshift.engines.cpu.fields.shell import answer_groups, make_room
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.rule import Flat, Sphere
from twins import naive
from twins.rules import PLAIN

FAR = (0.0, 1e6, 1e12, 1e15)


def in_groups(field, places, radii, sizes):
    """The answer for consecutive groups of these sizes, which are not chosen with any skill."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts = [places[start:stop] for start, stop in pairwise(starts)]
    centres = np.array([part[0] + (part - part[0]).mean(axis=0) for part in parts])
    spreads = [
        np.linalg.norm(part - c, axis=1).max() for part, c in zip(parts, centres, strict=True)
    ]
    order = np.arange(len(places))
    plan = Plan(order, starts, centres, np.array(spreads), order[:0])
    answer = Averages(np.empty_like(places), np.empty(len(places)))
    asked = Asked(places, np.broadcast_to(radii, len(places)).copy(), *answer)
    answer_groups(field.state, asked, plan, 0, len(sizes), make_room(field.state, max(sizes)))
    return answer


def random_sizes(rng, m):
    cuts = np.sort(rng.choice(np.arange(1, m), min(m - 1, rng.integers(0, 4)), replace=False))
    return np.diff(np.concatenate([[0], cuts, [m]]))


def near_in_order(X, x, h):
    """Which points are near x, with squares added up in the order of the features."""
    total = np.zeros(len(X))
    for column in (X - x).T:
        total += column * column
    return total <= h * h


def assert_as_naive(answer, points, weights, places, radii, exact=False):
    """Averages and masses of the twin; with whole weights the masses tell every decision."""
    radii = np.broadcast_to(radii, len(places))
    expected = [
        naive.mean_near(points, weights, x, radius) for x, radius in zip(places, radii, strict=True)
    ]
    masses = np.array([mass for _, mass in expected])
    if exact:
        assert_array_equal(answer.masses, masses)
    assert_allclose(answer.masses, masses, rtol=1e-12, atol=0)
    assert_close(answer.averages, [mean for mean, _ in expected], points, max(radii))


@pytest.mark.product(3)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), [(1, 5), (9, 6), (70, 5), (40, 11)])
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_groups_of_all_kinds(maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = np.ones(n) if weights is None else make_weights(weights, n)
    field = make_field(X, w, h, "tree")
    assert type(field) is GroupField
    rng = np.random.default_rng([n, d])
    near = X[rng.integers(n, size=5)] + 0.01 * h * rng.normal(size=(5, d))
    border = X[rng.integers(n, size=4)] + h * np.eye(d)[:4]
    places = np.concatenate([X, near, border])
    for radii in (h, 0.3 * h, rng.choice([0.0, 0.3, 0.9, 1.0], len(places)) * h):
        answer = in_groups(field, places, radii, random_sizes(rng, len(places)))
        assert_as_naive(answer, X, w, places, radii, exact=weights in (None, "whole"))


@pytest.mark.jit
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.sampled_from([5, 8, 31]),
    far=st.sampled_from(FAR),
    tightness=st.sampled_from([1.0, 1e-3, 1e-8, 0.0]),
)
def test_every_decision_is_that_of_squared_distance(seed, d, far, tightness):
    """Points around the borders of places, closer and closer, up to the last bit."""
    rng = np.random.default_rng(seed)
    h = rng.uniform(1.0, 2.0)
    offset = far * rng.normal(size=d)
    places = offset + tightness * h * rng.normal(size=(20, d))
    directions = rng.normal(size=(200, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    gaps = rng.choice([0.0, 1e-16, 1e-9, 1e-7, 1e-6, 1e-4], 200) * rng.choice([-1, 1], 200)
    X = places[rng.integers(20, size=200)] + h * (1 + gaps)[:, np.newaxis] * directions
    field = make_field(X, np.ones(200), h, "tree")
    answer = in_groups(field, places, h, random_sizes(rng, 20))
    assert_array_equal(answer.masses, [near_in_order(X, x, h).sum() for x in places])


@pytest.mark.jit
@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("width", [0.0, 1e-9, 1e-3, 0.05])
def test_lumps(width, far):
    """Crowds that are small beside the group: near, not near, and on the borders of its places."""
    rng = np.random.default_rng(3)
    d, h = 6, 1.5
    offset = far * rng.normal(size=d)
    sites = offset + rng.normal(size=(12, d))
    X = np.repeat(sites, 60, axis=0) + width * rng.uniform(-1, 1, (720, d))
    X = np.concatenate([X, offset + rng.normal(size=(80, d))])
    w = rng.integers(0, 3, len(X)).astype(float)
    field = make_field(X, w, h, "tree")
    places = np.concatenate([sites + h * np.eye(d)[k] for k in range(3)] + [X[::40]])
    answer = in_groups(field, places, h, np.array([30, len(places) - 30]))
    assert_as_naive(answer, X, w, places, h, exact=True)


@pytest.mark.jit
def test_after_moves_that_leave_crowded_and_empty_leaves():
    rng = np.random.default_rng(4)
    X, h = make_data("clustered", 600, 7)
    field = make_field(X, np.ones(600), h, "tree")
    rows = rng.permutation(600)[:500]
    X[rows] = X[rng.integers(3, size=500)] + 0.02 * h * rng.normal(size=(500, 7))
    field.move_points(rows, X[rows])
    for radius in (h, 0.02 * h):
        answer = in_groups(field, X[::7], radius, random_sizes(rng, len(X[::7])))
        assert_as_naive(answer, X, np.ones(600), X[::7], radius, exact=True)


def test_an_isolated_point_stays_where_it_is_to_the_last_bit():
    X = np.random.default_rng(6).normal(size=(30, 5)) * 1e3
    field = make_field(X, np.full(30, 0.3), 1.0, "tree")
    answer = in_groups(field, X, 1.0, np.array([30]))
    assert_array_equal(answer.averages, X)


PLANNED = {
    "clustered": lambda rng: make_data("clustered", 1300, 6)[0],
    "offset": lambda rng: make_data("offset", 1300, 6)[0],
    "lattice": lambda rng: make_data("lattice", 1300, 5)[0],
    "few places": lambda rng: np.repeat(rng.normal(size=(3, 8)), 500, axis=0),
    "far outliers": lambda rng: np.concatenate(
        [rng.normal(size=(1200, 5)), 10.0 ** rng.uniform(3, 300, (60, 1)) * np.ones(5)]
    ),
    "tiny clumps": lambda rng: (
        np.repeat(rng.normal(size=(40, 9)), 32, axis=0) + 1e-5 * rng.normal(size=(1280, 9))
    ),
}


@pytest.mark.jit
@pytest.mark.parametrize("radius", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("maker", PLANNED)
def test_the_plan_has_every_place_once_and_its_balls_hold_them(maker, radius):
    X = PLANNED[maker](np.random.default_rng(7))
    field = make_field(X, np.ones(len(X)), radius, "tree")
    places = X[::2]
    plan = plan_groups(field.state, places, radius)
    groups = [plan.order[a:b] for a, b in pairwise(plan.starts)]
    assert_array_equal(np.sort(np.concatenate([*groups, plan.alone])), np.arange(len(places)))
    for members, centre, spread in zip(groups, plan.centres, plan.spreads, strict=True):
        assert 0 < len(members) <= MOST
        distances = np.linalg.norm(places[members] - centre, axis=1)
        assert distances.max() <= spread * (1 + 1e-12)
    again = plan_groups(field.state, places, radius, n_jobs=2)
    for part, same in zip(plan, again, strict=True):
        assert_array_equal(part, same)


@pytest.mark.jit
@pytest.mark.parametrize("radius", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("maker", PLANNED)
def test_means_near_many_places(maker, radius, monkeypatch):
    X = PLANNED[maker](np.random.default_rng(8))
    w = make_weights("zeros", len(X))
    field = make_field(X, w, radius, "tree")
    assert type(field) is GroupField
    monkeypatch.setattr(TreeField, "means_near", BruteField.means_near)  # for places alone
    answer = field.means_near(X)
    some = np.random.default_rng(0).permutation(len(X))[:60]
    part = Means(*(values[some] for values in answer))
    assert_as_naive(part, X, w, X[some], radius)
