"""New points: the nearest fitted points vote, and the density is that of the kernel."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier

from helpers import GENERIC, WEIGHTS, fit, generic_data, make_data, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from twins import naive
from twins.compare import assert_keeps_labels

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


def assert_predicts(estimator, X, X_new, weights=None):
    """The labels are those of the twin, wherever rounding does not decide."""
    actual = estimator.predict(X_new)
    assert actual.shape == (len(X_new),)
    assert actual.dtype.kind == "i"
    expected, clear = naive.predict(np.asarray(X, float), weights, estimator.labels_, X_new)
    assert np.mean(clear) > 0.2
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


@pytest.mark.parametrize("weights", [None, "whole", "real", "zeros"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(
    data=generic_data(),
    max_iter=st.sampled_from([1, 3, 200]),
    merge_radius=st.sampled_from([0.0, 0.1, 0.5]),
    min_cluster_size=st.sampled_from([1, 4]),
    strays=st.sampled_from(["noise", "nearest"]),
    resolution=st.sampled_from([None, 2.0]),
)
def test_the_fitted_points_keep_their_labels(
    estimator_class, data, weights, max_iter, merge_radius, min_cluster_size, strays, resolution
):
    X, h = data
    estimator = make(
        estimator_class,
        h,
        max_iter=max_iter,
        merge_radius=merge_radius,
        min_cluster_size=min_cluster_size,
        strays=strays,
        resolution=resolution,
    )
    fit(estimator, X, make_weights(weights, len(X)))
    assert_keeps_labels(estimator, X)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_new_draws_do_as_well_as_five_nearest_neighbours(estimator_class, number):
    """Before, a stray owned the whole ball around it: 62% agreed on Set 2."""
    X, _ = make_paper_set(number, random_state=1)
    X_new, truth = make_paper_set(number, random_state=2)
    estimator = make(estimator_class, 0.85, merge_radius=0.25)
    labels = fit(estimator, X).labels_
    assert_array_equal(estimator.predict(X), labels)
    five = KNeighborsClassifier(5).fit(X, labels).predict(X_new)
    ours = adjusted_rand_score(truth, estimator.predict(X_new))
    assert ours >= adjusted_rand_score(truth, five) - 0.02


@pytest.mark.parametrize("seeding", ["bins", "array", 7])
def test_with_seeds_too(seeding):
    X, h = make_data("clustered", 40, 2)
    seeding = X[::6] if seeding == "array" else seeding
    estimator = fit(make(MeanShift, h, seeding=seeding, random_state=0), X)
    assert_predicts(estimator, X, new_points(X, h))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_near_points_have_more_votes(estimator_class):
    """Three points of one cluster are nearer, and seven of the other together weigh less."""
    X = np.array([[0.0]] * 3 + [[10.0]] * 7)
    estimator = fit(make(estimator_class, 1.0), X)
    assert_array_equal(estimator.labels_, [1] * 3 + [0] * 7)
    assert_array_equal(estimator.predict([[2.9], [3.1], [-99.0]]), [1, 0, 0])
    shares = estimator.membership([[2.9], [0.0], [10.0]])
    by_hand = 7 / 7.1 / (7 / 7.1 + 3 / 2.9)
    assert_allclose(shares, [[by_hand, 1 - by_hand], [0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_weights_are_votes(estimator_class):
    X = np.array([[0.0], [10.0]])
    estimator = fit(make(estimator_class, 1.0), X, [1.0, 3.0])
    assert_array_equal(estimator.labels_, [1, 0])
    assert_array_equal(estimator.predict([[2.4], [2.6]]), [1, 0])
    weightless = fit(make(estimator_class, 1.0), [[0.0], [5.0], [20.0]], [2.0, 0.0, 1.0])
    assert_array_equal(weightless.labels_, [0, 2, 1])
    assert_array_equal(weightless.predict([[5.0], [5.2], [19.0]]), [2, 0, 1])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_outliers(estimator_class):
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1]])
    estimator = fit(make(estimator_class, 1.0), X)
    X_new = [[1.19], [1.21], [-90.0], [10.9], [1e200]]
    assert_array_equal(estimator.predict(X_new), [0, 0, 0, 1, 0])
    assert_array_equal(estimator.predict(X_new, outliers=-1), [0, -1, -1, 1, -1])
    for wrong in ("far", True, None, 0):
        with pytest.raises(ValueError, match="outliers must be 'nearest' or -1, got"):
            estimator.predict(X_new, outliers=wrong)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_small_clusters_label_new_points_as_noise(estimator_class):
    X = np.array([[0.0], [0.1], [0.2], [10.0]])
    estimator = fit(make(estimator_class, 1.0, min_cluster_size=2), X)
    assert_array_equal(estimator.labels_, [0, 0, 0, -1])
    assert_array_equal(estimator.predict([[0.3], [10.4], [4.0]]), [0, -1, 0])
    assert_allclose(estimator.membership([[10.0], [0.0]]), [[0.0], [1.0]])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_without_clusters_all_is_noise(estimator_class):
    X = np.array([[0.0], [0.1], [10.0]])
    estimator = fit(make(estimator_class, 1.0, min_cluster_size=3), X)
    assert estimator.cluster_centers_.shape == (0, 1)
    assert_array_equal(estimator.predict([[0.0], [5.0], [1e6]]), [-1, -1, -1])
    assert estimator.membership([[0.0], [5.0]]).shape == (2, 0)


@pytest.mark.parametrize("weights", [None, "real", "zeros"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (30, 2), (12, 9)])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_memberships_equal_the_twin(estimator_class, n, d, weights):
    X, h = make_data("clustered", n, d)
    w = make_weights(weights, n)
    estimator = fit(make(estimator_class, h / 2, min_cluster_size=2), X, w)
    X_new = new_points(X, h)
    shares = estimator.membership(X_new)
    for x, row in zip(X_new, shares, strict=True):
        expected = naive.votes(X, w, estimator.labels_, x)
        assert_allclose(row, [expected.get(k, 0.0) for k in range(len(row))], atol=1e-9)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
@pytest.mark.parametrize("scale", [None, (2.0, 0.5, 1.0)])
def test_the_density_is_that_of_the_kernel(estimator_class, kernel, scale):
    X, h = make_data("clustered", 40, 3)
    w = make_weights("real", 40)
    estimator = fit(make(estimator_class, h, kernel=kernel, feature_scale=scale), X, w)
    X_new = new_points(X, h)
    lengths = np.ones(3) if scale is None else np.array(scale)
    squares = np.sum(((X_new[:, None] - X) / lengths) ** 2, axis=2)
    if kernel == "flat":
        masses, volume = (squares <= h * h) @ w, 4 / 3 * np.pi * h**3
    else:
        masses = np.where(squares <= 36 * h * h, np.exp(-squares / (2 * h * h)), 0.0) @ w
        volume = (2 * np.pi) ** 1.5 * h**3
    with np.errstate(divide="ignore"):
        expected = np.log(masses / w.sum() / volume / lengths.prod())
    assert_allclose(estimator.score_samples(X_new), expected, rtol=1e-9)


def test_the_density_of_nearest_neighbours_is_that_of_all():
    X, h = make_data("clustered", 40, 2)
    all_points = fit(make(MeanShift, h), X).score_samples(X)
    assert_allclose(fit(make(MeanShift, h, n_neighbors=3), X).score_samples(X), all_points)
    unbounded = fit(make(MeanShift, np.inf, n_neighbors=5), X)
    expected = fit(make(MeanShift, unbounded.scale_), X).score_samples(X)
    assert_allclose(unbounded.score_samples(X), expected)


def test_the_density_of_blobs_integrates_to_one():
    X, h = make_data("clustered", 40, 1)
    grid = np.linspace(X.min() - 2 * h, X.max() + 2 * h, 20_001)[:, np.newaxis]
    for kernel in ("flat", "gaussian"):
        density = np.exp(fit(make(MeanShift, h / 3, kernel=kernel), X).score_samples(grid))
        assert np.trapezoid(density, grid[:, 0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_float32(estimator_class, d):
    X, h = make_data("clustered", 30, d)
    X = X.astype(np.float32)
    estimator = fit(make(estimator_class, h), X)
    X_new = new_points(X, h).astype(np.float32)
    assert_predicts(estimator, X, X_new)
    assert_array_equal(estimator.predict(X_new.astype(float)), estimator.predict(X_new))
    assert_array_equal(estimator.predict(X), estimator.labels_)


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
