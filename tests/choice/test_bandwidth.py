"""Bandwidth by quantile: scikit-learn's rule, with weights, and never 0."""

import re
from functools import partial

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from modeshift import estimate_bandwidth

by_quantile = partial(estimate_bandwidth, method="quantile")

SHAPES = [(2, 1), (3, 2), (10, 1), (50, 2), (101, 3), (300, 8), (1000, 2)]
QUANTILES = [0.0, 0.01, 0.1, 0.3, 0.5, 0.77, 1.0]
X = np.random.default_rng(0).normal(size=(60, 2))


# scikit-learn's rule


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("quantile", QUANTILES)
def test_equals_scikit_learn(shape, quantile):
    data = np.random.default_rng(shape).normal(size=shape)
    expected = sklearn.cluster.estimate_bandwidth(data, quantile=quantile)
    if int(len(data) * quantile) <= 1:
        assert expected == 0  # the nearest point of each is itself
        expected = half_smallest_gap(data)
    assert_allclose(by_quantile(data, quantile=quantile), expected, rtol=1e-6)


def test_default_quantile_is_that_of_scikit_learn():
    assert_allclose(by_quantile(X), sklearn.cluster.estimate_bandwidth(X), rtol=1e-6)


def test_small_example_by_hand():
    """Of 4 points, half are 2: each with its nearest neighbour, at 1, 1, 2 and 4."""
    assert by_quantile([[0.0], [1.0], [3.0], [7.0]], quantile=0.5) == (1 + 1 + 2 + 4) / 4


@pytest.mark.parametrize("dtype", [np.float32, int, ">f8"])
def test_kinds_of_arrays(dtype):
    data = (8 * X).astype(dtype)
    expected = by_quantile(data.astype(np.float64))
    result = by_quantile(data)
    assert type(result) is float
    assert result == expected


# Weights


@given(
    weights=st.lists(st.integers(0, 4), min_size=2, max_size=25).filter(any),
    quantile=st.floats(0.0, 1.0),
    seed=st.integers(0, 1000),
)
def test_whole_weights_equal_repetition(weights, quantile, seed):
    data = np.random.default_rng(seed).normal(size=(len(weights), 2))
    expected = by_quantile(np.repeat(data, weights, axis=0), quantile=quantile)
    actual = by_quantile(data, quantile=quantile, sample_weight=weights)
    assert_allclose(actual, expected, rtol=1e-12)


def test_weights_of_one_change_nothing():
    assert by_quantile(X, sample_weight=np.ones(60)) == by_quantile(X)


def test_points_without_weight_do_not_count():
    data = np.concatenate([X, X + 100.0])
    weights = np.repeat([1.0, 0.0], 60)
    assert by_quantile(data, sample_weight=weights) == by_quantile(X)


@pytest.mark.parametrize("scale", [1e-300, 1 / 60, 0.37, 1e6, 1e300, 2.0**1020])
def test_scale_of_the_weights_does_not_matter(scale):
    """Weights that sum to 1 are as common as weights of 1. (0.3 of 60 is whole: no rounding.)"""
    weights = np.full(60, scale)
    assert_allclose(by_quantile(X, sample_weight=weights), by_quantile(X), rtol=1e-9)


# Never 0


def half_smallest_gap(data):
    distances = np.linalg.norm(data[:, np.newaxis] - data, axis=2)
    return distances[distances > 0].min() / 2


@pytest.mark.parametrize("place", [0.0, 0.1, -7.0, 1e8, 1e300, 1e-300])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_one_place_gives_1(n, place):
    assert by_quantile(np.full((n, 3), place)) == 1.0


def test_mostly_duplicates_give_half_the_smallest_gap():
    data = np.repeat([[0.0], [3.0], [10.0]], [40, 30, 30], axis=0)
    assert sklearn.cluster.estimate_bandwidth(data) == 0.0
    assert by_quantile(data) == 1.5


@given(st.data())
def test_always_positive_and_finite(data):
    number = st.one_of(st.floats(-1e300, 1e300), st.sampled_from([0.0, 1.0, -1.7e308, 5e-324]))
    points = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=12))
    bandwidth = by_quantile(points, quantile=data.draw(st.floats(0.0, 1.0)))
    assert 0.0 < bandwidth < np.inf


# Samples


@pytest.fixture(scope="module")
def large():
    return np.random.default_rng(0).normal(size=(1200, 2))


def test_sample_is_reproducible(large):
    first, again, other = (
        by_quantile(large, n_samples=100, random_state=seed) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_sample_takes_a_random_state_instance(large):
    expected = by_quantile(large, n_samples=100, random_state=7)
    rng = np.random.RandomState(7)
    assert by_quantile(large, n_samples=100, random_state=rng) == expected
    assert by_quantile(large, n_samples=100, random_state=rng) != expected


def test_sample_is_drawn_only_above_n_samples(large):
    exact = sklearn.cluster.estimate_bandwidth(large)
    assert_allclose(by_quantile(large, n_samples=1200, random_state=0), exact, rtol=1e-6)
    sampled = by_quantile(large, n_samples=1199, random_state=0)
    assert sampled != exact
    assert_allclose(sampled, exact, rtol=0.05)


def test_sample_of_default_size_comes_close(large):
    exact = sklearn.cluster.estimate_bandwidth(large)
    assert_allclose(by_quantile(large, random_state=0), exact, rtol=0.05)


def test_sample_prefers_heavy_points(large):
    """Two crowds, the wide one with hardly any weight: the narrow one decides."""
    data = np.concatenate([0.01 * large, 100.0 * large])
    weights = np.repeat([1.0, 1e-9], 1200)
    bandwidth = by_quantile(data, sample_weight=weights, n_samples=200, random_state=0)
    narrow = by_quantile(0.01 * large, n_samples=200, random_state=0)
    assert_allclose(bandwidth, narrow, rtol=0.2)


def test_sample_when_fewer_points_have_weight_than_n_samples(large):
    weights = np.zeros(1200)
    weights[:50] = 1.0
    expected = by_quantile(large[:50])
    actual = by_quantile(large, sample_weight=weights, n_samples=100, random_state=0)
    assert actual == expected


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_sample_with_extreme_weights(large, scale):
    expected = by_quantile(large, n_samples=100, random_state=0)
    weights = np.full(1200, scale)
    actual = by_quantile(large, sample_weight=weights, n_samples=100, random_state=0)
    assert_allclose(actual, expected, rtol=1e-9)


# Units


@pytest.mark.parametrize("exponent", [-1000, -300, -1, 1, 300, 1000])
@pytest.mark.parametrize("quantile", [0.01, 0.3])
def test_scales_with_the_data_exactly(exponent, quantile):
    expected = by_quantile(X, quantile=quantile) * 2.0**exponent
    assert by_quantile(X * 2.0**exponent, quantile=quantile) == expected


@pytest.mark.parametrize("offset", [1e8, -(2.0**40)])
def test_moving_the_data_changes_nothing(offset):
    data = np.round(X * 1024) / 1024  # so that moving them rounds nothing
    assert_allclose(by_quantile(data + offset), by_quantile(data), rtol=1e-12)


# Bad input

BAD_PARAMETERS = [
    ("quantile", -0.1, ValueError),
    ("quantile", 1.1, ValueError),
    ("quantile", np.nan, ValueError),
    ("quantile", np.inf, ValueError),
    ("quantile", "0.3", TypeError),
    ("quantile", True, TypeError),
    ("n_samples", 0, ValueError),
    ("n_samples", -5, ValueError),
    ("n_samples", 10.0, TypeError),
    ("n_samples", "ten", TypeError),
]


@pytest.mark.parametrize(("name", "value", "error"), BAD_PARAMETERS)
def test_bad_parameter(name, value, error):
    with pytest.raises(error, match=rf"^{name}\b.*{re.escape(repr(value))}"):
        by_quantile(X, **{name: value})


def test_message_gives_the_range_of_the_quantile():
    """1.0 itself is allowed, so "less than 1" would be wrong."""
    with pytest.raises(ValueError, match="quantile") as caught:
        by_quantile(X, quantile=2.0)
    assert "less than 1," not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "pattern"),
    [
        ([[np.nan, 1.0]], r"\bX\b.*NaN"),
        ([[np.inf, 1.0]], r"\bX\b.*inf"),
        (np.empty((0, 2)), r"\bX\b"),
        (X[0], r"\bX\b"),
        (X.astype(str), r"\bX\b.*string"),
        ([["red", "blue"]], r"\bX\b.*'red'"),
        (X + 1j, r"\bX\b"),
    ],
    ids=["NaN", "inf", "empty", "one-dimensional", "numeric strings", "words", "complex"],
)
def test_bad_data(data, pattern):
    with pytest.raises(ValueError, match=f"(?s){pattern}"):
        by_quantile(data)


@pytest.mark.parametrize(
    "weights",
    [-np.ones(60), np.full(60, np.nan), np.zeros(60), np.ones(59)],
    ids=["negative", "NaN", "all zero", "too few"],
)
def test_bad_weights(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        by_quantile(X, sample_weight=weights)


def test_parameters_are_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        by_quantile(X, 0.3)
