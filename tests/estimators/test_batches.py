"""Mini-batches: b random points move at once over the same positions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from helpers import JIT, fit, generic_data, make_data, make_weights, tolerance
from modeshift import BlurringMeanShift, StochasticMeanShift
from twins.compare import check_predictions, fit_and_compare, make, make_directions, new_points

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=20 if JIT else 5)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("batch_size", [2, 7, 1000])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 9), (7, 1), (40, 2), (25, 40)])
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "offset"])
def test_equals_the_twin(field_kind, maker, n, d, batch_size, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator = make(StochasticMeanShift, h, seed=n, batch_size=batch_size, algorithm=field_kind)
    twin = fit_and_compare(estimator, X, w)
    check_predictions(estimator, twin, X, new_points(X, h), w)


@pytest.mark.jit
@pytest.mark.parametrize("batch_size", [16, 300])
def test_many_points_equal_the_twin(field_kind, batch_size):
    X, h = make_data("clustered", 400, 2)
    estimator = make(
        StochasticMeanShift, h, batch_size=batch_size, algorithm=field_kind, tol=0.01, n_jobs=2
    )
    fit_and_compare(estimator, X, make_weights("zeros", 400))


@pytest.mark.parametrize("batch_size", [2, 5, 30])
@pytest.mark.parametrize("low", [0.4, 1.0])
def test_a_pair_of_bandwidths_equals_the_twin(field_kind, low, batch_size):
    X, h = make_data("clustered", 30, 2)
    estimator = make(
        StochasticMeanShift, (low * h, h), seed=3, batch_size=batch_size, algorithm=field_kind
    )
    fit_and_compare(estimator, X)


@pytest.mark.parametrize("batch_size", [1, 3, 8, 40])
@pytest.mark.parametrize("patience", [1e-9, 0.2, 1.0, 2.5])
def test_patience_equals_the_twin(batch_size, patience):
    """Quiet steps are counted one by one, and acted on at the end of a batch."""
    for seed in range(3):
        X, h = make_data("uniform", 31, 2, seed)
        fit_and_compare(
            make(
                StochasticMeanShift,
                h / 2,
                seed,
                patience=patience,
                tol=0.05,
                batch_size=batch_size,
            ),
            X,
        )


@pytest.mark.parametrize(
    "parameters",
    [{"kernel": "gaussian"}, {"n_neighbors": 5}, {"metric": "cosine", "n_neighbors": 5}],
    ids=lambda parameters: "-".join(parameters),
)
def test_with_other_neighbourhoods_it_equals_the_twin(field_kind, parameters):
    X, h = make_data("clustered", 30, 9)
    if "metric" in parameters:
        X, h = make_directions(30, 9)
    estimator = make(
        StochasticMeanShift, h / 2, batch_size=7, algorithm=field_kind, max_iter=30, **parameters
    )
    fit_and_compare(estimator, X, atol=1e-8 * max(h, np.ptp(X)))


@pytest.mark.parametrize("bandwidth", [2.0, (1.5, 2.0)])
def test_draws_follow_the_promise(field_kind, bandwidth):
    """Replay with the documented draws and nothing else of the library's or the twin's code."""
    X, _ = make_data("uniform", 9, 2)
    estimator = StochasticMeanShift(
        bandwidth=bandwidth,
        tol=1e-9,
        max_iter=3,
        random_state=42,
        batch_size=4,
        algorithm=field_kind,
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        estimator.fit(X)
    rng = np.random.RandomState(42)
    Y = X.copy()
    for _ in range(3):
        order = rng.permutation(9)
        radii = rng.uniform(*bandwidth, size=9) if isinstance(bandwidth, tuple) else [2.0] * 9
        for batch in (range(4), range(4, 8), range(8, 9)):
            means = {
                order[t]: Y[np.hypot(*(Y - Y[order[t]]).T) <= radii[t]].mean(axis=0) for t in batch
            }
            for j, mean in means.items():
                Y[j] = mean
    assert estimator.n_steps_ == 27
    assert_allclose(estimator.modes_, Y, atol=1e-12)


def test_one_is_the_default_and_the_algorithm_of_the_paper():
    X, h = make_data("clustered", 20, 2)
    plain, one = (fit(make(StochasticMeanShift, h, 5, **b), X) for b in ({}, {"batch_size": 1}))
    assert_array_equal(plain.modes_, one.modes_)
    used, replayed = np.random.RandomState(5), np.random.RandomState(5)
    estimator = fit(StochasticMeanShift(bandwidth=h, random_state=used, batch_size=1), X)
    for _ in range(estimator.n_iter_):
        replayed.randint(20, size=20)
    assert used.randint(2**31 - 1) == replayed.randint(2**31 - 1)


def test_a_generator_is_used_for_the_promised_draws_only():
    X, h = make_data("clustered", 20, 2)
    used, replayed = np.random.RandomState(5), np.random.RandomState(5)
    estimator = StochasticMeanShift(bandwidth=(h / 2, h), random_state=used, batch_size=6)
    fit(estimator, X)
    for _ in range(estimator.n_iter_):
        replayed.permutation(20)
        replayed.uniform(h / 2, h, size=20)
    assert used.randint(2**31 - 1) == replayed.randint(2**31 - 1)


@FEW
@given(
    data=generic_data(max_n=30, dimensions=DIMENSIONS),
    seed=SEEDS,
    more=st.sampled_from([0, 1, 1000]),
    kind=st.sampled_from([None, "zeros"]),
)
def test_batches_of_everybody_are_blurring(data, seed, more, kind):
    """Sweep for sweep, until blurring stops; this goes on until a test finds everyone quiet."""
    X, h = data
    weights = make_weights(kind, len(X), seed)
    batches = fit(make(StochasticMeanShift, h, seed, batch_size=len(X) + more), X, weights)
    blurring = fit(make(BlurringMeanShift, h), X, weights)
    assert batches.n_iter_ >= blurring.n_iter_
    assert batches.n_steps_ == len(X) * batches.n_iter_
    for path, expected in zip(batches.paths_, blurring.paths_, strict=True):
        assert_allclose(path[: len(expected)], expected, rtol=0, atol=tolerance(X, h))


@pytest.mark.parametrize("batch_size", [2, 4, 7, 20])
def test_a_run_ends_with_a_batch(batch_size):
    """Points that never move: the batch that brings ceil(patience*n) quiet steps ends it."""
    X = 10.0 * np.arange(7.0)[:, np.newaxis]
    sizes = [len(range(first, min(first + batch_size, 7))) for first in range(0, 7, batch_size)]
    ends = np.cumsum(2 * sizes)
    for patience in (0.01, 0.5, 1.0, 1.3):
        estimator = make(StochasticMeanShift, 1.0, patience=patience, batch_size=batch_size)
        fit_and_compare(estimator, X)
        assert estimator.n_steps_ == ends[ends >= math.ceil(patience * 7)][0]


@pytest.mark.parametrize("batch_size", [3, 64])
def test_threads_and_repetition_change_no_bit(field_kind, batch_size):
    X, h = make_data("uniform", 60, 2)
    fits = [
        fit(
            make(StochasticMeanShift, h, 7, batch_size=batch_size, n_jobs=k, algorithm=field_kind),
            X,
        )
        for k in (1, 2, 1)
    ]
    for other in fits[1:]:
        assert_array_equal(other.modes_, fits[0].modes_)
        assert other.n_steps_ == fits[0].n_steps_


@FEW
@given(
    data=generic_data(max_n=30, dimensions=DIMENSIONS),
    seed=SEEDS,
    batch_size=st.sampled_from([2, 5, 16]),
)
def test_nobody_leaves_the_box_of_the_data(data, seed, batch_size):
    X, h = data
    estimator = fit(make(StochasticMeanShift, h, seed, batch_size=batch_size), X)
    visited = np.concatenate([*estimator.paths_, estimator.cluster_centers_])
    assert np.all(visited <= X.max(axis=0) + tolerance(X, h))
    assert np.all(visited >= X.min(axis=0) - tolerance(X, h))
