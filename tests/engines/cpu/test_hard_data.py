"""Fast fields give the labels of brute force on data that are hard for them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.fields import FIELDS
from modeshift.engines.cpu.fields.tree import LEAF

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]
FAST = [kind for kind in FIELDS if kind != "brute"]

pytestmark = [
    pytest.mark.jit,
    pytest.mark.parametrize("estimator_class", ESTIMATORS),
    pytest.mark.parametrize("kind", FAST),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def assert_as_brute_force(estimator_class, kind, X, bandwidth, **parameters):
    chance = {"random_state": 0} if estimator_class is StochasticMeanShift else {}
    fast, brute = (
        estimator_class(bandwidth=bandwidth, algorithm=field, **chance, **parameters).fit(X)
        for field in (kind, "brute")
    )
    assert_array_equal(fast.labels_, brute.labels_)
    assert (fast.n_steps_, fast.n_iter_) == (brute.n_steps_, brute.n_iter_)
    scale = bandwidth + 1e-7 * np.abs(brute.modes_)
    assert_allclose((fast.modes_ - brute.modes_) / scale, 0.0, atol=1e-9)


def gaussians(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * 0.8 + rng.choice([-1.0, 1.0], (n, 2))


@pytest.mark.parametrize("n", [1, LEAF, LEAF + 1, 2 * LEAF + 1, 1500])
def test_leaves_full_and_not(estimator_class, kind, n):
    assert_as_brute_force(estimator_class, kind, gaussians(n), 0.8)


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_any_extent(estimator_class, kind, unit):
    assert_as_brute_force(estimator_class, kind, gaussians(400) * unit, 0.8 * unit)


@pytest.mark.parametrize("far", [1e6, 1e12, 1e300])
def test_a_far_outlier(estimator_class, kind, far):
    X = gaussians(1000)
    X[17] = far, -far
    assert_as_brute_force(estimator_class, kind, X, 0.8)


def test_extent_of_a_million_bandwidths(estimator_class, kind):
    places = np.random.default_rng(1).uniform(-5e5, 5e5, (60, 3))
    X = np.repeat(places, 10, axis=0) + np.random.default_rng(2).normal(size=(600, 3)) * 0.3
    assert_as_brute_force(estimator_class, kind, X, 1.0)


@pytest.mark.parametrize("spread", [0.0, 1e-13, 1e-3])
def test_all_points_in_one_cell(estimator_class, kind, spread):
    X = np.full((700, 2), 1.3) + spread * np.random.default_rng(0).normal(size=(700, 2))
    assert_as_brute_force(estimator_class, kind, X, 1.0)


@pytest.mark.product
@pytest.mark.parametrize("spacing", [1.0, 0.1, 1 / 3, 1e-5])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_lattice_with_the_spacing_as_bandwidth(estimator_class, kind, spacing, d):
    """Every neighbour lies on the border: rounding decides, and must decide alike everywhere."""
    side = {1: 200, 2: 18, 3: 7}[d]
    X = spacing * np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)
    assert_as_brute_force(estimator_class, kind, X, spacing, max_iter=3)


@pytest.mark.parametrize("d", [5, 17, 40])
def test_more_features(estimator_class, kind, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(12, d))[rng.integers(12, size=500)] * 2 + 0.2 * rng.normal(size=(500, d))
    assert_as_brute_force(estimator_class, kind, X, 0.45 * np.sqrt(d))


@pytest.mark.slow
def test_many_points_and_a_far_outlier(estimator_class, kind):
    X = gaussians(100_000)
    X[5] = 1e12
    if estimator_class is MeanShift:
        seeds = X[np.random.default_rng(0).integers(100_000, size=300)]
        assert_as_brute_force(estimator_class, kind, X, 0.8, seeding=seeds)
    else:
        assert_as_brute_force(estimator_class, kind, X, 0.8, max_iter=1)
