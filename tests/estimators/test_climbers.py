"""Selective mean-shift: a few points climb, the others follow the climber that starts nearest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, generic_data, make_data, make_weights
from modeshift import MeanShift
from twins.compare import check_predictions, fit_and_compare, make, make_directions, new_points

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=20 if JIT else 5)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize(
    ("n", "d", "m"), [(1, 1, 1), (12, 1, 1), (40, 2, 6), (25, 9, 24), (20, 40, 4)]
)
@pytest.mark.parametrize("maker", ["clustered", "duplicates", "offset"])
def test_equals_the_twin(field_kind, maker, n, d, m, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    estimator = make(MeanShift, h, seed=n, seeding=m, algorithm=field_kind)
    twin = fit_and_compare(estimator, X, w)
    assert len(estimator.paths_) == m
    check_predictions(estimator, twin, X, new_points(X, h), w)


@pytest.mark.parametrize(
    "parameters",
    [{"kernel": "gaussian"}, {"n_neighbors": 5}, {"metric": "cosine"}],
    ids=lambda parameters: "-".join(parameters),
)
def test_with_other_neighbourhoods_it_equals_the_twin(field_kind, parameters):
    X, h = make_data("clustered", 30, 9)
    if "metric" in parameters:
        X, h = make_directions(30, 9)
    estimator = make(MeanShift, h / 2, seeding=8, algorithm=field_kind, **parameters)
    fit_and_compare(estimator, X, atol=1e-8 * max(h, np.ptp(X)))


def test_climbers_are_drawn_as_promised():
    """Replay with the documented draw: nobody has a neighbour, so every climber is its own mode."""
    X, _ = make_data("uniform", 15, 2)
    estimator = fit(make(MeanShift, 1e-6, seed=42, seeding=5), X)
    chosen = np.random.RandomState(42).choice(15, 5, replace=False)
    distances = np.linalg.norm(X[:, np.newaxis] - X[chosen], axis=2)
    assert_allclose(estimator.modes_, X[chosen[distances.argmin(axis=1)]])
    assert len(np.unique(estimator.labels_)) == 5
    assert estimator.n_steps_ == 5


def test_a_generator_is_used_for_the_promised_draw_only():
    X, h = make_data("clustered", 20, 2)
    used, replayed = np.random.RandomState(5), np.random.RandomState(5)
    fit(MeanShift(bandwidth=h, seeding=6, random_state=used), X)
    replayed.choice(20, 6, replace=False)
    assert used.randint(2**31 - 1) == replayed.randint(2**31 - 1)


@pytest.mark.parametrize("seed", range(6))
def test_as_near_to_two_climbers_follows_the_lower_index(field_kind, seed):
    """On a line of whole numbers, whatever the order of the draw."""
    X = np.random.default_rng(seed).permutation(12).astype(float)[:, np.newaxis]
    estimator = fit(make(MeanShift, 0.5, seed=seed, seeding=4, algorithm=field_kind), X)
    chosen = np.sort(np.random.RandomState(seed).choice(12, 4, replace=False))
    expected = X[chosen[np.argmin(abs(X - X[chosen].T), axis=1)]]
    assert_array_equal(estimator.modes_, expected)


@pytest.mark.parametrize("seed", range(4))
def test_where_climbers_start_counts_and_not_where_they_pass(seed):
    """Two climbers on a slope: a point near the start of one may be on the way of the other."""
    X = np.concatenate([np.zeros(20), np.linspace(0.3, 4.0, 12)])[:, np.newaxis]
    fit_and_compare(make(MeanShift, 0.8, seed=seed, seeding=3), X)


@FEW
@given(
    data=generic_data(max_n=25, dimensions=DIMENSIONS),
    more=st.sampled_from([0, 1, 100]),
    kind=st.sampled_from([None, "zeros"]),
    seed=SEEDS,
)
def test_as_many_climbers_as_points_is_plain_mean_shift(data, more, kind, seed):
    X, h = data
    weights = make_weights(kind, len(X), seed)
    plain = fit(make(MeanShift, h), X, weights)
    all_climb = fit(make(MeanShift, h, seed, seeding=len(X) + more), X, weights)
    assert_array_equal(all_climb.modes_, plain.modes_)
    assert_array_equal(all_climb.labels_, plain.labels_)
    assert (all_climb.n_iter_, all_climb.n_steps_) == (plain.n_iter_, plain.n_steps_)


@FEW
@given(
    data=generic_data(max_n=30, dimensions=DIMENSIONS, makers=("clustered", "uniform")),
    m=st.integers(1, 30),
    seed=SEEDS,
)
def test_climbers_go_where_they_would_go_in_company(data, m, seed):
    """At most m ends, each the end of the same climb in a plain run."""
    X, h = data
    m = min(m, len(X))
    plain = fit(make(MeanShift, h), X)
    few = fit(make(MeanShift, h, seed, seeding=m), X)
    chosen = np.random.RandomState(seed).choice(len(X), m, replace=False)
    if m < len(X):
        assert_allclose(few.modes_[chosen], plain.modes_[chosen], rtol=0, atol=1e-9)
        assert len(np.unique(few.modes_, axis=0)) <= m
    assert few.n_steps_ <= plain.n_steps_


def test_seeds_fix_every_bit(field_kind):
    X, h = make_data("uniform", 50, 2)
    fits = [
        fit(make(MeanShift, h, 3, seeding=9, n_jobs=k, algorithm=field_kind), X) for k in (1, 2, 1)
    ]
    for other in fits[1:]:
        assert_array_equal(other.modes_, fits[0].modes_)
    assert not np.array_equal(fit(make(MeanShift, h, 4, seeding=9), X).modes_, fits[0].modes_)


def test_random_state_does_nothing_without_climbers():
    X, h = make_data("clustered", 20, 2)
    generator = np.random.RandomState(0)
    first, second = (fit(MeanShift(bandwidth=h, random_state=r), X) for r in (generator, None))
    assert_array_equal(first.modes_, second.modes_)
    assert generator.randint(2**31 - 1) == np.random.RandomState(0).randint(2**31 - 1)
