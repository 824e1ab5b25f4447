"""New points climb over the fitted field and join the mode nearest to their end."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from helpers import GENERIC, WEIGHTS, fit, generic_data, make_data, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from twins import naive

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)


def make(estimator_class, h, **parameters):
    parameters = {"tol": 1e-3, "merge_radius": 0.2, "max_iter": 200, **parameters}
    if estimator_class is StochasticMeanShift:
        parameters["random_state"] = 0
    return estimator_class(bandwidth=h, **parameters)


def new_points(X, h, seed=0):
    """The points themselves, places around them, and some far from all."""
    rng = np.random.default_rng(seed)
    near = X + rng.normal(size=X.shape) * h / np.sqrt(X.shape[1])
    anywhere = rng.uniform(X.min(axis=0) - 3 * h, X.max(axis=0) + 3 * h, (15, X.shape[1]))
    return np.concatenate([X, near, anywhere])


def predict_naively(estimator, X, X_new, weights=None):
    """Label new points like the twin: over the data for MeanShift, else over the modes."""
    return naive.predict(
        X if isinstance(estimator, MeanShift) else estimator.modes_,
        weights,
        estimator.modes_.astype(float),
        estimator.labels_,
        estimator.cluster_centers_.astype(float),
        X_new,
        h=estimator.bandwidth_,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
    )


def is_clear(estimator, X, x, weights=None):
    """Whether the end of x is nearer to one label than to all others by more than rounding.

    Two clumps of the same mass draw a point to the middle between them, which is no accident.
    """
    points = np.asarray(X if isinstance(estimator, MeanShift) else estimator.modes_, dtype=float)
    weights = np.ones(len(points)) if weights is None else weights
    h = estimator.bandwidth_
    path, _ = naive.climb(points, weights, x, h, estimator.tol, estimator.max_iter)
    distances = np.sum((estimator.modes_ - path[-1]) ** 2, axis=1)
    return np.ptp(estimator.labels_[distances <= distances.min() + 1e-9 * h * h]) == 0


def assert_predicts(estimator, X, X_new, weights=None):
    """The labels are those of the twin, wherever rounding does not decide."""
    actual = estimator.predict(X_new)
    assert actual.shape == (len(X_new),)
    assert actual.dtype.kind == "i"
    clear = [is_clear(estimator, X, x, weights) for x in X_new]
    assert np.mean(clear) > 0.5
    expected = predict_naively(estimator, X, X_new, weights)
    assert_array_equal(actual[clear], expected[clear])


@pytest.mark.product
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (30, 2), (40, 3), (12, 9)])
@pytest.mark.parametrize("maker", GENERIC)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_equals_the_twin(estimator_class, field_kind, maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator = fit(make(estimator_class, h, algorithm=field_kind), X, w)
    assert_predicts(estimator, X, new_points(X, h), w)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(
    data=generic_data(max_n=25),
    tol=st.sampled_from([1e-4, 0.1]),
    max_iter=st.sampled_from([1, 2, 200]),
    min_cluster_size=st.sampled_from([1, 3, 99]),
)
def test_drawn_data_and_parameters(estimator_class, data, tol, max_iter, min_cluster_size):
    X, h = data
    estimator = fit(
        make(estimator_class, h, tol=tol, max_iter=max_iter, min_cluster_size=min_cluster_size), X
    )
    assert_predicts(estimator, X, new_points(X, h))


@pytest.mark.parametrize("seeding", ["bins", "array"])
def test_with_seeds_too_new_points_climb_over_the_data(seeding):
    X, h = make_data("clustered", 40, 2)
    estimator = fit(make(MeanShift, h, seeding="bins" if seeding == "bins" else X[::6]), X)
    assert_predicts(estimator, X, new_points(X, h))


@given(
    data=generic_data(),
    weights=st.sampled_from([None, "whole", "real"]),
    max_iter=st.sampled_from([1, 3, 200]),
    merge_radius=st.sampled_from([0.0, 0.1, 0.5]),
    min_cluster_size=st.sampled_from([1, 4]),
)
def test_the_training_points_keep_their_labels(
    data, weights, max_iter, merge_radius, min_cluster_size
):
    """Each repeats its own climb, bit for bit, so this holds without a merge as well."""
    X, h = data
    estimator = make(
        MeanShift,
        h,
        max_iter=max_iter,
        merge_radius=merge_radius,
        min_cluster_size=min_cluster_size,
    )
    fit(estimator, X, make_weights(weights, len(X)))
    assert_array_equal(estimator.predict(X), estimator.labels_)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_point_joins_where_it_climbs_and_not_the_nearest_center(estimator_class, field_kind):
    """1.9 is nearer to the cluster at 3 but has only the one at 0 within its bandwidth."""
    X = np.array([[0.0]] * 3 + [[1.0]] * 6 + [[3.0]] * 2)
    estimator = fit(make(estimator_class, 1.05, algorithm=field_kind), X)
    assert_array_equal(estimator.labels_, [0] * 9 + [1] * 2)
    centers = estimator.cluster_centers_.ravel()
    assert abs(1.9 - centers[1]) < abs(1.9 - centers[0])
    x = min(centers[0] + 1.04, 1.9) if estimator_class is not MeanShift else 1.9
    assert_array_equal(estimator.predict([[x]]), [0])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_lonely_points_take_the_nearest_center(estimator_class, field_kind):
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1]])
    estimator = fit(make(estimator_class, 1.0, algorithm=field_kind), X)
    assert_array_equal(estimator.predict([[4.0], [6.0], [-90.0], [1e9]]), [0, 1, 0, 1])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_lonely_point_as_near_to_two_centers_takes_the_first(estimator_class):
    """For many pairs of centres at once."""
    X = 4.0 * np.arange(60.0)[:, np.newaxis]
    estimator = fit(make(estimator_class, 1.0), X)
    assert_array_equal(estimator.labels_, np.arange(60))
    assert_array_equal(estimator.predict(X[:-1] + 2.0), np.arange(59))


def test_an_end_as_near_to_two_modes_takes_the_first():
    """A new point rests midway between two points, which rest where they are."""
    X = np.array([[6.0 * k + side] for k in range(30) for side in (0.0, 2.0)])
    estimator = fit(make(MeanShift, 1.0), X)
    assert_array_equal(estimator.labels_, np.arange(60))
    assert_array_equal(estimator.predict(X[::2] + 1.0), 2 * np.arange(30))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_points_with_only_weightless_ones_near_are_lonely(estimator_class, field_kind):
    X = np.array([[0.0], [5.0], [20.0]])
    estimator = fit(make(estimator_class, 1.0, algorithm=field_kind), X, [2.0, 0.0, 1.0])
    assert_array_equal(estimator.labels_, [0, 2, 1])
    assert_array_equal(estimator.predict([[5.2], [2.3], [2.7], [19.5]]), [2, 0, 2, 1])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_small_clusters_label_new_points_as_noise(estimator_class, field_kind):
    X = np.array([[0.0], [0.1], [0.2], [10.0]])
    estimator = fit(make(estimator_class, 1.0, min_cluster_size=2, algorithm=field_kind), X)
    assert_array_equal(estimator.labels_, [0, 0, 0, -1])
    assert_array_equal(estimator.predict([[0.3], [10.4], [8.0]]), [0, -1, 0])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_without_clusters_all_is_noise(estimator_class, field_kind):
    X = np.array([[0.0], [0.1], [10.0]])
    estimator = fit(make(estimator_class, 1.0, min_cluster_size=3, algorithm=field_kind), X)
    assert estimator.cluster_centers_.shape == (0, 1)
    assert_array_equal(estimator.predict([[0.0], [5.0], [1e6]]), [-1, -1, -1])


@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_float32(estimator_class, d):
    X, h = make_data("clustered", 30, d)
    X = X.astype(np.float32)
    estimator = fit(make(estimator_class, h), X)
    X_new = new_points(X, h).astype(np.float32)
    assert_predicts(estimator, X, X_new)
    assert_array_equal(estimator.predict(X_new.astype(float)), estimator.predict(X_new))
    if estimator_class is MeanShift:
        assert_array_equal(estimator.predict(X), estimator.labels_)


def test_a_pair_of_bandwidths_predicts_with_the_higher_one():
    X = np.array([[0.0], [0.1], [10.0]])
    estimator = StochasticMeanShift(
        bandwidth=(0.5, 6.0), tol=1e-3, merge_radius=0.01, max_iter=99, random_state=0
    )
    fit(estimator, X)
    X_new = np.linspace(-8, 18, 53)[:, np.newaxis]
    assert estimator.bandwidth_ == 6.0
    assert_predicts(estimator, X, X_new)
    midway = fit(make(StochasticMeanShift, (0.5, 6.0), merge_radius=0.01), X).predict([[5.1]])
    assert midway == [0]  # with mass on both sides it climbs; 5.1 is nearer to the centre at 10


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_predict_leaves_the_fit_and_the_data_alone(estimator_class):
    X, h = make_data("clustered", 20, 2)
    estimator = fit(make(estimator_class, h), X)
    before = copy.deepcopy(vars(estimator))
    del before["_index_"]  # built by the first predict
    X_new = new_points(X, h)
    given_points = X_new.copy()
    first = estimator.predict(X_new)
    assert_array_equal(X_new, given_points)
    assert_array_equal(estimator.predict(X_new[::-1]), first[::-1])
    for name, value in before.items():
        np.testing.assert_equal(getattr(estimator, name), value)


def test_later_changes_of_the_data_do_not_reach_the_fit():
    X, h = make_data("clustered", 20, 2)
    estimator = fit(make(MeanShift, h), X)
    X_new = new_points(X, h)
    before = estimator.predict(X_new)
    X[:] = 0.0
    assert_array_equal(estimator.predict(X_new), before)
