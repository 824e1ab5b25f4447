"""What tests of several rooms share: data of many shapes, and comparisons."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from modeshift.estimators.warnings import NoClustersWarning

ROOT = Path(__file__).parents[1]
MISSING = [name for name in ("torch", "triton") if find_spec(name) is None]
JIT = not numba.config.DISABLE_JIT

DIMENSIONS = (1, 2, 3, 5, 9)
SHAPES = [(1, 1), (1, 3), (2, 2), (7, 1), (12, 9), (30, 2), (25, 5), (40, 3)]
SHAPES += [pytest.param(80, 2, marks=pytest.mark.jit), pytest.param(80, 9, marks=pytest.mark.jit)]


def _clustered(rng, n, d):
    centers = rng.uniform(0, 12, (4, d))
    return centers[rng.integers(4, size=n)] + rng.normal(size=(n, d))


def _uniform(rng, n, d):
    return rng.uniform(0, 6, (n, d))


def _duplicates(rng, n, d):
    sites = _clustered(rng, n // 3 + 1, d)
    return sites[rng.integers(len(sites), size=n)]


def _offset(rng, n, d):
    return _clustered(rng, n, d) + 2.0**20 * rng.choice([-1, 1], d)


def _lattice(rng, n, d):
    return rng.integers(0, 4, (n, d)).astype(float)


# No two distances between points or means equal a bandwidth here, save by a wild coincidence.
GENERIC = {
    "clustered": _clustered,
    "uniform": _uniform,
    "duplicates": _duplicates,
    "offset": _offset,
}
ALL_MAKERS = {**GENERIC, "lattice": _lattice}


def make_data(maker, n, d, seed=0):
    """Points of shape (n, d) and a bandwidth: the spacing on the lattice, else a random one."""
    rng = np.random.default_rng([seed, n, d])
    X = ALL_MAKERS[maker](rng, n, d)
    return X, 1.0 if maker == "lattice" else rng.uniform(0.7, 1.8) * np.sqrt(d)


def make_weights(kind, n, seed=0):
    """Weights that are None, whole, real, or real with many zeros; never all 0."""
    rng = np.random.default_rng([seed, n])
    if kind is None:
        return None
    if kind == "whole":
        return rng.integers(1, 5, n).astype(float)
    weights = rng.uniform(0.1, 3.0, n)
    if kind == "zeros":
        weights[rng.random(n) < 0.4] = 0.0
        weights[rng.integers(n)] = 1.0
    return weights


WEIGHTS = (None, "whole", "real", "zeros")


@st.composite
def generic_data(draw, max_n=40, dimensions=DIMENSIONS, makers=tuple(GENERIC)):
    """Draw points without ties, and a bandwidth."""
    maker = draw(st.sampled_from(makers))
    n = draw(st.integers(1, max_n))
    d = draw(st.sampled_from(dimensions))
    return make_data(maker, n, d, seed=draw(st.integers(0, 2**32 - 1)))


def tolerance(X, h):
    """1e-9 of the extent of the data, and the few last digits that their place leaves."""
    return 1e-9 * max(np.ptp(X, axis=0).max(), h) + 2.0**-44 * abs(X).max()


def assert_close(actual, expected, X, h):
    """Positions agree within 1e-9 of the scale of the data X."""
    assert np.shape(actual) == np.shape(expected)
    assert_allclose(actual, expected, rtol=0, atol=tolerance(np.asarray(X), h))


def assert_same_paths(actual, expected, X, h):
    """As many paths, of the same lengths, through the same positions."""
    assert [len(path) for path in actual] == [len(path) for path in expected]
    assert_close(np.concatenate(actual), np.concatenate(expected), X, h)


def fit(estimator, X, sample_weight=None):
    """Fit, and check that it warns just when it does not converge, and of nothing else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if numba.config.DISABLE_JIT:  # compiled code overflows in silence, as meant
            warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
        estimator.fit(X, sample_weight=sample_weight)
    expected = [] if len(estimator.cluster_centers_) else [UserWarning]
    expected += [] if estimator.converged_ else [ConvergenceWarning]
    caught = [each for each in caught if each.category is not NoClustersWarning]
    assert [warning.category for warning in caught] == expected
    return estimator


def steps_of(estimator, n):
    """Yield (point, place before, place after) for every step of a stochastic fit, in order."""
    rng = check_random_state(estimator.random_state)
    order = np.concatenate([rng.randint(n, size=n) for _ in range(estimator.n_iter_)])
    steps_made = np.zeros(n, dtype=int)
    for j in order[: estimator.n_steps_]:
        path, t = estimator.paths_[j], steps_made[j]
        yield j, path[t], path[t + 1]
        steps_made[j] += 1
