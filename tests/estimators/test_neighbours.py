"""Neighbourhoods of the k nearest points within the bandwidth, which may be infinite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, generic_data, make_data, make_weights, tolerance
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from twins.compare import (
    ESTIMATORS,
    check_predictions,
    fit_and_compare,
    make,
    make_directions,
    new_points,
    run_twin,
)
from twins.rules import PLAIN, scale_of_nearest

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
NO_OFFSET = ("clustered", "uniform", "duplicates")
FEW = settings(max_examples=15 if JIT else 5)


def bandwidth_of(h, infinite):
    return np.inf if infinite else h


@pytest.mark.product
@pytest.mark.parametrize("infinite", [False, True], ids=["radius", "inf"])
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(1, 1, 3), (12, 1, 4), (40, 2, 5), (30, 9, 7), (20, 40, 3)]
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_equals_the_twin(estimator_class, field_kind, n, d, k, weights, infinite):
    X, h = make_data("clustered", n, d)
    w = make_weights(weights, n)
    h = bandwidth_of(1.5 * h, infinite)
    estimator = make(estimator_class, h, seed=n, n_neighbors=k, algorithm=field_kind, max_iter=40)
    twin = fit_and_compare(estimator, X, w)
    assert estimator.bandwidth_ == h
    check_predictions(estimator, twin, X, new_points(X, 1.0), w)


@pytest.mark.parametrize("maker", ["duplicates", "offset"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_other_data_equal_the_twin(estimator_class, field_kind, maker):
    X, h = make_data(maker, 40, 2)
    estimator = make(estimator_class, 2 * h, n_neighbors=6, algorithm=field_kind, max_iter=40)
    fit_and_compare(estimator, X, make_weights("real", 40))


@pytest.mark.product
@pytest.mark.jit
@pytest.mark.parametrize("infinite", [False, True], ids=["radius", "inf"])
@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_many_points_equal_the_twin(estimator_class, field_kind, d, infinite):
    """More than a leaf holds, and many at the same place after some sweeps."""
    X, h = make_data("clustered", 200, d)
    h = bandwidth_of(h, infinite)
    estimator = make(
        estimator_class, h, n_neighbors=8, algorithm=field_kind, max_iter=4, n_jobs=2, tol=0.01
    )
    fit_and_compare(estimator, X, make_weights("zeros", 200))


@pytest.mark.product
@pytest.mark.parametrize("infinite", [False, True], ids=["radius", "inf"])
@pytest.mark.parametrize(("n", "d"), [(1, 2), (9, 2), (40, 9), (30, 40)])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_on_the_sphere_it_equals_the_twin(estimator_class, field_kind, n, d, infinite):
    X, h = make_directions(n, d)
    h = bandwidth_of(min(2 * h, 2.0), infinite)
    estimator = make(
        estimator_class, h, n_neighbors=5, metric="cosine", algorithm=field_kind, max_iter=40
    )
    twin = fit_and_compare(estimator, X)
    check_predictions(estimator, twin, X, make_directions(15, d, seed=1)[0])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_gaussian_of_the_nearest_equals_the_twin(estimator_class, field_kind):
    X, h = make_data("clustered", 40, 2)
    w = make_weights("real", 40)
    estimator = make(
        estimator_class, h / 2, n_neighbors=7, kernel="gaussian", algorithm=field_kind, max_iter=40
    )
    fit_and_compare(estimator, X, w, atol=1e-8 * h + tolerance(X, h))


def test_a_pair_of_bandwidths_equals_the_twin(field_kind):
    X, h = make_data("clustered", 40, 2)
    fit_and_compare(make(StochasticMeanShift, (h / 2, h), n_neighbors=4, algorithm=field_kind), X)


# ----------------------------------------------------------------- ties


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "whole", "zeros"])
@pytest.mark.parametrize(("n", "d"), [(15, 1), (40, 2), (40, 9)])
@pytest.mark.parametrize("h", [2.0, np.inf])
@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
def test_first_step_on_a_lattice(estimator_class, field_kind, n, d, h, weights):
    """Nearly every neighbourhood is cut among equals: the lower index counts."""
    X, _ = make_data("lattice", n, d)
    w = make_weights(weights, n)
    for k in (1, 2, 3, 8):
        estimator = fit(
            make(estimator_class, h, n_neighbors=k, max_iter=1, algorithm=field_kind), X, w
        )
        assert_allclose(estimator.modes_, run_twin(estimator, X, w).modes, atol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 99])
def test_stochastic_steps_on_a_lattice(field_kind, batch_size):
    """Far more points than steps: those that are asked about have not moved."""
    X = np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    X = np.random.default_rng(0).permutation(X)
    estimator = make(
        StochasticMeanShift,
        1.5,
        n_neighbors=1,
        max_iter=2,
        algorithm=field_kind,
        batch_size=batch_size,
    )
    fit_and_compare(estimator, X)
    assert_array_equal(estimator.modes_, X)


@pytest.mark.parametrize(
    ("estimator_class", "parameters"),
    [(MeanShift, {}), (BlurringMeanShift, {}), (StochasticMeanShift, {"batch_size": 9})],
)
def test_ties_are_cut_within_places_where_points_coincide(field_kind, estimator_class, parameters):
    """Of 0, 2, 2, 0 around 1 the first two count, and they are at different places.

    Whoever treats points at one place as one point must not take both of them for the first.
    """
    X = np.array([[0.0], [2.0], [2.0], [0.0], [1.0]])
    estimator = make(
        estimator_class,
        np.inf,
        n_neighbors=3,
        max_iter=1,
        tol=1e-3,
        algorithm=field_kind,
        **parameters,
    )
    fit(estimator, X)
    assert_allclose(estimator.paths_[4][1], [1.0], atol=1e-12)
    weighted = fit(estimator, X[[0, 1, 4]], [1.0, 2.0, 1.0])
    assert_allclose(weighted.paths_[2][1], [1.0], atol=1e-12)  # 1, then 0, then half of the 2s
    weighted = fit(estimator, X[[0, 1, 4]], [2.0, 2.0, 1.0])
    assert_allclose(weighted.paths_[2][1], [1 / 3], atol=1e-12)  # 1 and both of the 0s


# -------------------------------------------------------------- extremes


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_one_neighbour_is_oneself(estimator_class, field_kind):
    """Nobody moves, even where the median distance to the first neighbour, the scale, is 0."""
    X, _ = make_data("uniform", 12, 2)
    for h in (1.0, np.inf):
        estimator = fit(make(estimator_class, h, n_neighbors=1, algorithm=field_kind), X)
        assert_array_equal(estimator.modes_, X)
    assert_array_equal(estimator.labels_, np.arange(12))
    assert_array_equal(estimator.predict(X), np.arange(12))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(
    data=generic_data(max_n=25, dimensions=DIMENSIONS),
    seed=SEEDS,
    kind=st.sampled_from([None, "real", "zeros"]),
)
def test_enough_neighbours_are_the_plain_ball(estimator_class, data, seed, kind):
    X, h = data
    weights = make_weights(kind, len(X), seed)
    k = len(X) if weights is None else int(np.ceil(weights.sum()))
    ball, nearest = (
        fit(make(estimator_class, h, seed, n_neighbors=n, max_iter=30), X, weights)
        for n in (None, k)
    )
    assert_array_equal(ball.labels_, nearest.labels_)
    assert ball.n_steps_ == nearest.n_steps_
    assert_allclose(ball.modes_, nearest.modes_, rtol=0, atol=tolerance(X, h))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_enough_neighbours_in_all_of_space_lead_to_the_mean(estimator_class, field_kind):
    X, _ = make_data("clustered", 20, 9)
    estimator = fit(make(estimator_class, np.inf, n_neighbors=99, algorithm=field_kind), X)
    assert_array_equal(estimator.labels_, np.zeros(20))
    if estimator_class is not StochasticMeanShift:
        assert_allclose(estimator.modes_, np.tile(X.mean(axis=0), (20, 1)), atol=1e-9)


def test_weights_count_in_their_own_unit(field_kind):
    """Heavy points fill a neighbourhood alone, light ones never do."""
    X = np.array([[0.0], [0.4], [1.0], [5.0]])
    fits = {
        w: fit(
            make(MeanShift, 2.0, n_neighbors=3, max_iter=1, algorithm=field_kind), X, np.full(4, w)
        )
        for w in (1e300, 3.0, 1.0, 1e-300)
    }
    for w in (1e300, 3.0):
        assert_array_equal(fits[w].modes_, X)
    for w in (1.0, 1e-300):
        assert_allclose(fits[w].modes_.ravel(), [1.4 / 3] * 3 + [5.0], rtol=1e-12)


# ----------------------------------------------------------- the scale


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize(("n", "d", "k"), [(15, 1, 2), (30, 9, 5), (12, 2, 40)])
def test_scale_of_an_infinite_bandwidth(estimator_class, n, d, k):
    X, _ = make_data("clustered", n, d)
    estimator = fit(make(estimator_class, np.inf, n_neighbors=k), X)
    assert estimator.bandwidth_ == np.inf
    assert_allclose(estimator.scale_, scale_of_nearest(X, k), rtol=1e-12)
    finite = fit(make(estimator_class, 1.5, n_neighbors=k), X)
    assert finite.scale_ == finite.bandwidth_ == 1.5


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_scale_counts_whole_weights_as_repeated_points(estimator_class):
    X, _ = make_data("clustered", 21, 2)
    times = np.random.default_rng(0).integers(0, 4, 21)
    estimator = fit(make(estimator_class, np.inf, n_neighbors=5), X, times)
    expected = scale_of_nearest(X, 5, times=times)
    assert expected != scale_of_nearest(X, 5)
    assert_allclose(estimator.scale_, expected, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 10])
def test_scale_follows_the_data_where_the_nearest_points_coincide(k):
    """It was 1.0, whatever the unit of the data, so another unit gave other labels."""
    X = np.repeat([[0.0], [1.0], [3.0]], 12, axis=0)
    for unit in (1.0, 2.0**-60, 2.0**60):
        model = MeanShift(bandwidth=np.inf, n_neighbors=k).fit(unit * X)
        assert model.scale_ == unit
        assert_array_equal(model.labels_, np.repeat([0, 1, 2], 12))


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 9], ids=["one", "nine"])
def test_there_is_a_scale_where_all_points_coincide(X):
    estimator = fit(make(BlurringMeanShift, np.inf, n_neighbors=4), np.array(X))
    assert 0 <= estimator.scale_ < np.inf
    assert_array_equal(estimator.labels_, np.zeros(len(X)))


def test_scale_on_the_sphere_is_a_chord():
    X, _ = make_directions(30, 9)
    estimator = fit(make(MeanShift, np.inf, n_neighbors=4, metric="cosine"), X)
    expected = scale_of_nearest(X, 4, PLAIN._replace(sphere=True))
    assert_allclose(estimator.scale_, expected, rtol=1e-12)


@pytest.mark.jit
def test_scale_of_many_points_is_sampled():
    """As of a sample, so about right, and the same each time."""
    X, _ = make_data("clustered", 1500, 2)
    first, again = (
        fit(make(BlurringMeanShift, np.inf, n_neighbors=5, max_iter=1), X) for _ in range(2)
    )
    assert first.scale_ == again.scale_
    assert_allclose(first.scale_, scale_of_nearest(X, 5), rtol=0.15)


# ----------------------------------------------------------- invariants


@pytest.mark.parametrize("infinite", [False, True], ids=["radius", "inf"])
@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
@FEW
@given(
    data=generic_data(max_n=15, dimensions=DIMENSIONS, makers=("clustered", "uniform")), seed=SEEDS
)
def test_whole_weights_equal_repeated_points(estimator_class, infinite, data, seed):
    """Step by step; the length of a run depends on the scale, hence a fixed number of steps."""
    X, h = data
    times = np.random.default_rng(seed).integers(1, 4, len(X))
    settings = {"n_neighbors": 4, "max_iter": 3, "tol": 0.0}
    h = bandwidth_of(2 * h, infinite)
    weighted = fit(make(estimator_class, h, **settings), X, times)
    repeated = fit(make(estimator_class, h, **settings), np.repeat(X, times, axis=0))
    assert_allclose(
        np.repeat(weighted.modes_, times, axis=0), repeated.modes_, rtol=0, atol=tolerance(X, 1.0)
    )


@pytest.mark.parametrize("infinite", [False, True], ids=["radius", "inf"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(
    data=generic_data(max_n=25, dimensions=DIMENSIONS, makers=("clustered", "uniform")),
    seed=SEEDS,
    exponent=st.sampled_from([-40, 3]),
)
def test_moved_turned_and_scaled(estimator_class, infinite, data, seed, exponent):
    X, h = data
    rng = np.random.default_rng(seed)
    d, factor = X.shape[1], 2.0**exponent
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    shift = rng.uniform(-100, 100, d)
    settings = {"n_neighbors": 5, "max_iter": 15}
    here, there = (
        fit(make(estimator_class, bandwidth_of(f * h, infinite), seed, **settings), Z)
        for f, Z in ((1.0, X), (factor, factor * (X @ turn + shift)))
    )
    assert_array_equal(here.labels_, there.labels_)
    back = (there.modes_ / factor - shift) @ turn.T
    assert_allclose(back, here.modes_, rtol=0, atol=1e-8 * h + tolerance(X, h))


@FEW
@given(
    data=generic_data(max_n=25, dimensions=DIMENSIONS, makers=NO_OFFSET),
    seed=SEEDS,
    k=st.integers(1, 9),
)
def test_nobody_leaves_the_box_of_the_data(data, seed, k):
    X, _ = data
    for estimator_class in ESTIMATORS:
        estimator = fit(make(estimator_class, np.inf, seed, n_neighbors=k, max_iter=9), X)
        visited = np.concatenate([*estimator.paths_, estimator.cluster_centers_])
        assert np.all(visited <= X.max(axis=0) + 1e-9)
        assert np.all(visited >= X.min(axis=0) - 1e-9)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_threads_change_no_bit(estimator_class, field_kind):
    X, _ = make_data("clustered", 60, 2)
    one, two = (
        fit(make(estimator_class, np.inf, n_neighbors=5, n_jobs=k, algorithm=field_kind), X)
        for k in (1, 2)
    )
    assert_array_equal(one.modes_, two.modes_)
    assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_float32(estimator_class):
    X, h = make_data("clustered", 30, 9)
    X = X.astype(np.float32)
    estimator = make(estimator_class, h, n_neighbors=5)
    fit_and_compare(estimator, X, atol=1e-6 * abs(X).max())
    assert estimator.modes_.dtype == np.float32
