"""What holds always (docs/algorithms.md), as properties of drawn data."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, generic_data, make_data, make_weights, steps_of, tolerance
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.fields import FIELDS
from twins import naive

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
NO_OFFSET = ("clustered", "uniform", "duplicates")
SEEDS = st.integers(0, 2**32 - 1)

# Any numbers at all: ties and coincidences are welcome where only an inequality is tested.
COORDINATES = st.floats(-8, 8, width=16) | st.integers(-3, 3).map(float)
ANY_POINTS = st.integers(1, 3).flatmap(
    lambda d: hnp.arrays(float, st.tuples(st.integers(1, 9), st.just(d)), elements=COORDINATES)
)
BANDWIDTHS = st.sampled_from([0.5, 1.0, 2.0, 3.7])


def make(estimator_class, h, seed=0, **parameters):
    parameters = {"tol": 1e-3, "merge_radius": 0.2, "max_iter": 100, **parameters}
    if estimator_class is StochasticMeanShift:
        parameters["random_state"] = seed
    return estimator_class(bandwidth=h, **parameters)


def attributes(estimator):
    """All that a fit found, to be compared bit for bit."""
    names = ("labels_", "modes_", "cluster_centers_", "n_iter_", "n_steps_", "converged_")
    return [getattr(estimator, name) for name in names]


def assert_same_bits(estimator, other):
    for value, other_value in zip(attributes(estimator), attributes(other), strict=True):
        assert_array_equal(value, other_value)


# ------------------------------------------------------------------ Phi


def weighted_potential(points, weights, h):
    """Sum over pairs of w_i w_j min(|x_i - x_j|^2, h^2); with weights of 1 it is Phi."""
    squares = np.sum((points[:, np.newaxis] - points) ** 2, axis=2)
    return np.sum(np.outer(weights, weights) * np.minimum(squares, h * h)) / 2


@given(X=ANY_POINTS, h=BANDWIDTHS, seed=SEEDS)
def test_a_step_lowers_phi_by_m_plus_1_squared_shifts(X, h, seed):
    """With m points near the one that moves, itself included."""
    estimator = fit(make(StochasticMeanShift, h, seed, max_iter=8, record=True), X)
    Y = X.copy()
    phi = naive.potential(Y, h)
    for j, before, after in steps_of(estimator, len(X)):
        assert_allclose(before, Y[j], atol=1e-12)
        m = naive.near(Y, before, h * (1 - 1e-12)).sum()  # one on the border could be out
        Y[j] = after
        lower = naive.potential(Y, h)
        assert phi - lower >= (m + 1) * np.sum((after - before) ** 2) - 1e-10
        phi = lower
    assert_allclose(Y, estimator.modes_, atol=1e-12)


@given(X=ANY_POINTS, h=BANDWIDTHS, seed=SEEDS, kind=st.sampled_from(["whole", "real", "zeros"]))
def test_a_step_lowers_the_weighted_phi(X, h, seed, kind):
    """By at least w_j (M + w_j) |shift|^2, where M is the mass near the point, itself included."""
    weights = make_weights(kind, len(X), seed)
    estimator = fit(make(StochasticMeanShift, h, seed, max_iter=8, record=True), X, weights)
    Y = X.copy()
    for j, before, after in steps_of(estimator, len(X)):
        mass = weights[naive.near(Y, before, h * (1 - 1e-12))].sum()
        phi = weighted_potential(Y, weights, h)
        Y[j] = after
        bound = weights[j] * (mass + weights[j]) * np.sum((after - before) ** 2)
        assert phi - weighted_potential(Y, weights, h) >= bound - 1e-9


def test_the_bound_on_phi_is_sharp():
    """Two points alone: the first step halves the distance, and Phi falls by just 3 shifts^2."""
    X = np.array([[0.0], [1.0]])
    estimator = fit(make(StochasticMeanShift, 1.0, max_iter=1, record=True), X)
    j, before, after = next(steps_of(estimator, 2))
    Y = X.copy()
    Y[j] = after
    assert abs(after - before) == 0.5
    assert naive.potential(X, 1.0) - naive.potential(Y, 1.0) == 3 * 0.5**2


@given(X=ANY_POINTS, h=BANDWIDTHS)
def test_a_blurring_sweep_lowers_phi(X, h):
    """By at least sum over near pairs of |s_i + s_j|^2, and 2 sum |s_i|^2."""
    estimator = fit(make(BlurringMeanShift, h, record=True), X)
    sweeps = np.stack(estimator.paths_, axis=1)
    for before, after in pairwise(sweeps):
        shifts = after - before
        near = [naive.near(before, x, h * (1 - 1e-12)) for x in before]
        pairs = np.sum((shifts[:, np.newaxis] + shifts) ** 2, axis=2)
        bound = np.sum(np.triu(pairs * near, 1)) + 2 * np.sum(shifts**2)
        assert naive.potential(before, h) - naive.potential(after, h) >= bound - 1e-10


# ----------------------------------------------------------------- hull


@pytest.mark.parametrize(
    ("estimator_class", "parameters"),
    [
        (MeanShift, {}),
        (MeanShift, {"seeding": "bins"}),
        (StochasticMeanShift, {}),
        (BlurringMeanShift, {}),
    ],
)
@given(X=ANY_POINTS, h=BANDWIDTHS, seed=SEEDS, kind=st.sampled_from([None, "zeros"]))
def test_nobody_leaves_the_convex_hull(estimator_class, parameters, X, h, seed, kind):
    """In no direction does any position lie further out than the data."""
    d = X.shape[1]
    estimator = make(estimator_class, h, seed, record=True, **parameters)
    fit(estimator, X, make_weights(kind, len(X), seed))
    visited = np.concatenate([*estimator.paths_, estimator.modes_, estimator.cluster_centers_])
    directions = np.random.default_rng(seed).normal(size=(20, d))
    directions = np.vstack([np.eye(d), directions])
    directions = np.vstack([directions, -directions])
    assert np.all(np.max(visited @ directions.T, axis=0) <= (X @ directions.T).max(axis=0) + 1e-9)


# ----------------------------------------------------- moved and turned


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(data=generic_data(max_n=30, makers=NO_OFFSET), seed=SEEDS)
def test_translation_changes_no_label(estimator_class, data, seed):
    X, h = data
    shift = np.random.default_rng(seed).uniform(-1000, 1000, X.shape[1])
    here, there = (fit(make(estimator_class, h, seed), Z) for Z in (X, X + shift))
    assert_array_equal(here.labels_, there.labels_)
    assert here.n_steps_ == there.n_steps_
    assert_allclose(there.modes_ - shift, here.modes_, rtol=0, atol=1e-8)


def random_rotation(d, seed):
    """An orthogonal matrix; of both determinants, so mirrors too."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(data=generic_data(max_n=30, makers=NO_OFFSET), seed=SEEDS)
def test_rotation_changes_no_label(estimator_class, data, seed):
    X, h = data
    rotation = random_rotation(X.shape[1], seed)
    here, there = (fit(make(estimator_class, h, seed), Z) for Z in (X, X @ rotation))
    assert_array_equal(here.labels_, there.labels_)
    assert here.n_steps_ == there.n_steps_
    assert_allclose(there.modes_, here.modes_ @ rotation, rtol=0, atol=tolerance(X, h))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(data=generic_data(max_n=30, makers=NO_OFFSET), seed=SEEDS, factor=st.floats(1e-3, 1e3))
def test_scaling_changes_no_label(estimator_class, data, seed, factor):
    X, h = data
    small, large = (fit(make(estimator_class, f * h, seed), f * X) for f in (1.0, factor))
    assert_array_equal(small.labels_, large.labels_)
    assert small.n_steps_ == large.n_steps_
    assert_allclose(large.modes_ / factor, small.modes_, rtol=0, atol=tolerance(X, h))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("exponent", [-900, -40, 1, 30, 900])
def test_scaling_by_a_power_of_two_changes_no_bit(estimator_class, exponent):
    """Whatever units the user has, even where the squares would overflow or vanish."""
    X, h = make_data("clustered", 40, 2)
    factor = 2.0**exponent
    unit = fit(make(estimator_class, h), X)
    scaled = fit(make(estimator_class, factor * h), factor * X)
    assert_array_equal(scaled.modes_, factor * unit.modes_)
    assert_array_equal(scaled.cluster_centers_, factor * unit.cluster_centers_)
    assert_array_equal(scaled.labels_, unit.labels_)
    assert (scaled.n_iter_, scaled.n_steps_) == (unit.n_iter_, unit.n_steps_)
    X_new = X + h
    assert_array_equal(scaled.predict(factor * X_new), unit.predict(X_new))


# -------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("estimator_class", "parameters"),
    [(MeanShift, {}), (MeanShift, {"seeding": "bins"}), (BlurringMeanShift, {})],
)
@given(data=generic_data(max_n=25, makers=NO_OFFSET), seed=SEEDS)
def test_whole_weights_equal_repeated_points(estimator_class, parameters, data, seed):
    X, h = data
    times = np.random.default_rng(seed).integers(1, 5, len(X))
    weighted = fit(make(estimator_class, h, **parameters), X, times)
    repeated = fit(make(estimator_class, h, **parameters), np.repeat(X, times, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    assert weighted.n_iter_ == repeated.n_iter_
    atol = tolerance(X, h)
    assert_allclose(np.repeat(weighted.modes_, times, axis=0), repeated.modes_, rtol=0, atol=atol)
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=0, atol=atol)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(data=generic_data(max_n=25), seed=SEEDS)
def test_equal_weights_are_no_weights(estimator_class, data, seed):
    X, h = data
    plain = fit(make(estimator_class, h, seed), X)
    assert_same_bits(plain, fit(make(estimator_class, h, seed), X, np.full(len(X), 4.0)))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(data=generic_data(max_n=25), seed=SEEDS, exponent=st.sampled_from([-300, -3, 7, 300]))
def test_the_unit_of_the_weights_does_not_matter(estimator_class, data, seed, exponent):
    X, h = data
    weights = make_weights("zeros", len(X), seed)
    one = fit(make(estimator_class, h, seed), X, weights)
    assert_same_bits(one, fit(make(estimator_class, h, seed), X, 2.0**exponent * weights))


@pytest.mark.parametrize(("estimator_class", "max_iter"), [(MeanShift, 99), (BlurringMeanShift, 1)])
@given(data=generic_data(max_n=25, makers=NO_OFFSET), seed=SEEDS)
def test_weightless_points_pull_nobody(estimator_class, max_iter, data, seed):
    """The others go where they go without them, though a weightless point may bridge a merge.

    A blurring fit may take more sweeps for the sake of weightless points, hence one sweep.
    """
    X, h = data
    weights = make_weights("zeros", len(X), seed)
    heavy = weights > 0
    everyone = fit(make(estimator_class, h, max_iter=max_iter), X, weights)
    few = fit(make(estimator_class, h, max_iter=max_iter), X[heavy], weights[heavy])
    assert_allclose(everyone.modes_[heavy], few.modes_, rtol=0, atol=tolerance(X, h))


# ----------------------------------------------------- the same, again


@pytest.mark.product
@pytest.mark.parametrize(
    ("estimator_class", "parameters"),
    [
        (MeanShift, {}),
        (MeanShift, {"seeding": "bins"}),
        (StochasticMeanShift, {}),
        (BlurringMeanShift, {}),
    ],
)
@pytest.mark.parametrize("n", [1, 15, 200 if JIT else 60])
def test_threads_change_no_bit(estimator_class, parameters, field_kind, n):
    X, h = make_data("clustered", n, 2)
    weights = make_weights("zeros", n)
    one, two, all_cores = (
        fit(make(estimator_class, h, n_jobs=k, algorithm=field_kind, **parameters), X, weights)
        for k in (1, 2, -1)
    )
    assert_same_bits(one, two)
    assert_same_bits(one, all_cores)
    X_new = X + 0.5 * h
    assert_array_equal(one.predict(X_new), two.predict(X_new))


@pytest.mark.parametrize("n", [1, 40])
@pytest.mark.parametrize("bandwidth", ["one", "pair"])
def test_random_state_fixes_every_bit(field_kind, n, bandwidth):
    X, h = make_data("uniform", n, 2)
    h = h if bandwidth == "one" else (0.6 * h, h)
    first, second = (
        fit(make(StochasticMeanShift, h, seed=11, algorithm=field_kind), X) for _ in range(2)
    )
    assert_same_bits(first, second)
    other = fit(make(StochasticMeanShift, h, seed=12, algorithm=field_kind), X)
    assert n == 1 or not np.array_equal(first.modes_, other.modes_)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_fitting_again_forgets_the_first_fit(estimator_class):
    X, h = make_data("clustered", 30, 2)
    Z, _ = make_data("uniform", 20, 3)
    estimator = make(estimator_class, h, seed=4)
    fit(estimator, Z, np.arange(20.0))
    assert_same_bits(fit(estimator, X), fit(make(estimator_class, h, seed=4), X))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(data=generic_data(max_n=30), seed=SEEDS)
def test_all_fields_give_the_same_labels(estimator_class, data, seed):
    X, h = data
    fits = [fit(make(estimator_class, h, seed, algorithm=kind), X) for kind in ("auto", *FIELDS)]
    for other in fits[1:]:
        assert_array_equal(other.labels_, fits[0].labels_)
        assert other.n_steps_ == fits[0].n_steps_
