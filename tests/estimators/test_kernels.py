"""The Gaussian kernel: weights exp(-d^2 / (2 h^2)), nothing beyond 6 h."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, generic_data, make_data, make_weights, tolerance
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from twins.compare import ESTIMATORS, check_predictions, fit_and_compare, make, new_points

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
NO_OFFSET = ("clustered", "uniform", "duplicates")
FEW = settings(max_examples=15 if JIT else 5)


def gaussian(estimator_class, h, seed=0, **parameters):
    return make(estimator_class, h, seed, kernel="gaussian", **parameters)


def accuracy(X, h):
    """Fast fields may be off by 1e-10 h a step, and a run takes many."""
    return 1e-8 * h + tolerance(np.asarray(X, dtype=float), h)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (40, 2), (25, 9), (15, 40)])
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "offset"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_equals_the_twin(estimator_class, field_kind, maker, n, d, weights):
    X, h = make_data(maker, n, d)
    h, w = 0.4 * h, make_weights(weights, n)
    # Far from the origin positions are rounded more, and a Gaussian forgets no rounding.
    max_iter = 5 if maker == "offset" else 40
    estimator = gaussian(estimator_class, h, seed=n, algorithm=field_kind, max_iter=max_iter)
    twin = fit_and_compare(estimator, X, w, atol=accuracy(X, h))
    check_predictions(estimator, twin, X, new_points(X, h), w)


@pytest.mark.jit
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_many_points_equal_the_twin(estimator_class, field_kind):
    """Crowds within a small part of a bandwidth, which a field may take as a whole."""
    X, h = make_data("clustered", 300, 2)
    h, w = 0.5 * h, make_weights("zeros", 300)
    estimator = gaussian(estimator_class, h, algorithm=field_kind, max_iter=8, n_jobs=2)
    fit_and_compare(estimator, X, w, atol=accuracy(X, h))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_float32(estimator_class):
    X, h = make_data("clustered", 30, 9)
    X = X.astype(np.float32)
    estimator = gaussian(estimator_class, h, max_iter=40)
    fit_and_compare(estimator, X, atol=1e-6 * abs(X).max())
    assert estimator.modes_.dtype == estimator.cluster_centers_.dtype == np.float32


def test_flat_is_the_default():
    X, h = make_data("clustered", 30, 2)
    for estimator_class in ESTIMATORS:
        plain, flat = (fit(make(estimator_class, h, **k), X) for k in ({}, {"kernel": "flat"}))
        assert plain.kernel == "flat"
        assert_array_equal(plain.modes_, flat.modes_)


@pytest.mark.parametrize("gap", [2.9, 3.0, np.nextafter(3.0, 4.0), 3.1])
@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
def test_nobody_counts_beyond_six_bandwidths(estimator_class, field_kind, gap):
    """At the end of the kernel a step is still 4.6e-8, on the border it is taken."""
    X = np.array([[0.0], [gap]])
    estimator = fit(gaussian(estimator_class, 0.5, algorithm=field_kind, tol=1e-2), X)
    q = math.exp(-(gap**2) / 0.5) if gap <= 3.0 else 0.0
    assert_allclose(estimator.paths_[0][1], [gap * q / (1 + q)], rtol=1e-2, atol=1e-10)
    assert (estimator.paths_[0][1] > 0) == (gap <= 3.0)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 1.0)])
def test_two_points_blur_as_the_closed_form_says(field_kind, weights):
    """A gap g becomes g (v / (v + q w) + w / (q v + w) - 1) with q = exp(-g^2 / 2 h^2)."""
    h, gap = 0.8, 1.3
    v, w = weights
    estimator = gaussian(BlurringMeanShift, h, algorithm=field_kind, tol=1e-4)
    fit(estimator, np.array([[5.0], [5.0 + gap]]), weights)
    for before, after in zip(*estimator.paths_, strict=True):
        assert_allclose(after - before, [gap], atol=1e-9)
        q = math.exp(-(gap**2) / (2 * h**2))
        gap *= v / (v + q * w) + w / (q * v + w) - 1
    assert_array_equal(estimator.labels_, [0, 0])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_very_wide_gaussian_leads_to_the_mean(estimator_class, field_kind):
    X, _ = make_data("uniform", 30, 9)
    weights = make_weights("real", 30)
    estimator = fit(gaussian(estimator_class, 1e4, algorithm=field_kind, tol=1e-9), X, weights)
    assert_array_equal(estimator.labels_, np.zeros(30))
    if estimator_class is not StochasticMeanShift:  # whose mean moves with every step
        mean = np.average(X, axis=0, weights=weights)
        assert_allclose(estimator.modes_, np.tile(mean, (30, 1)), atol=1e-4)


def test_a_climb_ends_at_a_mode_of_the_density():
    """The gradient sum w_i (x_i - x) exp(-|x_i - x|^2 / 2 h^2) vanishes there."""
    X, h = make_data("clustered", 60, 2)
    weights = make_weights("real", 60)
    estimator = fit(gaussian(MeanShift, h / 2, tol=1e-7, max_iter=5000), X, weights)
    for mode in estimator.cluster_centers_:
        offsets = X - mode
        density = weights * np.exp(-np.sum(offsets**2, axis=1) / (2 * (h / 2) ** 2))
        assert_allclose(density @ offsets / density.sum(), 0, atol=1e-6 * h)


# ----------------------------------------------------------- invariants


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(
    data=generic_data(max_n=25, dimensions=DIMENSIONS),
    seed=SEEDS,
    kind=st.sampled_from([None, "zeros"]),
)
def test_nobody_leaves_the_convex_hull(estimator_class, data, seed, kind):
    X, h = data
    weights = make_weights(kind, len(X), seed)
    estimator = fit(gaussian(estimator_class, h / 2, seed, max_iter=20), X, weights)
    visited = np.concatenate([*estimator.paths_, estimator.modes_, estimator.cluster_centers_])
    directions = np.random.default_rng(seed).normal(size=(20, X.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    atol = accuracy(X, h)
    assert np.all((visited @ directions.T).max(axis=0) <= (X @ directions.T).max(axis=0) + atol)
    assert np.all(visited.max(axis=0) <= X.max(axis=0) + atol)
    assert np.all(visited.min(axis=0) >= X.min(axis=0) - atol)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(
    data=generic_data(max_n=25, dimensions=DIMENSIONS, makers=NO_OFFSET),
    seed=SEEDS,
    factor=st.floats(1e-3, 1e3),
)
def test_moved_turned_and_scaled(estimator_class, data, seed, factor):
    X, h = data
    h = h / 2
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    shift = rng.uniform(-100, 100, d)
    here = fit(gaussian(estimator_class, h, seed, max_iter=20), X)
    there = fit(
        gaussian(estimator_class, factor * h, seed, max_iter=20), factor * (X @ turn + shift)
    )
    assert_array_equal(here.labels_, there.labels_)
    assert here.n_steps_ == there.n_steps_
    back = (there.modes_ / factor - shift) @ turn.T
    assert_allclose(back, here.modes_, rtol=0, atol=1e-7 * h + tolerance(X, h))


@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
@FEW
@given(data=generic_data(max_n=20, dimensions=DIMENSIONS, makers=NO_OFFSET), seed=SEEDS)
def test_whole_weights_equal_repeated_points(estimator_class, data, seed):
    X, h = data
    times = np.random.default_rng(seed).integers(1, 4, len(X))
    weighted = fit(gaussian(estimator_class, h / 2, max_iter=20), X, times)
    repeated = fit(gaussian(estimator_class, h / 2, max_iter=20), np.repeat(X, times, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    assert_allclose(
        np.repeat(weighted.modes_, times, axis=0), repeated.modes_, rtol=0, atol=accuracy(X, h)
    )


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_units_change_no_bit(estimator_class):
    X, h = make_data("clustered", 30, 2)
    unit = fit(gaussian(estimator_class, h / 2, max_iter=20), X)
    for exponent in (-300, 300):
        factor = 2.0**exponent
        scaled = fit(gaussian(estimator_class, factor * h / 2, max_iter=20), factor * X)
        assert_array_equal(scaled.modes_, factor * unit.modes_)
