"""Feature weights learned while blurring (Chakraborty, Paul & Das 2021)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, generic_data, make_data, make_weights, tolerance
from modeshift import BlurringMeanShift
from modeshift.engines.schedules.feature_weights import FeatureWeights
from twins.compare import check_predictions, fit_and_compare, make, new_points
from twins.rules import learned_weights

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=15 if JIT else 5)


def learning(h, temperature="learned", **parameters):
    return make(BlurringMeanShift, h, feature_weights=temperature, **parameters)


def clumps_and_noise():
    """Three clumps in the first feature, noise in the second."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    signal = 3.0 * y + 0.1 * rng.normal(size=60)
    return np.column_stack([signal, rng.uniform(0, 3, 60)]), y


def assert_learned(estimator, twin):
    assert estimator.feature_weights_.dtype == np.float64
    assert_allclose(estimator.feature_weights_, twin.rule.feature_weights, atol=1e-8)
    assert_allclose(estimator.feature_weights_.sum(), 1.0)
    assert np.all(estimator.feature_weights_ >= 0)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (12, 1), (40, 2), (30, 9), (20, 40)])
@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_equals_the_twin(field_kind, kernel, n, d, weights):
    X, h = make_data("clustered", n, d)
    h, w = 0.7 * h / np.sqrt(d), make_weights(weights, n)
    estimator = learning(h, kernel=kernel, temperature=2.0, algorithm=field_kind, max_iter=30)
    twin = fit_and_compare(estimator, X, w, atol=1e-8 * h + tolerance(X, h))
    assert_learned(estimator, twin)
    check_predictions(estimator, twin, X, new_points(X, h), w)


@pytest.mark.parametrize("temperature", [1e-3, 0.3, 1.0, 1e6])
@pytest.mark.parametrize("unit", [0.001, 1.0, 300.0])
def test_temperatures_and_units_equal_the_twin(temperature, unit):
    """D_l and the temperature are in the units of the user, whatever the engine computes in."""
    X, _ = clumps_and_noise()
    estimator = learning(unit * 0.4, temperature=unit**2 * temperature, max_iter=30)
    twin = fit_and_compare(estimator, unit * X)
    assert_learned(estimator, twin)


@pytest.mark.parametrize("parameters", [{"n_neighbors": 6}, {"stop": "entropy"}], ids=repr)
def test_with_other_options_it_equals_the_twin(field_kind, parameters):
    X, _ = clumps_and_noise()
    estimator = learning(0.5, algorithm=field_kind, temperature=0.5, **parameters)
    assert_learned(estimator, fit_and_compare(estimator, X))


def test_weights_replayed_from_the_paths():
    """From the definition alone: w_l ~ exp(-D_l / lam), D_l against where the points began."""
    X, _ = clumps_and_noise()
    w = make_weights("real", 60)
    estimator = fit(learning(0.4, temperature=0.3), X, w)
    last = np.array([path[-1] for path in estimator.paths_])
    displacement = np.average((last - X) ** 2, axis=0, weights=w)
    expected = np.exp(-displacement / 0.3)
    assert_allclose(estimator.feature_weights_, expected / expected.sum(), rtol=1e-9)


def test_first_sweep_is_of_equal_weights():
    """w = 1/d: the distance is the Euclidean one over sqrt(d), so h is sqrt(d) times as wide."""
    X, h = make_data("uniform", 40, 9)
    learned = fit(learning(h / 3, max_iter=1), X)
    plain = fit(make(BlurringMeanShift, h, max_iter=1), X)
    assert_allclose(learned.modes_, plain.modes_, atol=1e-12)


def test_a_high_temperature_keeps_the_weights_equal():
    X, h = make_data("clustered", 40, 9)
    learned = fit(learning(h / 3, temperature=1e15), X)
    plain = fit(make(BlurringMeanShift, h), X)
    assert_allclose(learned.feature_weights_, np.full(9, 1 / 9), atol=1e-9)
    assert_array_equal(learned.labels_, plain.labels_)
    assert_allclose(learned.modes_, plain.modes_, atol=1e-9)


def test_noise_loses_its_weight_and_the_clumps_are_found():
    X, y = clumps_and_noise()
    estimator = fit(learning(0.7, temperature=0.1), X)
    assert estimator.feature_weights_[0] > 0.9
    assert_array_equal(estimator.labels_, y)
    assert_array_equal(estimator.predict(X), y)
    X_new = np.column_stack([[0.1, 3.0, 5.9], np.full(3, 2.5)])
    assert_array_equal(estimator.predict(X_new), [0, 1, 2])


def test_displacements_beyond_the_range_of_exp():
    """exp(-D / lam) alone would be 0 for every feature."""
    X, _ = clumps_and_noise()
    estimator = fit(learning(700.0, temperature=1e-6, max_iter=30), 1000 * X)
    assert np.all(np.isfinite(estimator.feature_weights_))
    assert_allclose(estimator.feature_weights_.sum(), 1.0)
    assert_allclose(learned_weights(X, 0 * X, np.ones(60), 1e-9).sum(), 1.0)


def test_displacements_whose_squares_overflow():
    """Two of them were inf, and their difference NaN."""
    metric = FeatureWeights(np.zeros((4, 3)), np.ones(4), temperature=1.0, exponent=0)
    metric.learn(np.tile([1e200, 2e200, 0.0], (4, 1)))
    assert_allclose(metric.factors, [0.0, 0.0, 1.0], atol=1e-100)


def test_only_learned_weights_are_kept():
    X, h = make_data("clustered", 20, 2)
    estimator = fit(learning(h), X)
    assert estimator.feature_weights_.shape == (2,)
    fit(estimator.set_params(feature_weights=None), X)
    assert not hasattr(estimator, "feature_weights_")


@FEW
@given(
    data=generic_data(max_n=20, dimensions=DIMENSIONS, makers=("clustered", "uniform")), seed=SEEDS
)
def test_moved_and_scaled(data, seed):
    X, h = data
    rng = np.random.default_rng(seed)
    shift, factor = rng.uniform(-100, 100, X.shape[1]), 10.0 ** rng.uniform(-3, 3)
    h = h / np.sqrt(X.shape[1])
    here = fit(learning(h, max_iter=15), X)
    there = fit(learning(factor * h, temperature=factor**2, max_iter=15), factor * (X + shift))
    assert_array_equal(here.labels_, there.labels_)
    assert_allclose(there.feature_weights_, here.feature_weights_, atol=1e-8)
    assert_allclose(there.modes_ / factor - shift, here.modes_, rtol=0, atol=1e-7)


@FEW
@given(
    data=generic_data(max_n=15, dimensions=DIMENSIONS, makers=("clustered", "uniform")), seed=SEEDS
)
def test_whole_weights_equal_repeated_points_and_features_may_be_permuted(data, seed):
    X, h = data
    rng = np.random.default_rng(seed)
    times, order = rng.integers(1, 4, len(X)), rng.permutation(X.shape[1])
    h = h / np.sqrt(X.shape[1])
    weighted = fit(learning(h, max_iter=15), X, times)
    repeated = fit(learning(h, max_iter=15), np.repeat(X, times, axis=0)[:, order])
    assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    assert_allclose(weighted.feature_weights_[order], repeated.feature_weights_, atol=1e-8)
    assert_allclose(weighted.modes_.repeat(times, axis=0)[:, order], repeated.modes_, atol=1e-8)
