"""Groups of places answer like the naive twin, whatever the groups; the plan covers all places."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from helpers import ALL_MAKERS, WEIGHTS, assert_close, make_data, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.fields import groups, make_field
from modeshift.engines.cpu.fields.field import Asked, Averages
from modeshift.engines.cpu.fields.groups import GroupField
from modeshift.engines.cpu.fields.packs import answer_packs, make_desk
from modeshift.engines.cpu.fields.plan import MOST, Plan, plan_groups
from modeshift.engines.cpu.fields.shell import answer_groups, make_room
from modeshift.engines.cpu.fields.tree_state import FEW
from modeshift.engines.rule import Flat, Gaussian, Plane, Sphere
from twins import naive

FAR = (0.0, 1e6, 1e12, 1e15)


def ways(d):
    """How groups are answered: with shells, and in few features also as packs."""
    return [False, True] if d <= FEW else [False]


def in_groups(field, places, radii, sizes, packed=False):
    """The answer for consecutive groups of these sizes, which are not chosen with any skill."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts = [places[start:stop] for start, stop in pairwise(starts)]
    centres = np.array([part[0] + (part - part[0]).mean(axis=0) for part in parts])
    spreads = [
        np.linalg.norm(part - c, axis=1).max() for part, c in zip(parts, centres, strict=True)
    ]
    order = np.arange(len(places))
    plan = Plan(order, starts, centres, np.array(spreads), packed, order[:0], gain=1.0)
    answer = Averages(np.empty_like(places), np.empty(len(places)))
    asked = Asked(places, np.broadcast_to(radii, len(places)).copy(), *answer)
    if packed:
        answer_packs(field.state, asked, plan, 0, len(sizes), make_desk(field.state))
    else:
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
@pytest.mark.parametrize(("n", "d"), [(1, 5), (9, 6), (70, 5), (40, 11), (50, 2), (40, 3)])
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_groups_of_all_kinds(maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = np.ones(n) if weights is None else make_weights(weights, n)
    field = make_field(X, w, h, "tree")
    assert type(field) is GroupField
    rng = np.random.default_rng([n, d])
    near = X[rng.integers(n, size=5)] + 0.01 * h * rng.normal(size=(5, d))
    border = X[rng.integers(n, size=d)] + h * np.eye(d)
    places = np.concatenate([X, near, border])
    for radii in (h, 0.3 * h, rng.choice([0.0, 0.3, 0.9, 1.0], len(places)) * h):
        for packed in ways(d):
            answer = in_groups(field, places, radii, random_sizes(rng, len(places)), packed)
            assert_as_naive(answer, X, w, places, radii, exact=weights in (None, "whole"))


@pytest.mark.jit
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.sampled_from([2, 3, 5, 8, 31]),
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
    for packed in ways(d):
        answer = in_groups(field, places, h, random_sizes(rng, 20), packed)
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
    "square": lambda rng: rng.uniform(size=(1300, 2)),
    "cubes": lambda rng: make_data("clustered", 1300, 3)[0],
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
    runs = [plan.order[a:b] for a, b in pairwise(plan.starts)]
    assert_array_equal(np.sort(np.concatenate([*runs, plan.alone])), np.arange(len(places)))
    for members, centre, spread in zip(runs, plan.centres, plan.spreads, strict=True):
        assert 0 < len(members) <= MOST
        distances = np.linalg.norm(places[members] - centre, axis=1)
        assert distances.max() <= spread * (1 + 1e-12)
    again = plan_groups(field.state, places, radius, n_jobs=2)
    for part, same in zip(plan, again, strict=True):
        assert_array_equal(part, same)


@pytest.fixture
def planned(monkeypatch):
    """The numbers of places in the plans that are made."""
    made = []

    def plan_and_note(*arguments):
        plan = plan_groups(*arguments)
        made.append((len(plan.order), len(plan.alone)))
        return plan

    monkeypatch.setattr(groups, "plan_groups", plan_and_note)
    monkeypatch.setattr(groups, "_WORTH_IT_IN_FEW", groups._WORTH_IT)
    return made


@pytest.mark.jit
def test_scattered_places_are_packs_and_gathered_ones_share_shells():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20000, 2))
    field = make_field(X, np.ones(len(X)), 0.8, "tree")
    assert plan_groups(field.state, X, 0.8).packed
    assert not plan_groups(field.state, 0.01 * X, 0.8).packed


@pytest.mark.jit
@pytest.mark.parametrize("radius", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("maker", PLANNED)
def test_many_places(maker, radius, planned):
    """With whole weights the masses are those of the plain field to the last bit."""
    X = PLANNED[maker](np.random.default_rng(8))
    w = np.random.default_rng(9).integers(0, 4, len(X)).astype(float)
    field, plain = (make_field(X, w, radius, kind) for kind in ("tree", "brute"))
    radii = np.random.default_rng(10).choice([radius, 0.7 * radius], len(X))
    for alike in (True, False):
        radii = np.full(len(X), radius) if alike else radii
        answer, expected = (each.averages_near(X, radii) for each in (field, plain))
        assert_array_equal(answer.masses, expected.masses)
        assert_close(answer.averages, expected.averages, X, radius)
    assert [sum(numbers) for numbers in planned] == [len(X)] * 2


@pytest.mark.jit
@pytest.mark.parametrize("d", [2, 3, 5, 12, 31])
def test_means_on_the_sphere_and_in_space(d, planned):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(1100, d)) + 3.0 * rng.integers(0, 2, (1100, 1))
    for space in (Plane(), Sphere()):
        if isinstance(space, Sphere):
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        radius = 0.5 if isinstance(space, Sphere) else 1.2 * np.sqrt(d)
        fields = [
            make_field(X, np.ones(1100), radius, kind, 1, Flat(space)) for kind in ("tree", "brute")
        ]
        answer, expected = (field.means_near(X) for field in fields)
        assert_array_equal(answer.masses, expected.masses)
        assert_close(answer.means, expected.means, X, radius)
        assert_close(answer.squares, expected.squares, X, radius)
    assert len(planned) == 2
    assert all(together > 0 for together, _ in planned)


@pytest.mark.jit
def test_threads_change_no_bit():
    X, h = make_data("clustered", 3000, 8)
    for radius in (h, 0.4 * h):
        one, two = (
            make_field(X, np.ones(3000), h, "tree", n).means_near(X, radius) for n in (1, 2)
        )
        for part, same in zip(one, two, strict=True):
            assert_array_equal(part, same)


@pytest.mark.jit
def test_the_others_are_left_out_after_a_long_shift():
    X, h = make_data("uniform", 3000, 6)
    field = make_field(X, np.ones(3000), h, "tree")
    assert not field.is_quiet(1e-3 * h)
    assert field.is_quiet(100 * h)


@pytest.mark.jit
@pytest.mark.parametrize("d", [2, 5, 16])
@pytest.mark.parametrize("make", [MeanShift, BlurringMeanShift, StochasticMeanShift])
def test_labels_and_centers_are_those_of_brute_force(make, d, planned):
    """On data of which most steps are asked in groups; zero weights, duplicates and an offset."""
    rng = np.random.default_rng(d)
    X = 2.0**12 + rng.uniform(0, 9, (5, d))[rng.integers(5, size=4200)] + rng.normal(size=(4200, d))
    X[1000:1300] = X[:300]
    w = rng.integers(0, 3, len(X)).astype(float)
    settings = {"bandwidth": 0.9 * np.sqrt(d), "max_iter": 4, "tol": 1e-2}
    settings |= {"random_state": 0} if make is StochasticMeanShift else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        grouped, plain = (
            make(algorithm=kind, **settings).fit(X, sample_weight=w) for kind in ("auto", "brute")
        )
    assert planned or (make is StochasticMeanShift and d == 2)  # whose steps are taken singly
    assert_array_equal(grouped.labels_, plain.labels_)
    assert grouped.n_steps_ == plain.n_steps_
    assert_close(grouped.cluster_centers_, plain.cluster_centers_, X, settings["bandwidth"])
    assert_close(grouped.modes_, plain.modes_, X, settings["bandwidth"])


@pytest.mark.jit
def test_steps_with_drawn_bandwidths_are_asked_together(planned):
    X = np.random.default_rng(11).normal(size=(4200, 10))
    settings = {"bandwidth": (2.4, 3.1), "max_iter": 2, "random_state": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        grouped, plain = (
            StochasticMeanShift(algorithm=kind, **settings).fit(X) for kind in ("auto", "brute")
        )
    assert [together + alone for together, alone in planned].count(groups._AHEAD) > 8
    assert_array_equal(grouped.labels_, plain.labels_)
    assert_close(grouped.modes_, plain.modes_, X, 3.1)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("n", "n_blobs", "together"), [(5000, 1, True), (5000, 20, False), (2000, 1, False)]
)
def test_steps_are_asked_together_if_places_all_over_the_data_share_walks(n, n_blobs, together):
    rng = np.random.default_rng(12)
    X = rng.uniform(-10, 10, (n_blobs, 10))[rng.integers(n_blobs, size=n)] + rng.normal(
        size=(n, 10)
    )
    assert make_field(X, np.ones(n), 3.0).ahead == (groups._AHEAD if together else 1)


@pytest.mark.parametrize(
    ("d", "rule", "grouped"),
    [
        (1, Flat(), False),
        (2, Flat(), True),
        (31, Flat(), True),
        (32, Flat(), False),
        (10, Gaussian(), False),
    ],
)
def test_groups_are_for_the_flat_rule_from_2_to_31_features(d, rule, grouped):
    """Other fits compile nothing of them."""
    field = make_field(np.zeros((3, d)), np.ones(3), 1.0, rule=rule)
    assert (type(field) is GroupField) == grouped


@pytest.mark.parametrize(("n", "together"), [(1 << 15, False), (1 << 16, True)])
def test_few_features_have_groups_only_in_large_data(n, together, monkeypatch):
    """Smaller data walk fast enough, and their fits compile less."""
    asked = []
    monkeypatch.setattr(groups, "plan_groups", lambda *arguments: asked.append(1) or 1 / 0)
    X = np.random.default_rng(0).normal(size=(n, 2))
    field = make_field(X, np.ones(n), 0.01)
    if together:
        with pytest.raises(ZeroDivisionError):
            field.means_near(X)
    else:
        field.means_near(X)
    assert len(asked) == together
