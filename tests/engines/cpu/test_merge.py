"""From final positions to clusters: components, labels, centres, against the naive twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import (
    ALL_MAKERS,
    SHAPES,
    WEIGHTS,
    assert_close,
    fit,
    generic_data,
    make_data,
    make_weights,
)
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.components import connected_components
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.finish import cluster_centers, label_components
from twins import naive

SPACE = NumpySpace()


def column(*values):
    return np.array(values, dtype=float)[:, np.newaxis]


@pytest.mark.product
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0, 2.5])
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_components_equal_the_twin(maker, n, d, share):
    X, h = make_data(maker, n, d, seed=1)
    assert_array_equal(connected_components(X, share * h), naive.merge(X, share * h))


@pytest.mark.product
@pytest.mark.jit
@pytest.mark.parametrize("share", [0.03, 0.1, 0.2, 1.0])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_components_of_many_points(maker, d, share):
    X, h = make_data(maker, 700, d)
    assert_array_equal(connected_components(X, share * h), naive.merge(X, share * h))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(0, 5))
def test_components_of_whole_numbers(values, radius):
    """Where every distance can be a tie."""
    X = column(*values)
    assert_array_equal(connected_components(X, float(radius)), naive.merge(X, radius))


@pytest.mark.parametrize("order", [1, -1])
def test_a_chain_is_one_component_however_long(order):
    X = column(*range(300))[::order].copy()
    assert_array_equal(connected_components(X, 1.0), np.zeros(300))
    assert_array_equal(connected_components(X, np.nextafter(1.0, 0)), np.arange(300))


def test_a_late_point_joins_two_early_ones():
    assert_array_equal(connected_components(column(0, 2, 9, 1, 9.5), 1.0), [0, 0, 1, 0, 1])


def test_radius_zero_joins_equal_positions_only():
    X = column(3, 1, 3, np.nextafter(3, 4), 1)
    assert_array_equal(connected_components(X, 0.0), [0, 1, 0, 2, 1])


def label(components, weights, min_cluster_size):
    """As the estimators do: a min_cluster_size of 1 asks for no weight at all."""
    min_size = float(min_cluster_size) if min_cluster_size > 1 else 0.0
    return label_components(SPACE, components, weights, min_size)


@pytest.mark.parametrize(
    ("components", "weights", "min_size", "expected"),
    [
        ([0, 1, 1, 2, 2, 2], None, 1, [2, 1, 1, 0, 0, 0]),
        ([0, 1, 2, 0, 1, 2], None, 1, [0, 1, 2, 0, 1, 2]),  # ties: first appearance
        ([0, 1, 1, 2, 3, 3], None, 1, [2, 0, 0, 3, 1, 1]),
        ([0, 1, 1, 2, 2, 2], None, 2, [-1, 1, 1, 0, 0, 0]),
        ([0, 1, 1, 2, 2, 2], None, 3, [-1, -1, -1, 0, 0, 0]),
        ([0, 1, 1, 2, 2, 2], None, 4, [-1] * 6),
        ([0, 1, 1], [2, 1, 0.5], 1, [0, 1, 1]),
        ([0, 1, 1], [2, 1, 0.5], 2, [0, -1, -1]),
        ([0, 1, 1], [2, 1, 1], 2, [0, 1, 1]),
        ([0, 1, 2], [0, 3, 0], 1, [1, 0, 2]),  # min_cluster_size=1 keeps even weight 0
        ([0, 1, 2], [0, 3, 0.5], 1, [2, 0, 1]),
        ([0, 1, 2], [0, 3, 0], 2, [-1, 0, -1]),
        ([0], None, 1, [0]),
    ],
)
def test_labels_by_hand(components, weights, min_size, expected):
    w = np.ones(len(components)) if weights is None else np.array(weights, dtype=float)
    assert_array_equal(label(np.array(components), w, min_size), expected)
    assert_array_equal(naive.label(components, weights, min_size), expected)


@given(
    parts=st.lists(st.integers(0, 8), min_size=1, max_size=40),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(WEIGHTS),
    min_size=st.integers(1, 6),
)
def test_labels_equal_the_twin(parts, seed, kind, min_size):
    components = naive.merge(column(*parts), 0.0)
    weights = make_weights(kind, len(parts), seed)
    w = np.ones(len(parts)) if weights is None else weights
    expected = naive.label(components, weights, min_size)
    assert_array_equal(label(components, w, min_size), expected)


@given(data=generic_data(), kind=st.sampled_from(WEIGHTS), min_size=st.integers(1, 5))
def test_centers_equal_the_twin(data, kind, min_size):
    X, h = data
    weights = make_weights(kind, len(X), seed=2)
    w = np.ones(len(X)) if weights is None else weights
    labels = naive.label(naive.merge(X, 0.7 * h), weights, min_size)
    assert_close(cluster_centers(SPACE, X, labels, w), naive.centers(X, labels, weights), X, h)


def test_centers_by_hand():
    """Weighted; plain where nothing weighs; without the noise; shape (0, d) for noise alone."""
    modes = np.array([[0.0, 0.0], [4.0, 8.0], [10.0, 0.0], [20.0, 2.0], [99.0, 99.0]])
    weights = np.array([3.0, 1.0, 0.0, 0.0, 50.0])
    labels = np.array([0, 0, 1, 1, -1])
    assert_array_equal(cluster_centers(SPACE, modes, labels, weights), [[1.0, 2.0], [15.0, 1.0]])
    assert cluster_centers(SPACE, modes, np.full(5, -1), weights).shape == (0, 2)


def test_centers_far_from_the_origin_keep_their_digits():
    modes = 2.0**50 + column(0, 1, 1, 0)
    centers = cluster_centers(SPACE, modes, np.zeros(4, dtype=int), np.array([1.0, 1.0, 1.0, 1.0]))
    assert_array_equal(centers, [[2.0**50 + 0.5]])


@pytest.mark.parametrize("estimator_class", [MeanShift, StochasticMeanShift, BlurringMeanShift])
class TestEstimators:
    X = column(50, 0, 0.1, 20, 20.1, 20.2, 30, 30.1)

    def fit(self, estimator_class, sample_weight=None, merge_radius=0.01, min_cluster_size=1):
        estimator = estimator_class(
            bandwidth=1.0,
            tol=1e-6,
            merge_radius=merge_radius,
            max_iter=99,
            min_cluster_size=min_cluster_size,
        )
        if estimator_class is StochasticMeanShift:
            estimator.set_params(random_state=0)
        return fit(estimator, self.X, sample_weight)

    def test_labels_count_down_by_size(self, estimator_class):
        estimator = self.fit(estimator_class)
        assert_array_equal(estimator.labels_, [3, 1, 1, 0, 0, 0, 2, 2])
        assert_allclose(estimator.cluster_centers_, column(20.1, 0.05, 30.05, 50), atol=0.1)

    def test_small_clusters_are_noise_and_have_no_center(self, estimator_class):
        estimator = self.fit(estimator_class, min_cluster_size=3)
        assert_array_equal(estimator.labels_, [-1, -1, -1, 0, 0, 0, -1, -1])
        assert estimator.cluster_centers_.shape == (1, 1)
        labels = self.fit(estimator_class, min_cluster_size=2).labels_
        assert_array_equal(labels, [-1, 1, 1, 0, 0, 0, 2, 2])

    def test_all_noise(self, estimator_class):
        estimator = self.fit(estimator_class, min_cluster_size=4)
        assert_array_equal(estimator.labels_, [-1] * 8)
        assert estimator.cluster_centers_.shape == (0, 1)
        assert estimator.modes_.shape == (8, 1)

    def test_size_is_weight(self, estimator_class):
        weights = [7.0, 0.0, 0.0, 0.5, 0.25, 0.25, 2.0, 2.0]
        estimator = self.fit(estimator_class, weights)
        assert_array_equal(estimator.labels_, [0, 3, 4, 2, 2, 2, 1, 1])
        estimator = self.fit(estimator_class, weights, min_cluster_size=2)
        assert_array_equal(estimator.labels_, [0, -1, -1, -1, -1, -1, 1, 1])

    def test_merge_radius_is_a_fraction_of_the_bandwidth(self, estimator_class):
        """The modes lie about 20 and 10 apart; the bandwidth is 1."""
        assert self.fit(estimator_class, merge_radius=9.5).labels_.max() == 3
        labels = self.fit(estimator_class, merge_radius=10.5).labels_
        assert_array_equal(labels, [2, 1, 1, 0, 0, 0, 0, 0])
        assert_array_equal(self.fit(estimator_class, merge_radius=20.5).labels_, np.zeros(8))
