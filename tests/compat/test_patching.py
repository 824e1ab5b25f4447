"""modeshift.patch_sklearn and unpatch_sklearn."""

import pickle
import subprocess
import sys

import pytest
import sklearn.cluster
from sklearn.cluster import _mean_shift

import modeshift
from modeshift.compat import sklearn as ours

MODULES = (sklearn.cluster, _mean_shift)
NAMES = ("MeanShift", "estimate_bandwidth", "get_bin_seeds", "mean_shift")
ORIGINALS = {name: getattr(_mean_shift, name) for name in NAMES}


@pytest.fixture(autouse=True)
def unpatched():
    yield
    modeshift.unpatch_sklearn()


def has_names_of(values):
    return all(getattr(module, name) is values[name] for module in MODULES for name in NAMES)


def test_patched_names_are_ours_until_unpatched():
    assert not has_names_of(vars(ours))
    for _ in range(2):  # twice is once
        modeshift.patch_sklearn()
        assert has_names_of(vars(ours))
    for _ in range(2):
        modeshift.unpatch_sklearn()
        assert has_names_of(ORIGINALS)


def test_unpatching_without_a_patch_changes_nothing():
    modeshift.unpatch_sklearn()
    assert has_names_of(ORIGINALS)


def test_instances_are_still_instances_of_scikit_learns_class():
    modeshift.patch_sklearn()
    fitted = sklearn.cluster.MeanShift(bandwidth=1.0).fit([[0.0], [5.0]])
    modeshift.unpatch_sklearn()
    assert isinstance(fitted, sklearn.cluster.MeanShift)
    assert type(pickle.loads(pickle.dumps(fitted))) is ours.MeanShift


def test_pickles_of_scikit_learn_load_as_ours_while_patched():
    pickled = pickle.dumps(sklearn.cluster.MeanShift(bandwidth=1.0).fit([[0.0], [5.0]]))
    modeshift.patch_sklearn()
    loaded = pickle.loads(pickled)
    assert type(loaded) is ours.MeanShift
    assert loaded.predict([[4.0]]) == [0]


def test_importing_the_package_imports_no_scikit_learn():
    code = "import sys, modeshift; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
