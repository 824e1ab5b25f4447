"""scikit-learn's own tests of mean-shift, from the installed wheel, with our names in them.

They are loaded while scikit-learn is patched, so ``from sklearn.cluster import MeanShift`` in them
imports ours. If the wheel has no tests, the collection of this file fails.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import sklearn.cluster

import modeshift
from modeshift.compat import sklearn as ours

# One of their tests makes bins of single points, which warns.
pytestmark = pytest.mark.filterwarnings("ignore:bin_size=.* gives every point a bin:UserWarning")

PATH = Path(sklearn.cluster.__file__).parent / "tests" / "test_mean_shift.py"
NAMES = ("MeanShift", "estimate_bandwidth", "get_bin_seeds", "mean_shift")


def load_patched(path):
    spec = importlib.util.spec_from_file_location("scikit_learns_test_mean_shift", path)
    module = importlib.util.module_from_spec(spec)
    modeshift.patch_sklearn()
    try:
        spec.loader.exec_module(module)
    finally:
        modeshift.unpatch_sklearn()
    return module


THEIRS = load_patched(PATH)
THEIR_TESTS = {name: each for name, each in vars(THEIRS).items() if name.startswith("test_")}
globals().update(THEIR_TESTS)


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    """scikit-learn's conftest has a fixture of this name."""
    return request.param


@pytest.fixture(params=[0, 42])
def global_random_seed(request):
    """scikit-learn's conftest has a fixture of this name."""
    return request.param


def test_their_tests_are_here_and_test_ours():
    assert len(THEIR_TESTS) >= 12
    for name in NAMES:
        assert getattr(THEIRS, name) is getattr(ours, name)
