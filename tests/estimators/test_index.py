"""What predict needs is built once, is not pickled, and is built again when parameters change."""

import multiprocessing
import pickle

import numpy as np
import pytest

from helpers import MISSING, make_data
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu import kdtree
from modeshift.engines.cpu.fields import tree
from modeshift.engines.cpu.fields.field import Field

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)


@pytest.fixture
def builds(monkeypatch):
    """Counts the trees and fields that are built."""
    counted = []
    split, make = kdtree.split_points, Field.__init__

    def count_split(*arguments):
        counted.append("tree")
        return split(*arguments)

    def count_field(self, *arguments):
        counted.append("field")
        make(self, *arguments)

    for module in (tree, __import__("modeshift.engines.cpu.nearest", fromlist=["nearest"])):
        monkeypatch.setattr(module, "split_points", count_split)
    monkeypatch.setattr(Field, "__init__", count_field)
    return counted


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_second_predict_builds_nothing(kind, builds):
    X, h = make_data("clustered", 200, 2)
    fitted = kind(bandwidth=h).fit(X)
    builds.clear()
    first = fitted.predict(X)
    assert builds == ["tree"]
    np.testing.assert_array_equal(fitted.predict(X), first)
    fitted.membership(X)
    assert builds == ["tree"]
    densities = fitted.score_samples(X)
    assert builds == ["tree", "field", "tree"]
    np.testing.assert_array_equal(fitted.score_samples(X), densities)
    assert builds == ["tree", "field", "tree"]


def test_other_parameters_and_a_new_fit_build_it_again(builds):
    X, h = make_data("clustered", 100, 2)
    fitted = MeanShift(bandwidth=h).fit(X)
    fitted.predict(X)
    for change in (lambda: fitted.set_params(algorithm="brute"), lambda: fitted.fit(X[:60])):
        change()
        builds.clear()
        fitted.predict(X)
        assert builds[-1] == "tree"


def test_the_index_is_not_pickled():
    X, h = make_data("clustered", 300, 2)
    fitted = MeanShift(bandwidth=h).fit(X)
    before = len(pickle.dumps(fitted))
    labels = fitted.predict(X)
    assert len(pickle.dumps(fitted)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), labels)


@pytest.mark.skipif(bool(MISSING), reason="no PyTorch here")
def test_the_gpu_uploads_and_sorts_once(monkeypatch):
    from modeshift.engines.cuda import engine

    X, h = make_data("clustered", 40, 2)
    fitted = MeanShift(bandwidth=h, device="cuda").fit(X)
    first, densities = fitted.predict(X), fitted.score_samples(X)
    for name in ("arrange", "field_of"):
        monkeypatch.setattr(engine, name, lambda *_: pytest.fail("built again"))
    np.testing.assert_array_equal(fitted.predict(X), first)
    np.testing.assert_array_equal(fitted.score_samples(X), densities)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_process_that_was_forked_while_an_index_was_built_can_predict():
    """It waited for ever for a thread that only its parent has."""
    X, h = make_data("clustered", 60, 2)
    model = MeanShift(bandwidth=h).fit(X)
    model.predict(X)
    child = multiprocessing.get_context("fork").Process(target=model.predict, args=(X,))
    with model._index_._lock:  # as another thread would hold it
        child.start()
    child.join(timeout=30)
    ended = child.exitcode
    child.kill()
    assert ended == 0
