"""Gaussian means from patches are those of the naive twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import assert_close, make_data, make_weights
from modeshift.engines.cpu.fields import expansion, make_field
from modeshift.engines.cpu.fields.monomials import monomials
from modeshift.engines.cpu.steps import CompiledSteps
from modeshift.engines.cpu.steps_ahead import StepsAhead
from modeshift.engines.exponential import exponential
from modeshift.engines.rule import Gaussian
from modeshift.engines.schedules.wander import negligible_shift, wander
from twins.rules import PLAIN, pulls

N = 1100  # with as many places there are enough comparisons for patches
GAUSSIAN = PLAIN._replace(kernel="gaussian")


def twin_means(points, weights, places, h):
    """Means and masses from the definition."""
    means, masses = places.copy(), np.zeros(len(places))
    for i, x in enumerate(places):
        parts = pulls(points, weights, x, h, GAUSSIAN)
        masses[i] = parts.sum()
        if masses[i] > 0.0:
            means[i] = x + parts @ (points - x) / masses[i]
    return means, masses


def gaussian_field(X, w, h, n_jobs=1):
    return make_field(X, w, h, "tree", n_jobs, Gaussian())


def places_in(X, h, rng):
    """Points, and places around them, on the rim of their reach, anywhere and far away."""
    n, d = X.shape
    near = X + h * rng.normal(size=(n, d))
    rim = X[: n // 8] + 6.0 * h * np.eye(d)[0]
    anywhere = rng.uniform(X.min(axis=0) - 7 * h, X.max(axis=0) + 7 * h, (n // 8, d))
    return np.concatenate([near, X, rim, anywhere, X[:1] + 1e3 * h])


def hard_points(kind, d):
    """Points and their bandwidth."""
    rng = np.random.default_rng(d)
    if kind == "outliers":
        X, h = make_data("clustered", N, d)
        X[::100] += 1e4 * h * rng.normal(size=X[::100].shape)
        return X, h
    if kind == "millions away":
        X, h = make_data("uniform", N, d)
        return X + 1e6, h
    if kind == "rims":  # all distances are multiples of h, so that many are just 6 h
        return rng.integers(0, 9, (N, d)).astype(float), 1.0
    maker, factor = kind
    X, h = make_data(maker, N, d)
    return X, factor * h


@pytest.mark.jit
@pytest.mark.parametrize(
    "d",
    [pytest.param(1, marks=pytest.mark.slow), 2, 3, pytest.param(5, marks=pytest.mark.slow), 8],
)
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        (("clustered", 1.0), "zeros"),
        (("clustered", 0.05), None),
        (("uniform", 0.3), "real"),
        (("uniform", 20.0), "zeros"),
        (("duplicates", 0.5), "whole"),
        (("lattice", 0.5), None),
        ("rims", "zeros"),
        ("outliers", "real"),
        ("millions away", None),
    ],
)
def test_means_of_many_places(kind, weights, d):
    X, h = hard_points(kind, d)
    w = np.ones(N) if weights is None else make_weights(weights, N)
    field = gaussian_field(X, w, h)
    field.stand_still()
    places = places_in(X, h, np.random.default_rng(0))
    for _ in range(4):  # queries add up, until smaller and smaller boxes pay
        means, masses, squares = field.means_near(places)
    some = np.random.default_rng(1).permutation(len(places))[:250]
    expected_means, expected_masses = twin_means(X, w, places[some], h)
    assert_close(means[some], expected_means, X, h)
    assert_allclose(masses[some], expected_masses, rtol=1e-10, atol=0)
    assert_allclose(squares[some], ((means - places) ** 2).sum(axis=1)[some], rtol=1e-12)


@pytest.mark.jit
@pytest.mark.parametrize(("d", "n"), [(1, N), (2, N), (3, 12_000)])
def test_patches_answer_where_many_ask_and_are_cut_there(d, n):
    """Otherwise the tests above would compare the tree alone."""
    X = np.random.default_rng(d).uniform(0, 8, (n, d))
    w = make_weights("zeros", n)
    places = 1.0 + 0.05 * np.random.default_rng(0).normal(size=(N, d))
    field = gaussian_field(X, w, 0.9)
    field.stand_still()
    for _ in range(12):
        means, masses, _ = field.means_near(places)
    patches = field._patches
    found = patches.find(places)
    assert (found >= 0).mean() > 0.9
    assert patches._boxes.levels[found].max() >= 2
    expected_means, expected_masses = twin_means(X, w, places[::9], 0.9)
    assert_close(means[::9], expected_means, X, 0.9)
    assert_allclose(masses[::9], expected_masses, rtol=1e-10, atol=0)


@pytest.mark.jit
def test_threads_and_earlier_queries_change_little():
    X, h = make_data("clustered", N, 2)
    one, two = (gaussian_field(X, np.ones(N), h, n_jobs) for n_jobs in (1, 2))
    for field in (one, two):
        field.stand_still()
    first = one.means_near(X)
    assert_array_equal(first.means, two.means_near(X).means)
    for _ in range(20):
        last = one.means_near(X)
    assert_allclose(last.means, first.means, rtol=0, atol=1e-11 * h)


@pytest.mark.jit
def test_points_that_move_are_answered_from_new_patches():
    X, h = make_data("clustered", N, 2)
    field = gaussian_field(X, np.ones(N), h)
    field.stand_still()
    field.means_near(X)
    points, rows = X.copy(), np.arange(0, N, 2)
    points[rows] = points[rows[::-1]] + 0.3 * h
    field.move_points(rows, points[rows])
    assert_close(field.means_near(X).means[::9], twin_means(points, np.ones(N), X[::9], h)[0], X, h)


@pytest.mark.jit
@pytest.mark.parametrize("batch_size", [1, 5])
def test_steps_asked_together_are_those_taken_one_by_one(batch_size):
    X, h = make_data("clustered", 1200, 2)
    w, tol = make_weights("zeros", 1200), 0.01 * h
    negligible = negligible_shift(tol, h)

    def ends(steps_of):
        field = gaussian_field(X, w, h)
        outcome = wander(
            field, steps_of(field), tol=tol, patience=1.0, max_iter=4,
            random_state=np.random.RandomState(3),
        )  # fmt: skip
        return outcome.ends, outcome.n_steps

    together, n_together = ends(lambda f: StepsAhead(f, batch_size, 1000, tol, negligible))
    alone, n_alone = ends(lambda f: CompiledSteps(f, batch_size, tol, negligible, False))
    assert n_together == n_alone
    assert_close(together, alone, X, h)


def test_many_gaussian_steps_are_asked_together():
    X, h = make_data("uniform", 2000, 2)
    assert gaussian_field(X, np.ones(2000), h).ahead == 250
    large = np.random.default_rng(0).random((40_000, 2))
    assert gaussian_field(large, np.ones(40_000), 0.01).ahead == 3200
    assert gaussian_field(X[:1999], np.ones(1999), h).ahead == 1


@given(st.floats(-64.0, 0.0))
def test_exponential(t):
    assert exponential(t) == pytest.approx(np.exp(t), rel=1e-15, abs=0)


@pytest.mark.parametrize(("d", "degree"), [(1, 5), (2, 4), (3, 4)])
def test_monomials_are_all_products_once(d, degree):
    tables = monomials(d, degree)
    powers = [np.zeros(d, dtype=int)]
    for i in range(1, len(tables.axes)):
        axis = tables.axes[i]
        assert tables.parents[i] < i
        powers.append(powers[tables.parents[i]] + np.eye(d, dtype=int)[axis])
        assert (powers[i][:axis] == 0).all()
        assert powers[i][axis] == tables.powers[i]
    degrees = [power.sum() for power in powers]
    assert degrees == sorted(degrees)
    assert len({tuple(power) for power in powers}) == len(powers) == tables.ends[degree]
    for i, ups in enumerate(tables.ups):
        for k, up in enumerate(ups):
            assert_array_equal(powers[up], powers[i] + np.eye(d, dtype=int)[k])


def exact_mean(offsets, weights, x):
    """Weighted mean about the root, in more digits."""
    offsets, x = offsets.astype(np.longdouble), x.astype(np.longdouble)
    parts = weights * np.exp(-((offsets - x) ** 2).sum(axis=1) / 2)
    return (parts @ offsets / parts.sum()).astype(float)


def assert_within_bound(basis, room, degree, center, half, offsets, weights, rng):
    """The polynomial in the room gives the mean at places of its box, within its bound."""
    tables, d = basis.monomials, len(center)
    coefs = room.coefs[: tables.ends[degree]].copy()
    slopes = np.concatenate([coefs[tables.ups[: tables.ends[degree - 1], k]] for k in range(d)])
    values, sums = np.empty(len(tables.axes)), np.empty(1 + d)
    for y in half * rng.choice([-1.0, 1.0, 0.3], size=(6, d)):
        expansion.evaluate(coefs, slopes, basis, degree, y, values, sums)
        mean = sums[1:] / sums[0]
        error = np.abs(mean - exact_mean(offsets, weights, center + y)).max()
        assert error <= expansion.TOLERANCE + expansion.ROUNDING


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([0.5, 0.25, 0.01]))
def test_the_error_of_a_polynomial_is_within_its_bound(seed, d, half):
    """Also after it was moved to a smaller box, and points were added there."""
    rng = np.random.default_rng(seed)
    n, reach = int(rng.integers(2, 40)), 6.0 - np.sqrt(d)
    offsets = rng.normal(size=(n, d))
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    offsets *= rng.uniform(0.0, reach, (n, 1)) ** rng.choice([0.2, 1.0]) / lengths
    weights = 10.0 ** rng.uniform(-6, 6, n)
    basis = expansion.make_basis(monomials(d, 24), 1.0, 6.0 + 0.5 * np.sqrt(d))
    room = expansion.make_room(basis, d, n)
    sources = expansion.Sources(np.ascontiguousarray(offsets.T), weights, np.zeros(1), np.zeros(1))
    first = int(rng.integers(1, n))
    root = np.zeros(d)
    room.start[:] = 0.0
    room.members[:first] = np.arange(first)
    degree = expansion.expand(sources, basis, room, first, root, root, half, -1, 0.5)
    if degree < 0:
        return
    assert_within_bound(basis, room, degree, root, half, offsets[:first], weights[:first], rng)
    center = 0.5 * half * rng.choice([-1.0, 1.0], size=d)
    expansion.shift(room.coefs, basis, degree, center)
    room.members[: n - first] = np.arange(first, n)
    degree = expansion.expand(
        sources, basis, room, n - first, root, center, 0.5 * half, degree, 0.75
    )
    if degree >= 0:
        assert_within_bound(basis, room, degree, center, 0.5 * half, offsets, weights, rng)
