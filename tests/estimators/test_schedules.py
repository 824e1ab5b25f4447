"""The three estimators go step for step where their naive twins go, on every field."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from helpers import (
    GENERIC,
    JIT,
    SHAPES,
    WEIGHTS,
    assert_close,
    assert_same_paths,
    fit,
    generic_data,
    make_data,
    make_weights,
)
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from twins import naive

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
COMMON = {"tol": 1e-3, "merge_radius": 0.25, "max_iter": 200}


def fit_both(estimator_class, X, h, *, weights=None, algorithm="auto", **parameters):
    """Fit with paths; returns the estimator and the result of its twin."""
    parameters = {**COMMON, **parameters}
    estimator = estimator_class(bandwidth=h, algorithm=algorithm, record=True, **parameters)
    fit(estimator, X, weights)
    del parameters["merge_radius"]
    parameters.pop("min_cluster_size", None)
    twin = {
        MeanShift: naive.mean_shift,
        StochasticMeanShift: naive.stochastic_mean_shift,
        BlurringMeanShift: naive.blurring_mean_shift,
    }[estimator_class]
    return estimator, twin(X, h=h, weights=weights, **parameters)


def assert_same_fit(estimator, twin, X, weights=None):
    h = estimator.bandwidth_
    counts = (estimator.n_iter_, estimator.n_steps_, estimator.converged_)
    assert counts == (twin.n_iter, twin.n_steps, twin.converged)
    assert [type(count) for count in counts] == [int, int, bool]
    assert_close(estimator.modes_, twin.modes, X, h)
    components = naive.merge(twin.modes, estimator.merge_radius * h)
    labels = naive.label(components, weights, estimator.min_cluster_size or 1)
    assert_array_equal(estimator.labels_, labels)
    assert_close(estimator.cluster_centers_, naive.centers(twin.modes, labels, weights), X, h)
    assert_same_paths(estimator.paths_, twin.paths, X, h)
    assert sum(len(path) - 1 for path in estimator.paths_) == estimator.n_steps_
    assert_array_equal([path[0] for path in estimator.paths_], X)
    assert_close([path[-1] for path in estimator.paths_], estimator.modes_, X, h)


def seeded(estimator_class, seed):
    return {"random_state": seed} if estimator_class is StochasticMeanShift else {}


@pytest.mark.product(3)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("maker", GENERIC)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_equals_the_twin(estimator_class, field_kind, maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator, twin = fit_both(
        estimator_class, X, h, weights=w, algorithm=field_kind, **seeded(estimator_class, n)
    )
    assert_same_fit(estimator, twin, X, w)


@pytest.mark.product(3)
@pytest.mark.jit
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("maker", GENERIC)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_many_points_equal_the_twin(estimator_class, field_kind, maker, d):
    """Enough points for an index of several levels, which crowd in a few places."""
    X, h = make_data(maker, 400, d)
    w = make_weights("zeros", 400)
    estimator, twin = fit_both(
        estimator_class,
        X,
        h,
        weights=w,
        tol=0.01,
        algorithm=field_kind,
        **seeded(estimator_class, d),
    )
    assert_same_fit(estimator, twin, X, w)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@given(
    data=generic_data(makers=("clustered", "uniform", "duplicates")),
    tol=st.sampled_from([1e-6, 1e-3, 0.07, 0.4]),
    max_iter=st.sampled_from([1, 2, 5, 200]),
    merge_radius=st.sampled_from([1e-7, 0.01, 0.3, 1.1]),  # at 0 the last digit would decide
    min_cluster_size=st.sampled_from([1, 2, 5]),
    weights=st.sampled_from(WEIGHTS),
    seed=st.integers(0, 2**32 - 1),
)
def test_equals_the_twin_with_drawn_parameters(
    estimator_class, data, tol, max_iter, merge_radius, min_cluster_size, weights, seed
):
    X, h = data
    w = make_weights(weights, len(X), seed)
    estimator, twin = fit_both(
        estimator_class,
        X,
        h,
        weights=w,
        tol=tol,
        max_iter=max_iter,
        merge_radius=merge_radius,
        min_cluster_size=min_cluster_size,
        **seeded(estimator_class, seed),
    )
    assert_same_fit(estimator, twin, X, w)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("low", [0.3, 0.8, 1.0])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (12, 9), (30, 2), (40, 3)])
@pytest.mark.parametrize("maker", GENERIC)
def test_pair_of_bandwidths_equals_the_twin(field_kind, maker, n, d, low, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator, twin = fit_both(
        StochasticMeanShift, X, (low * h, h), weights=w, algorithm=field_kind, random_state=d
    )
    assert estimator.bandwidth_ == h
    assert_same_fit(estimator, twin, X, w)


@pytest.mark.product
@pytest.mark.parametrize("seed", range(5 if JIT else 2))
@pytest.mark.parametrize("patience", [1e-9, 0.1, 0.35, 1.0, 2.5])
@pytest.mark.parametrize("low", [None, 0.5])
def test_patience_equals_the_twin(field_kind, low, patience, seed):
    X, h = make_data("clustered", 31, 2, seed)
    estimator, twin = fit_both(
        StochasticMeanShift,
        X,
        h if low is None else (low * h, h),
        patience=patience,
        tol=0.05,
        algorithm=field_kind,
        random_state=seed,
    )
    assert_same_fit(estimator, twin, X)


def test_a_failed_test_starts_the_count_of_quiet_steps_anew():
    """With little patience many tests are made in vain."""
    X, h = make_data("uniform", 40, 2, seed=3)
    runs = [
        fit_both(StochasticMeanShift, X, h, patience=p, tol=0.02, random_state=1)
        for p in (0.05, 1.0, 3.0)
    ]
    for estimator, twin in runs:
        assert_same_fit(estimator, twin, X)
    n_steps = [estimator.n_steps_ for estimator, _ in runs]
    assert sorted(set(n_steps)) == n_steps  # three different ends, so patience was at work


@pytest.mark.parametrize("bandwidth", [2.0, (1.5, 2.0), (2.0, 2.0)])
def test_draws_follow_the_promise(field_kind, bandwidth):
    """Replay with the documented draws and nothing else of the library's or the twin's code."""
    X, _ = make_data("uniform", 9, 2)
    estimator = StochasticMeanShift(
        bandwidth=bandwidth,
        tol=1e-9,
        merge_radius=0.1,
        max_iter=3,
        random_state=42,
        record=True,
        algorithm=field_kind,
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        estimator.fit(X)
    rng = check_random_state(42)
    Y = X.copy()
    visited = [[x] for x in X]
    for _ in range(3):
        order = rng.randint(9, size=9)
        radii = rng.uniform(*bandwidth, size=9) if isinstance(bandwidth, tuple) else [2.0] * 9
        for j, radius in zip(order, radii, strict=True):
            Y[j] = Y[np.hypot(*(Y - Y[j]).T) <= radius].mean(axis=0)
            visited[j].append(Y[j].copy())
    assert estimator.n_steps_ == 27
    assert_close(estimator.modes_, Y, X, 2.0)
    assert_same_paths(estimator.paths_, visited, X, 2.0)


@pytest.mark.parametrize("bandwidth", [1.2, (0.8, 1.2), (1.2, 1.2)])
def test_a_generator_is_used_for_the_promised_draws_only(bandwidth):
    X, _ = make_data("clustered", 20, 2)
    used, replayed = np.random.RandomState(5), np.random.RandomState(5)
    estimator = fit(StochasticMeanShift(bandwidth=bandwidth, random_state=used, **COMMON), X)
    for _ in range(estimator.n_iter_):
        replayed.randint(20, size=20)
        if isinstance(bandwidth, tuple):
            replayed.uniform(*bandwidth, size=20)
    assert used.randint(2**31 - 1) == replayed.randint(2**31 - 1)
    again = fit(StochasticMeanShift(bandwidth=bandwidth, random_state=5, **COMMON), X)
    assert_array_equal(again.modes_, estimator.modes_)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_too_few_iterations_warn_and_say_so(estimator_class, field_kind):
    X, h = make_data("clustered", 40, 2)
    estimator = estimator_class(
        bandwidth=h,
        tol=1e-6,
        merge_radius=0.1,
        max_iter=2,
        algorithm=field_kind,
        **seeded(estimator_class, 0),
    )
    with pytest.warns(ConvergenceWarning, match=f"{estimator_class.__name__}.*max_iter=2"):
        estimator.fit(X)
    assert estimator.converged_ is False
    assert estimator.n_iter_ == 2
    if estimator_class is not MeanShift:
        assert estimator.n_steps_ == 80


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_enough_iterations_converge_without_a_warning(estimator_class):
    X, h = make_data("clustered", 40, 2)
    common = {"bandwidth": h, "tol": 1e-3, "merge_radius": 0.1, **seeded(estimator_class, 0)}
    needed = fit(estimator_class(max_iter=300, **common), X).n_iter_
    assert fit(estimator_class(max_iter=needed, **common), X).converged_
    assert not fit(estimator_class(max_iter=needed - 1, **common), X).converged_


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_paths_only_on_demand(estimator_class):
    X, h = make_data("clustered", 15, 2)
    estimator = estimator_class(bandwidth=h, record=True, **COMMON, **seeded(estimator_class, 0))
    assert len(fit(estimator, X).paths_) == 15
    assert not hasattr(fit(estimator.set_params(record=False), X), "paths_")


@pytest.mark.product
@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
@pytest.mark.parametrize(("n", "d"), [(7, 1), (30, 2), (40, 3), (40, 5)])
@pytest.mark.parametrize("spacing", [1.0, 0.1])
def test_first_step_on_a_lattice(estimator_class, field_kind, n, d, spacing):
    """With the bandwidth equal to the spacing many neighbours lie on the border, up to rounding."""
    X = spacing * make_data("lattice", n, d)[0]
    estimator, twin = fit_both(estimator_class, X, spacing, max_iter=1, algorithm=field_kind)
    assert estimator.n_steps_ == n
    assert_same_fit(estimator, twin, X)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_pairs_on_the_border_meet_and_pairs_beyond_it_do_not(estimator_class, field_kind):
    corners = 10.0 * np.arange(8.0)
    beyond = np.nextafter(5.0, 6.0)
    X = np.array([[c, 0.0] for c in corners] + [[c + 3.0, 4.0] for c in corners])
    X[12:, 0] -= 3.0
    X[12:, 1] = beyond
    estimator, twin = fit_both(
        estimator_class, X, 5.0, tol=1e-6, algorithm=field_kind, **seeded(estimator_class, 1)
    )
    assert_same_fit(estimator, twin, X)
    assert_array_equal(estimator.labels_, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("tol", [0.25, np.nextafter(0.25, 0)])
def test_a_shift_of_just_tol_is_small_enough(estimator_class, field_kind, tol):
    X = np.array([[0.0], [1.0], [40.0]])
    estimator, twin = fit_both(
        estimator_class, X, 2.0, tol=tol, algorithm=field_kind, **seeded(estimator_class, 0)
    )
    assert_same_fit(estimator, twin, X)
    if estimator_class is not StochasticMeanShift:
        assert estimator.n_iter_ == (1 if tol == 0.25 else 2)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize(("tol", "offset"), [(0.0, 0.0), (1e-6, 2.0**30)])
def test_small_tolerances_are_reached(estimator_class, field_kind, tol, offset):
    """However small a move is, it is made: here a gap is halved to the last digits."""
    X = np.array([[0.0], [1.0]]) + offset
    estimator, twin = fit_both(
        estimator_class, X, 2.0, tol=tol, algorithm=field_kind, **seeded(estimator_class, 0)
    )
    assert_same_fit(estimator, twin, X)
    assert estimator.converged_


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_weightless_points_move_but_pull_nobody(estimator_class, field_kind):
    X = np.array([[0.0], [0.6], [5.0], [9.0]])
    weights = np.array([1.0, 0.0, 2.0, 0.0])
    estimator, twin = fit_both(
        estimator_class, X, 1.0, weights=weights, algorithm=field_kind, **seeded(estimator_class, 0)
    )
    assert_same_fit(estimator, twin, X, weights)
    assert_array_equal(estimator.modes_, [[0.0], [0.0], [5.0], [9.0]])
    assert_array_equal(estimator.labels_, [1, 1, 0, 2])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("light", [1e280, 1e-300])
def test_light_points_are_points_however_heavy_the_others(estimator_class, light):
    """The weights of a neighbourhood count relative to each other, not to those far away."""
    X = np.array([[0.0], [0.5], [10.0]])
    weights = np.array([light, light, 1e300])
    estimator, twin = fit_both(
        estimator_class, X, 1.0, weights=weights, **seeded(estimator_class, 0)
    )
    assert_same_fit(estimator, twin, X, weights)
    assert_array_equal(estimator.labels_, [1, 1, 0])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("d", [1, 2, 9])
def test_float32_in_float32_out(estimator_class, d):
    """The arithmetic is in float64 all the same: only the results are rounded."""
    X, h = make_data("clustered", 30, d)
    X = X.astype(np.float32)
    parameters = {"bandwidth": h, "record": True, **COMMON, **seeded(estimator_class, 2)}
    single = fit(estimator_class(**parameters), X)
    double = fit(estimator_class(**parameters), X.astype(np.float64))
    assert_array_equal(single.labels_, double.labels_)
    assert_array_equal(single.modes_, double.modes_.astype(np.float32))
    assert_array_equal(single.cluster_centers_, double.cluster_centers_.astype(np.float32))
    assert_array_equal(
        np.concatenate(single.paths_), np.concatenate(double.paths_).astype(np.float32)
    )
    assert single.modes_.dtype == single.cluster_centers_.dtype == np.float32
    assert {path.dtype for path in single.paths_} == {np.dtype(np.float32)}
    assert (single.n_steps_, single.n_iter_) == (double.n_steps_, double.n_iter_)


def test_mean_shift_climbs_over_the_original_points_and_blurring_over_the_current_ones():
    X = np.array([[0.0], [1.0], [2.0]])
    common = {"bandwidth": 1.0, "tol": 1e-3, "merge_radius": 0.1, "max_iter": 9, "record": True}
    climbing = fit(MeanShift(**common), X)
    assert [path.ravel().tolist() for path in climbing.paths_] == [
        [0, 0.5, 0.5],
        [1, 1],
        [2, 1.5, 1.5],
    ]
    blurring = fit(BlurringMeanShift(**common), X)
    assert blurring.paths_[0].ravel().tolist() == [0, 0.5, 1, 1]
    assert_array_equal(climbing.labels_, [0, 1, 2])
    assert_array_equal(blurring.labels_, [0, 0, 0])


def test_patience_counts_up_to_its_ceiling():
    """Points that never move: the fit ends with the step that makes ceil(patience*n) quiet ones."""
    X = 10.0 * np.arange(7.0)[:, np.newaxis]
    for patience in (0.01, 1 / 7, 0.2, 0.5, 1.0, 1.3, 3.0):
        estimator, twin = fit_both(StochasticMeanShift, X, 1.0, patience=patience, random_state=0)
        assert_same_fit(estimator, twin, X)
        assert estimator.n_steps_ == math.ceil(patience * 7)
