"""Centres, labels and n_iter_ are those of scikit-learn, to the last bit."""

import warnings

import numpy as np
import pytest
import sklearn.cluster
from numpy.testing import assert_array_equal

from modeshift.compat import sklearn as ours

N_CASES, N_QUICK = 200, 40


def _blobs(rng, n, d):
    centers = rng.uniform(0, 12, (4, d))
    return centers[rng.integers(4, size=n)] + rng.normal(size=(n, d))


def _duplicates(rng, n, d):
    return _blobs(rng, n, d)[rng.integers(n // 3 + 1, size=n)]


KINDS = {
    "blobs": _blobs,
    "uniform": lambda rng, n, d: rng.uniform(0, 6, (n, d)),
    "duplicates": _duplicates,
    "integers": lambda rng, n, d: np.rint(_blobs(rng, n, d)).astype(int),
    "eighths": lambda rng, n, d: np.rint(8 * _blobs(rng, n, d)) / 8,
    "tenths": lambda rng, n, d: np.round(_blobs(rng, n, d), 1),
    "float32": lambda rng, n, d: _blobs(rng, n, d).astype(np.float32),
    "whole float32": lambda rng, n, d: np.rint(_blobs(rng, n, d)).astype(np.float32),
}


def make_case(number):
    """Random points, and random options of MeanShift. A whole bandwidth puts points on borders."""
    rng = np.random.default_rng([2026, number])
    make = list(KINDS.values())[number % len(KINDS)]
    n, d = int(rng.integers(3, 120)), int(rng.choice([1, 2, 2, 3, 5, 9, 18]))
    X = make(rng, n, d)
    bandwidths = [None, float(rng.uniform(0.5, 3)), int(rng.integers(1, 4)), rng.integers(1, 9) / 4]
    options = {
        "bandwidth": bandwidths[rng.integers(4)],
        "bin_seeding": bool(rng.integers(2)),
        "min_bin_freq": int(rng.choice([1, 1, 2])),
        "cluster_all": bool(rng.integers(2)),
        "max_iter": int(rng.choice([300, 300, 300, 0, 1, 3])),
    }
    if rng.integers(4) == 0:
        options["seeds"] = rng.uniform(X.min(), X.max(), (int(rng.integers(1, 30)), d))
    return X, options


def outcome(estimator, X):
    """Fit; return the centres, labels and n_iter_, or the class of the error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Binning data failed|bin_size", UserWarning)
        try:
            fitted = estimator.fit(X)
        except ValueError as error:
            return type(error)
    return fitted.cluster_centers_, fitted.labels_, fitted.n_iter_


def assert_equal(number):
    X, options = make_case(number)
    theirs = outcome(sklearn.cluster.MeanShift(**options), X)
    actual = outcome(ours.MeanShift(**options), X)
    if theirs is ValueError or actual is ValueError:
        assert theirs is actual
        return
    for mine, other in zip(actual, theirs, strict=True):
        assert_array_equal(mine, other)
        assert np.asarray(mine).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("number", range(N_QUICK))
def test_fits_are_equal(number):
    assert_equal(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(N_QUICK, N_CASES))
def test_more_fits_are_equal(number):
    assert_equal(number)


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("quantile", [0.0, 0.1, 0.3, 0.5, 0.9, 1.0])
def test_bandwidths_are_equal(number, quantile):
    X, _ = make_case(number)
    options = {"quantile": quantile, "n_samples": [None, 20][number % 2], "random_state": number}
    theirs = sklearn.cluster.estimate_bandwidth(X, **options)
    found = ours.estimate_bandwidth(X, **options, n_jobs=2)
    assert found == theirs
    assert type(found) is type(theirs)


def test_bandwidths_are_equal_over_several_batches():
    X = np.random.default_rng(0).normal(size=(1_234, 3))
    assert ours.estimate_bandwidth(X) == sklearn.cluster.estimate_bandwidth(X)


@pytest.mark.parametrize("number", range(24))
@pytest.mark.parametrize("bin_size", [0.7, np.float64(1.3), 2])
def test_bins_are_equal(number, bin_size):
    X, options = make_case(number)
    X = X - X.dtype.type(3)  # some of both signs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = sklearn.cluster.get_bin_seeds(X, bin_size, options["min_bin_freq"])
        found = ours.get_bin_seeds(X, bin_size, options["min_bin_freq"])
    assert_array_equal(found, theirs.reshape(found.shape))
    assert found.dtype == theirs.dtype


def test_labels_of_the_function_and_of_new_points_are_equal():
    X, _ = make_case(0)
    for mine, other in zip(
        ours.mean_shift(X, bandwidth=1.5), sklearn.cluster.mean_shift(X, bandwidth=1.5), strict=True
    ):
        assert_array_equal(mine, other)
    theirs = sklearn.cluster.MeanShift(bandwidth=1.5).fit(X).predict(X + 0.3)
    assert_array_equal(ours.MeanShift(bandwidth=1.5).fit(X).predict(X + 0.3), theirs)
