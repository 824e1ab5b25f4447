"""MeanShift with fewer climbers than points: who climbs, and whom the others follow."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from helpers import (
    ALL_MAKERS,
    SHAPES,
    WEIGHTS,
    assert_close,
    assert_same_paths,
    fit,
    generic_data,
    make_data,
    make_weights,
)
from modeshift import MeanShift
from twins import naive

COMMON = {"tol": 1e-3, "merge_radius": 0.2, "max_iter": 200, "record": True}


def fit_seeded(X, h, seeding, weights=None, **parameters):
    parameters = {**COMMON, **parameters}
    return fit(MeanShift(bandwidth=h, seeding=seeding, **parameters), X, weights)


def starts(estimator):
    return np.array([path[0] for path in estimator.paths_])


def assert_same_fit(estimator, X, h, seeds, weights=None):
    """The estimator went where the twin goes from these seeds."""
    twin = naive.mean_shift(
        X, h=h, tol=estimator.tol, max_iter=estimator.max_iter, weights=weights, seeds=seeds
    )
    counts = (estimator.n_iter_, estimator.n_steps_, estimator.converged_)
    assert counts == (twin.n_iter, twin.n_steps, twin.converged)
    assert_same_paths(estimator.paths_, twin.paths, X, h)
    assert_close(estimator.modes_, twin.modes, X, h)
    labels = naive.label(naive.merge(twin.modes, estimator.merge_radius * h), weights)
    assert_array_equal(estimator.labels_, labels)
    assert_close(estimator.cluster_centers_, naive.centers(twin.modes, labels, weights), X, h)


@pytest.mark.product
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("maker", ALL_MAKERS)
def test_one_climber_a_cell(maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator = fit_seeded(X, h, "bins", w)
    assert_array_equal(starts(estimator), naive.bin_seeds(X, h, w))


@pytest.mark.product
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("maker", ["clustered", "uniform", "offset"])
def test_bins_equal_the_twin(field_kind, maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator = fit_seeded(X, h, "bins", w, algorithm=field_kind)
    assert_same_fit(estimator, X, h, naive.bin_seeds(X, h, w), w)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("n_seeds", [1, 4, 30])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (30, 2), (25, 5), (12, 9)])
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "offset"])
def test_array_equals_the_twin(field_kind, maker, n, d, n_seeds, weights):
    """The seeds are anywhere, so some of them are lonely; one at least is not."""
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    rng = np.random.default_rng(n_seeds)
    seeds = rng.uniform(X.min(axis=0) - h, X.max(axis=0) + h, (n_seeds, d))
    seeds[n_seeds // 2] = X[0 if w is None else np.argmax(w)] + 0.1 * h
    estimator = fit_seeded(X, h, seeds, w, algorithm=field_kind)
    assert_same_fit(estimator, X, h, seeds, w)


def all_follow_clearly(X, h, paths):
    """Whether the climbs that pass nearest to a point, up to rounding, all end in one place.

    Climbs meet in a mean of the same neighbours. Cut short, they end in different places.
    """
    ends = np.array([path[-1] for path in paths])
    for x in X:
        distances = np.array([np.min(np.sum((path - x) ** 2, axis=1)) for path in paths])
        nearest = ends[distances <= distances.min() + 1e-9 * h * h]
        if np.ptp(nearest, axis=0).max() > 1e-9 * h:
            return False
    return True


@given(
    data=generic_data(makers=("clustered", "uniform")),
    tol=st.sampled_from([1e-4, 0.05]),
    max_iter=st.sampled_from([1, 3, 200]),
)
def test_drawn_data_and_parameters(data, tol, max_iter):
    X, h = data
    estimator = fit_seeded(X, h, "bins", tol=tol, max_iter=max_iter)
    assume(all_follow_clearly(X, h, estimator.paths_))
    assert_same_fit(estimator, X, h, naive.bin_seeds(X, h))


def test_every_point_as_its_own_seed_is_no_seeding():
    """Each point lies on the start of its own climb."""
    X, h = make_data("clustered", 40, 2)
    seeded, plain = fit_seeded(X, h, X), fit_seeded(X, h, None)
    assert_array_equal(seeded.modes_, plain.modes_)
    assert_array_equal(seeded.labels_, plain.labels_)
    assert_same_paths(seeded.paths_, plain.paths_, X, h)


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([0.0, 0.4, 0.9], None, [0.4]),  # the mean is 0.433
        ([0.0, 0.4, 0.9], [9, 1, 1], [0.0]),  # and with these weights 0.118
        ([0.9, 0.0, 0.5], [1, 1, 0], [0.9]),  # only heavy points climb; a tie: the lowest index
        ([0.7, 0.1], None, [0.7]),
        ([0.1, 0.7], None, [0.1]),
        ([5.2, 0.0, 1.0, 5.9], None, [5.2, 0.0, 1.0]),  # cells [0, 1), [1, 2), [5, 6); by index
        ([3.0, 7.0, 7.5, 7.9], [1, 0, 0, 1], [3.0, 7.9]),
        ([-0.5, 0.4, 0.6], None, [-0.5, 0.6]),  # anchored at the minimum, not at 0
    ],
)
def test_bins_by_hand(values, weights, expected):
    X = np.array(values)[:, np.newaxis]
    estimator = fit_seeded(X, 1.0, "bins", weights)
    assert_array_equal(starts(estimator).ravel(), expected)
    assert_array_equal(naive.bin_seeds(X, 1.0, weights).ravel(), expected)


def test_bins_are_anchored_at_the_minimum_of_all_points():
    """Weightless ones count for the anchor: the cells are [0, 1) and [1, 2), not [0.5, 1.5)."""
    X = np.array([[0.0], [0.5], [1.2]])
    estimator = fit_seeded(X, 1.0, "bins", [0.0, 1.0, 1.0])
    assert_array_equal(starts(estimator).ravel(), [0.5, 1.2])


def test_a_cell_of_weightless_points_sends_nobody():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    estimator = fit_seeded(X, 1.0, "bins", [1.0, 1.0, 0.0, 0.0])
    assert_array_equal(starts(estimator), [[0.0]])
    assert_array_equal(estimator.labels_, [0, 0, 0, 0])


def test_lonely_seeds_are_dropped():
    """They leave no trace: no path, no step, no end to follow, however near they are to a point."""
    X = np.array([[0.0], [0.5], [3.0]])
    weights = np.array([1.0, 1.0, 0.0])
    with_lonely = fit_seeded(X, 1.0, [[3.1], [0.0], [50.0]], weights)
    without = fit_seeded(X, 1.0, [[0.0]], weights)
    assert_array_equal(with_lonely.modes_, np.full((3, 1), 0.25))
    assert_array_equal(with_lonely.labels_, [0, 0, 0])
    assert (with_lonely.n_iter_, with_lonely.n_steps_) == (without.n_iter_, without.n_steps_)
    assert_same_paths(with_lonely.paths_, without.paths_, X, 1.0)


@pytest.mark.parametrize(
    ("seeds", "weights"), [([[5.0], [-3.0]], None), ([[5.0], [1.4]], [1.0, 0.0])]
)
def test_lonely_seeds_alone_are_an_error(seeds, weights):
    X = np.array([[0.0], [1.0]])
    with pytest.raises(ValueError, match="seeding"):
        MeanShift(bandwidth=1.0, seeding=seeds, **COMMON).fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="no seed"):
        naive.mean_shift(X, h=1.0, tol=1e-3, weights=weights, seeds=seeds)


def test_a_climb_that_nobody_follows_forms_no_cluster():
    """The climb from 1 rests between two points that each follow a climb of their own."""
    X = np.array([[0.0], [2.0]])
    estimator = fit_seeded(X, 1.0, [[0.0], [1.0], [2.0]])
    assert [path[-1, 0] for path in estimator.paths_] == [0.0, 1.0, 2.0]
    assert_array_equal(estimator.cluster_centers_, X)
    assert_array_equal(estimator.labels_, [0, 1])


@pytest.fixture
def ridge():
    """A ridge along the first axis that rises to the right, a hill beside its foot, and a stray.

    The top of the hill is nearer to the stray than that of the ridge; the ridge's foot is nearest.
    """
    foot_to_top = np.column_stack([np.arange(11.0), np.zeros(11)])
    hill, stray = [0.0, 3.4], [0.3, 1.6]
    X = np.vstack([foot_to_top, hill, stray])
    weights = np.append(4.0 ** np.arange(11), [1.0, 0.0])
    return X, weights, np.array([foot_to_top[0], hill])


def test_a_point_follows_the_climb_that_passes_nearest(field_kind, ridge):
    X, weights, seeds = ridge
    estimator = fit_seeded(X, 1.5, seeds, weights, algorithm=field_kind)
    assert_same_fit(estimator, X, 1.5, seeds, weights)
    top, hill = estimator.cluster_centers_
    assert top[0] > 9.5
    assert np.linalg.norm(X[-1] - hill) < np.linalg.norm(X[-1] - top)  # the nearest centre, but
    assert estimator.labels_[-1] == 0
    assert_array_equal(estimator.modes_[-1], estimator.modes_[0])
    assert_array_equal(estimator.labels_, [0] * 11 + [1, 0])


@pytest.mark.parametrize("visit", range(5))
def test_start_steps_and_end_all_count_as_passing(ridge, visit):
    """A rival rests above one position of the climb; two onlookers stand in the middle, almost."""
    X, weights, seeds = ridge
    place = fit_seeded(X, 1.5, seeds[:1], weights, max_iter=4).paths_[0][visit]
    above = place + np.outer([1.28, 1.32, 2.6], [0.0, 1.0])
    points, weights = np.vstack([X, above]), np.append(weights, [0.0, 0.0, 1.0])
    estimator = fit_seeded(points, 1.5, [seeds[0], above[2]], weights, max_iter=4)
    path, rival = estimator.paths_
    assert_array_equal(path[visit], place)
    others = np.delete(path, visit, axis=0)
    assert np.linalg.norm(others - above[0], axis=1).min() > 1.32  # so this position decides
    assert_array_equal(estimator.modes_[-3:], [path[-1], rival[-1], rival[-1]])


@pytest.mark.parametrize("first", [0, 1])
def test_a_point_as_near_to_two_climbs_follows_the_first(first):
    """Between two resting climbs, for many points at once."""
    resting = 4.0 * np.arange(40.0)
    X = np.append(resting, resting[:-1] + 2.0)[:, np.newaxis]
    weights = np.append(np.ones(40), np.zeros(39))
    seeds = resting[:, np.newaxis] if first == 0 else resting[::-1, np.newaxis]
    estimator = fit_seeded(X, 1.0, seeds, weights)
    assert_array_equal(estimator.modes_[40:, 0], resting[:-1] if first == 0 else resting[1:])


def test_seeds_need_not_be_points():
    X, h = make_data("clustered", 30, 2)
    seeds = X[:10] + 0.3 * h
    estimator = fit_seeded(X, h, seeds)
    assert_array_equal(starts(estimator), seeds)
    assert_same_fit(estimator, X, h, seeds)


def test_the_given_array_is_left_alone():
    X, h = make_data("clustered", 20, 2)
    seeds = X[:5].copy()
    estimator = fit_seeded(X, h, seeds)
    assert estimator.seeding is seeds
    assert_array_equal(seeds, X[:5])


def test_float32_with_bins():
    X, h = make_data("clustered", 40, 2)
    X = X.astype(np.float32)
    single, double = fit_seeded(X, h, "bins"), fit_seeded(X.astype(float), h, "bins")
    assert single.modes_.dtype == single.paths_[0].dtype == np.float32
    assert_array_equal(single.labels_, double.labels_)


@pytest.mark.parametrize(
    ("seeding", "message"),
    [
        ("grid", "seeding must be .*got 'grid'"),
        ([[1.0, 2.0, 3.0]], "seeding must have the same number of columns as X"),
        ([[np.nan, 2.0]], "seeding contains NaN"),
        (np.empty((0, 2)), "0 sample"),
    ],
)
def test_errors_name_the_parameter(seeding, message):
    X, h = make_data("clustered", 10, 2)
    with pytest.raises(ValueError, match=message):
        MeanShift(bandwidth=h, seeding=seeding, **COMMON).fit(X)
