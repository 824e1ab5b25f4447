"""Cosine distance: points on the unit sphere, and every mean put back there."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, bandwidth_profile
from twins.compare import ESTIMATORS, check_predictions, fit_and_compare, make, make_directions
from twins.rules import on_sphere

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=15 if JIT else 5)


def cosine(estimator_class, h, seed=0, **parameters):
    return make(estimator_class, h, seed, metric="cosine", **parameters)


@st.composite
def directions(draw, max_n=25):
    n, d = draw(st.integers(1, max_n)), draw(st.sampled_from(DIMENSIONS))
    return make_directions(n, d, draw(SEEDS))


def assert_unit_length(rows):
    atol = 1e-12 if rows.dtype == np.float64 else 1e-6
    assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=0, atol=atol)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (9, 1), (40, 2), (30, 9), (25, 40)])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_equals_the_twin(estimator_class, field_kind, n, d, weights):
    X, h = make_directions(n, d)
    w = make_weights(weights, n)
    estimator = cosine(estimator_class, h, seed=n, algorithm=field_kind)
    twin = fit_and_compare(estimator, X, w)
    assert estimator.bandwidth_ == h
    check_predictions(estimator, twin, X, make_directions(15, d, seed=1)[0], w)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize(("n", "d"), [(30, 9), (25, 40)])
def test_gaussian_on_the_sphere_equals_the_twin(estimator_class, field_kind, n, d):
    X, h = make_directions(n, d)
    estimator = cosine(estimator_class, h / 4, kernel="gaussian", algorithm=field_kind, max_iter=40)
    twin = fit_and_compare(estimator, X, atol=1e-8)
    check_predictions(estimator, twin, X, make_directions(15, d, seed=1)[0])


@pytest.mark.parametrize(("n", "d"), [(1, 2), (40, 2), (25, 9)])
def test_a_pair_of_bandwidths_equals_the_twin(field_kind, n, d):
    """Radii are drawn as cosine distances, like the bandwidth."""
    X, h = make_directions(n, d)
    estimator = cosine(StochasticMeanShift, (h / 3, h), seed=n, algorithm=field_kind)
    fit_and_compare(estimator, X)
    assert estimator.bandwidth_ == h


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_everything_stays_on_the_sphere(estimator_class, dtype):
    X, h = make_directions(30, 9)
    X = X.astype(dtype)
    estimator = fit(cosine(estimator_class, h), X)
    for rows in (estimator.modes_, estimator.cluster_centers_, *estimator.paths_):
        assert rows.dtype == dtype
        assert_unit_length(rows)
    double = fit(cosine(estimator_class, h), X.astype(float))
    assert_array_equal(estimator.labels_, double.labels_)
    assert_allclose(estimator.modes_, double.modes_, atol=1e-5)


def test_the_arc_between_two_axes():
    """1 - cos is 1 between axes: on the border of a bandwidth of 1, and they meet in the middle."""
    X = np.array([[5.0, 0.0], [0.0, 0.1]])
    for h, together in [(1.0, True), (0.999, False)]:
        estimator = fit(cosine(BlurringMeanShift, h), X)
        assert (estimator.labels_[1] == 0) == together
    expected = np.full((1, 2), np.sqrt(0.5))
    assert_allclose(fit(cosine(BlurringMeanShift, 1.0), X).cluster_centers_, expected)


OPPOSITE = np.array([[2.0, 0.0], [-4.0, 0.0]])
TRIANGLE = np.array([[5.0, 0.0], [-1.0, np.sqrt(3.0)], [-2.0, -np.sqrt(12.0)]])


@pytest.mark.parametrize(("X", "h"), [(OPPOSITE, 2.0), (TRIANGLE, 1.9)], ids=["two", "three"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_mean_without_direction_moves_nobody(estimator_class, field_kind, X, h):
    """Everybody is near, and opposite points cancel out, up to rounding."""
    estimator = fit(cosine(estimator_class, h, algorithm=field_kind), X)
    assert_allclose(estimator.modes_, on_sphere(X), atol=1e-12)
    assert estimator.converged_
    assert estimator.n_iter_ == 1 or estimator_class is StochasticMeanShift
    assert_array_equal(estimator.labels_, np.arange(len(X)))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(data=directions(), seed=SEEDS)
def test_turned_and_stretched(estimator_class, data, seed):
    """Neither a rotation nor the lengths of the rows change a label."""
    X, h = data
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))
    stretch = 10.0 ** rng.uniform(-5, 5, (len(X), 1))
    here, there = (fit(cosine(estimator_class, h, seed), Z) for Z in (X, stretch * (X @ turn)))
    assert_array_equal(here.labels_, there.labels_)
    assert here.n_steps_ == there.n_steps_
    assert_allclose(there.modes_, here.modes_ @ turn, rtol=0, atol=1e-9)
    assert_unit_length(here.modes_)
    assert_array_equal(here.predict(X), here.predict(2.0 * X))


@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
@FEW
@given(data=directions(max_n=15), seed=SEEDS)
def test_whole_weights_equal_repeated_points(estimator_class, data, seed):
    X, h = data
    times = np.random.default_rng(seed).integers(1, 4, len(X))
    weighted = fit(cosine(estimator_class, h), X, times)
    repeated = fit(cosine(estimator_class, h), np.repeat(X, times, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    assert_allclose(np.repeat(weighted.modes_, times, axis=0), repeated.modes_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300])
def test_tiny_and_huge_vectors_have_a_direction_too(size):
    X, h = make_directions(20, 9)
    plain = fit(cosine(MeanShift, h), X)
    other = fit(cosine(MeanShift, h), size * X)
    assert_array_equal(other.labels_, plain.labels_)
    assert_allclose(other.modes_, plain.modes_, atol=1e-12)
    assert_array_equal(other.predict(size * X), plain.predict(X))


@pytest.mark.parametrize("weights", [None, "real"])
def test_default_bandwidth_is_that_of_the_profile(weights):
    X, _ = make_directions(40, 9)
    w = make_weights(weights, 40)
    for estimator_class in ESTIMATORS:
        profile = bandwidth_profile(X, cosine(estimator_class, None), sample_weight=w)
        estimator = fit(cosine(estimator_class, None), X, w)
        assert estimator.bandwidth_ == profile.bandwidth
        assert 0 < estimator.bandwidth_ <= 2


# ------------------------------------------------------------ bad input


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_zero_vector_has_no_direction(estimator_class):
    X, h = make_directions(12, 9)
    X[7] = 0.0
    with pytest.raises(ValueError, match=r"\b7\b") as caught:
        cosine(estimator_class, h).fit(X)
    message = str(caught.value)
    assert re.search(r"zero|\b0\b", message)
    assert "metric" in message
    assert re.search(r"\bX\b", message)
    estimator = fit(cosine(estimator_class, h), X[:7])
    with pytest.raises(ValueError, match=r"\b7\b.*|cosine"):
        estimator.predict(X)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("bandwidth", [2.1, 60.0, 0.0, -1.0])
def test_cosine_distances_end_at_two(estimator_class, bandwidth):
    X, _ = make_directions(12, 9)
    with pytest.raises(ValueError, match="bandwidth") as caught:
        cosine(estimator_class, bandwidth).fit(X)
    assert repr(bandwidth) in str(caught.value)
    if bandwidth > 0:
        assert re.search(r"\b2\b", str(caught.value))
        assert "cosine" in str(caught.value)


def test_both_ends_of_a_pair_are_cosine_distances():
    X, _ = make_directions(12, 9)
    with pytest.raises(ValueError, match=r"bandwidth.*2"):
        cosine(StochasticMeanShift, (0.5, 3.0)).fit(X)
