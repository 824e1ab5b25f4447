"""Blurring until the mean update is small or the entropy of the updates stands still."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from helpers import JIT, fit, generic_data, make_data, make_weights, tolerance
from modeshift import BlurringMeanShift
from twins.compare import check_predictions, fit_and_compare, make, make_directions, new_points
from twins.rules import entropy

DIMENSIONS = (1, 2, 9)
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=20 if JIT else 5)


def entropic(h, **parameters):
    return make(BlurringMeanShift, h, stop="entropy", **parameters)


@pytest.mark.product
@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 2), (9, 1), (40, 2), (30, 9), (20, 40)])
@pytest.mark.parametrize("maker", ["clustered", "uniform", "duplicates"])
def test_equals_the_twin(field_kind, maker, n, d, kernel):
    X, h = make_data(maker, n, d)
    estimator = entropic(h / 2, kernel=kernel, algorithm=field_kind, tol=1e-3)
    twin = fit_and_compare(estimator, X, atol=1e-8 * h + tolerance(X, h))
    check_predictions(estimator, twin, X, new_points(X, h / 2))


@pytest.mark.parametrize(
    "parameters",
    [{"n_neighbors": 5}, {"metric": "cosine"}, {"metric": "cosine", "n_neighbors": 5}],
    ids=lambda parameters: "-".join(parameters),
)
def test_with_other_neighbourhoods_it_equals_the_twin(field_kind, parameters):
    X, h = make_directions(30, 9) if "metric" in parameters else make_data("uniform", 30, 9)
    fit_and_compare(entropic(h, algorithm=field_kind, **parameters), X)


@FEW
@given(
    data=generic_data(max_n=30, dimensions=DIMENSIONS, makers=("clustered", "uniform")),
    tol=st.sampled_from([1e-4, 1e-2, 0.2]),
    kernel=st.sampled_from(["flat", "gaussian"]),
    kind=st.sampled_from([None, "zeros"]),
    seed=SEEDS,
)
def test_only_the_end_differs_from_plain_blurring(data, tol, kernel, kind, seed):
    """The sweeps are the same, and there are never more of them than the largest shift asks for."""
    X, h = data
    weights = make_weights(kind, len(X), seed)
    common = {"kernel": kernel, "tol": tol}
    plain = fit(make(BlurringMeanShift, h / 2, **common), X, weights)
    early = fit(entropic(h / 2, **common), X, weights)
    assert early.n_iter_ <= plain.n_iter_
    assert early.n_steps_ == len(X) * early.n_iter_
    expected = [path[early.n_iter_] for path in plain.paths_]
    assert_allclose(early.modes_, expected, rtol=0, atol=1e-8 * h + tolerance(X, h))


def test_the_rule_replayed_from_the_paths():
    """No sweep but the last has a small mean update or an entropy like that of the one before."""
    X, h = make_data("uniform", 60, 2)
    ends = set()
    for tol in (1e-12, 0.1):
        estimator = fit(entropic(h / 3, kernel="gaussian", tol=tol, max_iter=200), X)
        sweeps = np.stack(estimator.paths_, axis=1)
        updates = np.linalg.norm(np.diff(sweeps, axis=0), axis=2)
        small = updates.mean(axis=1) < tol * estimator.scale_
        entropies = np.array([entropy(list(lengths)) for lengths in updates])
        still = np.append(False, abs(np.diff(entropies)) < 1e-8)
        assert (small | still).tolist() == [False] * (estimator.n_iter_ - 1) + [True]
        ends.add("small" if small[-1] else "still")
    assert ends == {"small", "still"}


def test_a_small_change_of_the_entropy_is_a_change():
    """Here it is 6e-5 from the fourth sweep to the fifth, and the run goes on."""
    X, h = make_data("uniform", 80, 2, seed=6)
    estimator = entropic(h / 3, kernel="gaussian", tol=1e-6)
    fit_and_compare(estimator, X, atol=1e-8)
    sweeps = np.stack(estimator.paths_, axis=1)
    updates = np.linalg.norm(np.diff(sweeps, axis=0), axis=2)
    assert 1e-8 < abs(entropy(list(updates[4])) - entropy(list(updates[3]))) < 1e-4
    assert estimator.n_iter_ > 5


def test_the_mean_counts_and_not_the_largest_update():
    """One pair of a hundred points meets in a step of 0.5, everyone else rests."""
    X = np.append(10.0 * np.arange(98.0), [2000.0, 2001.0])[:, np.newaxis]
    estimator = fit(entropic(1.0, tol=0.011), X)
    assert estimator.n_iter_ == 1  # the mean update is 0.01
    assert fit(make(BlurringMeanShift, 1.0, tol=0.011), X).n_iter_ == 2
    assert estimator.converged_


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_too_few_sweeps_warn(kernel):
    X, h = make_data("uniform", 60, 2)
    estimator = fit(entropic(h / 3, kernel=kernel, tol=1e-9, max_iter=1), X)
    assert not estimator.converged_
    assert estimator.n_iter_ == 1


def test_points_that_coincide_stay_together(field_kind):
    """Each place is one point of the weight of all that are there; results are as without that."""
    X, h = make_data("duplicates", 60, 2)
    places, inverse, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    for parameters in ({}, {"kernel": "gaussian"}, {"n_neighbors": 7}):
        all_points = make(BlurringMeanShift, h / 2, algorithm=field_kind, **parameters)
        fit_and_compare(all_points, X, atol=1e-8 * h)
        collapsed = fit(
            make(BlurringMeanShift, h / 2, algorithm=field_kind, **parameters), places, counts
        )
        assert_allclose(all_points.modes_, collapsed.modes_[inverse.ravel()], atol=1e-8 * h)
        for place in range(len(places)):
            together = all_points.modes_[inverse.ravel() == place]
            assert_array_equal(together, together[:1].repeat(len(together), axis=0))


def test_weightless_points_at_the_place_of_others(field_kind):
    X = np.array([[0.0], [0.0], [1.0], [1.0], [9.0], [9.0]])
    weights = np.array([0.0, 1.0, 2.0, 0.0, 0.0, 0.0])
    for kernel in ("flat", "gaussian"):
        estimator = make(BlurringMeanShift, 1.5, kernel=kernel, algorithm=field_kind)
        fit_and_compare(estimator, X, weights, atol=1e-8)
