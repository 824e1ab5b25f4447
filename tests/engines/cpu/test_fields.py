"""Every field answers like the naive twin, wherever it is asked and however its points moved."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers import ALL_MAKERS, SHAPES, WEIGHTS, assert_close, make_data, make_weights
from modeshift.engines.cpu.fields import FIELDS, make_field
from modeshift.engines.cpu.fields.flat_in_tree import _RIM, _TOGETHER, _WAY
from modeshift.engines.cpu.fields.protocol import SCRATCH, mean_near, move
from modeshift.engines.cpu.fields.tree_state import SLOTS, WIDE
from modeshift.engines.cpu.traces import TOGETHER
from modeshift.engines.rule import Flat, Gaussian, Sphere, nearest
from modeshift.watching.checkpoint import pack
from twins import naive

SHIFTS = (0.0, 0.5, 1.0)  # in bandwidths: places on points, between them, on their borders


def places_around(X, h, rng):
    """Points, places on and off the border of their neighbourhoods, others, and one far away."""
    near = [X + shift * h * np.eye(X.shape[1])[k % X.shape[1]] for k, shift in enumerate(SHIFTS)]
    anywhere = rng.uniform(X.min(axis=0) - 2 * h, X.max(axis=0) + 2 * h, (10, X.shape[1]))
    far = X.max(axis=0, keepdims=True) + 100 * h
    return np.concatenate([*near, anywhere, far])


def assert_answers(field, points, weights, places, radius, h):
    """Means and masses are those of the twin; no mass is exactly no mass."""
    expected = [naive.mean_near(points, weights, x, radius) for x in places]
    means, masses, squares = field.means_near(places, radius)
    assert_close(means, [mean for mean, _ in expected], points, h)
    assert_allclose(masses, [mass for _, mass in expected], rtol=1e-12, atol=0)
    assert_array_equal(
        squares, [naive_square(mean, x) for mean, x in zip(means, places, strict=True)]
    )


def naive_square(a, b):
    """Squared distance, added up in the order of the features."""
    total = 0.0
    for difference in a - b:
        total += difference * difference
    return total


def make(kind, maker, n, d, weights="real", seed=0, n_jobs=1):
    X, h = make_data(maker, n, d, seed)
    w = make_weights(weights, n, seed)
    w = np.ones(n) if w is None else w
    return make_field(X, w, h, kind, n_jobs), X, w, h


@pytest.mark.product(3)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_means_near_many_places(field_kind, maker, n, d, weights):
    field, X, w, h = make(field_kind, maker, n, d, weights)
    places = places_around(X, h, np.random.default_rng(n))
    for radius in (h, 0.6 * h, 0.05 * h):
        assert_answers(field, X, w, places, radius, h)


@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_one_place(field_kind, maker):
    field, X, w, h = make(field_kind, maker, 30, 2)
    for x in places_around(X, h, np.random.default_rng(1))[::7]:
        mean, mass = field.mean_near(x, h)
        expected_mean, expected_mass = naive.mean_near(X, w, x, h)
        assert_close(mean, expected_mean, X, h)
        assert mass == pytest.approx(expected_mass, rel=1e-12, abs=0)
        assert isinstance(mass, float)


def test_border_belongs_to_the_neighbourhood(field_kind):
    X = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, np.nextafter(4.0, 5.0)]])
    field = make_field(X, np.ones(3), 5.0, field_kind)
    mean, mass = field.mean_near(X[0], 5.0)
    assert mass == 2.0
    assert_array_equal(mean, [1.5, 2.0])


@pytest.mark.parametrize("spacing", [1.0, 0.1, 1 / 3])
def test_lattice_with_the_spacing_as_bandwidth(field_kind, spacing):
    """Which neighbours are in is decided by sum (p - x)^2 <= h^2 in floats, by all alike."""
    axis = spacing * np.arange(6)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    field = make_field(X, np.ones(len(X)), spacing, field_kind)
    masses = field.means_near(X, spacing).masses
    assert_array_equal(masses, [naive.near(X, x, spacing).sum() for x in X])


@pytest.mark.parametrize("d", [2, 3])
def test_a_lattice_of_several_levels(field_kind, d):
    """Vector instructions for two and three features decide on the border like all others."""
    axis = 0.1 * np.arange({2: 30, 3: 10}[d])
    X = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
    for radius in (0.1, 0.3):
        field = make_field(X, np.ones(len(X)), radius, field_kind)
        means, masses, _ = field.means_near(X[::9], radius)
        assert_array_equal(masses, [naive.near(X, x, radius).sum() for x in X[::9]])
        expected = [naive.mean_near(X, np.ones(len(X)), x, radius)[0] for x in X[::9]]
        assert_close(means, np.array(expected), X, radius)


def test_without_mass_the_mean_is_the_place_itself(field_kind):
    X = np.array([[0.0, 0.0], [5.0, 0.0], [5.1, 0.0]])
    field = make_field(X, np.array([1.0, 0.0, 0.0]), 1.0, field_kind)
    places = np.array([[2.5, 0.3], [5.05, 0.7], [5.0, 0.0], [-90.0, 1e6]])
    means, masses, _ = field.means_near(places, 1.0)
    assert_array_equal(means, places)
    assert_array_equal(masses, np.zeros(4))


def random_targets(rng, points, h):
    """Yield places that a point may be put to: anywhere, on another point, to a mean, far out."""
    n, d = points.shape
    while True:
        yield rng.uniform(points.min(axis=0), points.max(axis=0))
        yield points[rng.integers(n)].copy()
        yield (
            points[rng.integers(n)] + rng.choice([-1.0, 0.5, 1.0]) * h * np.eye(d)[rng.integers(d)]
        )
        yield naive.mean_near(points, np.ones(n), points[rng.integers(n)], h)[0]
        yield points[rng.integers(n)] + rng.normal(size=d) * 20 * h


@pytest.mark.product(3)
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_answers_after_many_moves(field_kind, maker, n, d, weights):
    field, X, w, h = make(field_kind, maker, n, d, weights)
    rng = np.random.default_rng([n, d])
    points = X.copy()
    targets = random_targets(rng, points, h)
    for _ in range(3):
        for _ in range(2 * n):
            j = rng.integers(n)
            points[j] = next(targets)
            field.move(j, points[j])
        assert_array_equal(field.points, points)
        for radius in (h, 0.3 * h):
            assert_answers(field, points, w, places_around(points, h, rng), radius, h)


@pytest.mark.product(3)
@pytest.mark.jit
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(("n", "d"), [(5, 1), (130, 2), (700, 2), (700, 5), (2500, 3)])
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_answers_after_moves_in_bulk(field_kind, maker, n, d, weights, n_jobs):
    """Some go far, some a little way, and then all to two places: there are enough slots."""
    field, X, w, h = make(field_kind, maker, n, d, weights, n_jobs=n_jobs)
    rng = np.random.default_rng([n, d])
    points = X.copy()
    for i in range(4):
        rows = rng.permutation(n)[: n // 2 + 1 if i < 3 else n]
        if i < 2:
            places = points[rng.permutation(rows)] + 1e-3 * h * rng.integers(-1, 2, (len(rows), d))
        else:
            places = X[rng.integers(2, size=len(rows)) * (n - 1)]
        points[rows] = places
        field.move_points(rows, places)
        assert_array_equal(field.points, points)
        asked = places_around(points, h, rng)[:: 1 + n // 20]
        assert_answers(field, points, w, asked, h, h)


@pytest.mark.product(3)
@pytest.mark.jit
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_many_points_before_and_after_they_gather(field_kind, maker, d):
    """Enough points for an index of several levels; then most of them crowd in a few places."""
    n = 700
    field, X, w, h = make(field_kind, maker, n, d, weights="zeros")
    rng = np.random.default_rng(d)
    assert_answers(field, X, w, places_around(X, h, rng)[::5], h, h)
    points = X.copy()
    for j in rng.permutation(n)[:650]:
        points[j] = X[rng.integers(4)] + 0.01 * h * rng.integers(-1, 2, d)
        field.move(j, points[j])
    assert_array_equal(field.points, points)
    for radius in (h, 0.3 * h, 0.01 * h):
        assert_answers(field, points, w, places_around(points, h, rng)[::5], radius, h)


@pytest.mark.jit
@pytest.mark.parametrize("left_behind", [0.0, 1e-6])
def test_the_mass_of_a_crowd_that_left_leaves_no_trace(field_kind, left_behind):
    """Sums that are kept up to date by subtraction would keep its rounding."""
    rng = np.random.default_rng(3)
    points = np.array([2.0, 3.0]) + 1e-3 * rng.random((300, 2))
    weights = rng.uniform(1e5, 1e6, 300)
    weights[::10] = left_behind
    field = make_field(points, weights, 1.0, field_kind)
    for j in rng.permutation(300):
        if weights[j] > 1:
            points[j] = rng.uniform(20, 30, 2)
            field.move(j, points[j])
    assert_answers(field, points, weights, points, 1.0, 1.0)


def test_all_points_to_one_place_and_back(field_kind):
    field, X, w, h = make(field_kind, "clustered", 40, 2, weights="real")
    for j in range(40):
        field.move(j, X[7])
    mean, mass = field.mean_near(X[7], h)
    assert_array_equal(mean, X[7])
    assert mass == pytest.approx(w.sum(), rel=1e-12)
    assert field.mean_near(X[7] + 1.5 * h, h)[1] == 0.0
    for j in range(40):
        field.move(j, X[j])
    assert_answers(field, X, w, places_around(X, h, np.random.default_rng(2)), h, h)


@pytest.mark.parametrize("maker", ["clustered", "lattice"])
def test_threads_change_no_bit(field_kind, maker):
    field, X, _, h = make(field_kind, maker, 80, 3, weights="real")
    threaded = make(field_kind, maker, 80, 3, weights="real", n_jobs=2)[0]
    places = places_around(X, h, np.random.default_rng(4))
    for one, two in zip(field.means_near(places, h), threaded.means_near(places, h), strict=True):
        assert_array_equal(one, two)


@pytest.mark.product
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_is_quiet_compares_the_largest_shift(field_kind, maker, weights, n_jobs):
    field, X, w, h = make(field_kind, maker, 60, 2, weights, n_jobs=n_jobs)
    means = np.array([naive.mean_near(X, w, x, h)[0] for x in X])
    largest = np.sqrt(np.sum((means - X) ** 2, axis=1)).max()
    assert largest > 0.1 * h
    assert field.is_quiet(largest * (1 + 1e-6))
    assert not field.is_quiet(largest * (1 - 1e-6))
    assert_array_equal(field.points, X)


def test_is_quiet_at_a_shift_of_just_tol(field_kind):
    field = make_field(np.array([[0.0], [1.0]]), np.ones(2), 1.0, field_kind)
    assert field.is_quiet(0.5)
    assert not field.is_quiet(np.nextafter(0.5, 0))
    shorter = make_field(field.points, np.ones(2), 0.9, field_kind)
    assert shorter.is_quiet(0.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("restless", [0, 17, 98])
def test_is_quiet_sees_a_single_restless_pair(field_kind, restless, n_jobs):
    X = 10.0 * np.arange(100.0)[:, np.newaxis]
    assert make_field(X, np.ones(100), 1.0, field_kind, n_jobs).is_quiet(0.1)
    X[restless] = X[restless + 1] - 0.8
    assert not make_field(X, np.ones(100), 1.0, field_kind, n_jobs).is_quiet(0.1)


@pytest.mark.parametrize("rule", [Flat(), Gaussian(), nearest(Flat(), 3.0, np.ones(60))])
def test_is_quiet_changes_nothing(field_kind, rule):
    """A clock and threads decide how many points are looked at before one is found restless.

    Anchors with Gaussian weights counted them, so that a clock decided when they were rebuilt.
    """
    X, h = make_data("clustered", 60, 2)
    field = make_field(X, np.ones(60), 0.2 * h, field_kind, 1, rule)
    field.tend()
    before = {name: value.copy() for name, value in pack(state=field.state).items()}
    assert not field.is_quiet(0.0)
    for name, value in pack(state=field.state).items():
        assert_array_equal(value, before[name], err_msg=name)


@pytest.mark.parametrize("n", [1, 9, 60])
def test_moved_is_a_field_with_some_points_elsewhere_and_leaves_the_first_as_it_is(field_kind, n):
    field, X, w, h = make(field_kind, "clustered", n, 2)
    rng = np.random.default_rng(0)
    places = places_around(X, h, rng)
    present, points = field, X.copy()
    for _ in range(6):  # a few in each, most points in the end
        rows = rng.permutation(n)[: n // 4]
        points[rows] = X[rng.integers(n, size=len(rows))] + 0.1 * h
        present = present.moved(rows, points[rows])
        assert_answers(present, points, w, places, h, h)
    assert type(present) is type(field)
    assert_answers(field, X, w, places, h, h)


def test_at_is_a_field_of_the_same_kind_and_weights_elsewhere(field_kind):
    field, X, w, h = make(field_kind, "uniform", 30, 2, weights="zeros")
    elsewhere = X[::-1] * 2.0 - 3.0
    other = field.at(elsewhere)
    assert type(other) is type(field)
    assert isinstance(field, FIELDS[field_kind])
    places = places_around(elsewhere, h, np.random.default_rng(5))
    assert_answers(other, elsewhere, w, places, h, h)
    other.move(3, X[3])
    assert_array_equal(field.points, X)
    assert_answers(field, X, w, places_around(X, h, np.random.default_rng(6)), h, h)


def test_a_field_keeps_its_own_copy(field_kind):
    X, h = make_data("clustered", 20, 2)
    given = X.copy()
    field = make_field(given, np.ones(20), h, field_kind)
    field.move(0, X[0] + 1.0)
    assert_array_equal(given, X)
    given[:] = 0.0
    assert_array_equal(field.points[1:], X[1:])


def test_averages_near_have_a_radius_each_and_are_not_put_on_the_sphere(field_kind):
    X, h = make_data("clustered", 60, 3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    field = make_field(X, np.ones(60), 1.0, field_kind, rule=Flat(Sphere()))
    radii = np.random.default_rng(0).uniform(0.1, 1.0, 60)
    averages, masses = field.averages_near(X, radii)
    expected = [naive.mean_near(X, np.ones(60), x, r) for x, r in zip(X, radii, strict=True)]
    assert_close(averages, [mean for mean, _ in expected], X, h)
    assert_array_equal(masses, [mass for _, mass in expected])


def test_scratch_space_is_large_enough_for_a_walk():
    """Beyond its end a kernel would write over other memory."""
    assert SLOTS + _WAY + (_RIM + WIDE) + (_RIM + _TOGETHER) <= SCRATCH
    assert TOGETHER <= SCRATCH  # of traces.py, behind the sums


@pytest.mark.parametrize(("n", "d"), [(1, 1), (30, 2), (40, 9)])
def test_auto_takes_one_of_the_fields(n, d):
    field, X, w, h = make("auto", "clustered", n, d)
    assert isinstance(field, tuple(FIELDS.values()))
    assert_answers(field, X, w, X, h, h)


@pytest.mark.parametrize(
    "operation", [lambda s, x: mean_near(s, x, 1.0, x), lambda s, x: move(s, 0, x)]
)
def test_operations_need_the_state_of_a_field(operation):
    with pytest.raises(TypeError, match="list is not the state of a field"):
        operation([], np.zeros(2))
