"""Saved estimators: they come back, from files of every format that was ever released."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

import modeshift
from modeshift import BlurringMeanShift, Checkpoint, Consensus, MeanShift, StochasticMeanShift
from modeshift.cli.model import save_model
from modeshift.datasets import make_paper_set
from modeshift.estimators.saving import (
    ESTIMATORS,
    REGISTER,
    SavedEstimator,
    from_plain,
    to_plain,
)
from modeshift.io import models
from modeshift.io.prepare import Preparation
from modeshift.paper.literal import LiteralStochasticMeanShift

X, _ = make_paper_set(1, scale=0.2, random_state=0)
NEW = X[::2] + 0.1

CASES = {
    "alone": MeanShift(bandwidth=0.9),
    "seeds": MeanShift(bandwidth=0.9, seeding=X[::9]),
    "climbers": MeanShift(bandwidth=0.9, seeding=20, random_state=0),
    "nearest": MeanShift(bandwidth=np.inf, n_neighbors=9, metric="cosine"),
    "noise": MeanShift(bandwidth=0.4, min_cluster_size=5, strays="nearest"),
    "one at a time": StochasticMeanShift(bandwidth=(0.5, 1.2), random_state=0),
    "watched": StochasticMeanShift(kernel="gaussian", random_state=0).set_callbacks(repr),
    "generator": StochasticMeanShift(bandwidth=0.9, random_state=np.random.RandomState(0)),
    "all at once": BlurringMeanShift(bandwidth=0.9, resolution=4, record=True),
    "learned": BlurringMeanShift(bandwidth=0.6, feature_weights="learned"),
    "votes": Consensus(StochasticMeanShift(bandwidth=0.9), n_runs=3, random_state=0),
    "votes by default": Consensus(n_runs=2, random_state=0),
    "votes with noise": Consensus(
        MeanShift(bandwidth=0.4, seeding=30, min_cluster_size=5), n_runs=3, random_state=0
    ),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def same_parameters(again, estimator):
    expected = clone(estimator)
    if isinstance(expected.get_params().get("random_state"), np.random.RandomState):
        expected.set_params(random_state=None)
    return repr(again) == repr(expected)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_estimators_come_back(name, dtype, path):
    estimator = clone(CASES[name]).fit(X.astype(dtype))
    predicted = estimator.predict(NEW)  # and builds an index, which no file holds
    assert modeshift.save(estimator, path) is None
    again = modeshift.load(str(path))
    assert type(again) is type(estimator)
    assert same_parameters(again, estimator)
    fitted = {key for key in vars(estimator) if key.endswith("_") and not key.startswith("_")}
    for attribute in fitted - {"paths_", "profile_", "estimator_"}:
        assert_array_equal(getattr(again, attribute), getattr(estimator, attribute))
    assert again.modes_.dtype == dtype
    assert_array_equal(again.predict(NEW), predicted)
    assert not hasattr(again, "paths_")


@pytest.mark.parametrize("name", CASES)
def test_a_saved_estimator_can_be_saved_and_fitted_again(name, path):
    estimator = clone(CASES[name]).fit(X)
    modeshift.save(estimator, path)
    again = modeshift.load(path)
    modeshift.save(again, path)
    assert_array_equal(modeshift.load(path).predict(NEW), estimator.predict(NEW))
    if name != "generator":
        assert_array_equal(again.fit(X).labels_, estimator.labels_)


@pytest.mark.parametrize("name", CASES)
def test_estimators_without_a_fit_come_back(name, path):
    modeshift.save(clone(CASES[name]), path)
    again = modeshift.load(path)
    assert same_parameters(again, CASES[name])
    with pytest.raises(NotFittedError):
        again.predict(NEW)


@pytest.mark.parametrize("name", ["alone", "votes"])
def test_names_of_features_are_kept(name, path):
    frame = pd.DataFrame(X, columns=["x", "y"])
    estimator = clone(CASES[name]).fit(frame)
    modeshift.save(estimator, path)
    again = modeshift.load(path)
    assert again.feature_names_in_.tolist() == ["x", "y"]
    assert_array_equal(again.predict(frame), estimator.predict(frame))
    with pytest.raises(ValueError, match="X must have the columns of the fit"):
        again.predict(frame[["y", "x"]])


def test_callbacks_are_left_out(path, tmp_path):
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint")
    modeshift.save(MeanShift(bandwidth=0.9).set_callbacks(print, checkpoint).fit(X), path)
    assert modeshift.load(path)._callbacks == ()


def test_every_estimator_of_the_package_has_a_name_in_files():
    public = {getattr(modeshift, name) for name in modeshift.__all__}
    assert set(ESTIMATORS.values()) == {each for each in public if hasattr(each, "fit")}
    assert len(set(REGISTER.values())) == len(REGISTER)


@pytest.mark.parametrize(
    "estimator",
    [LiteralStochasticMeanShift(), KMeans(), Consensus(KMeans(1), n_runs=2).fit(X), None],
    ids=lambda estimator: type(estimator).__name__,
)
def test_other_estimators_are_not_saved(estimator, path):
    with pytest.raises(TypeError, match=r"estimator must be one of MeanShift, .* got "):
        modeshift.save(estimator, path)
    assert list(path.parent.iterdir()) == []


def test_a_failed_save_keeps_the_old_file(path):
    modeshift.save(MeanShift(bandwidth=0.9).fit(X), path)
    content = path.read_bytes()
    with pytest.raises(TypeError, match="cannot be saved"):
        modeshift.save(MeanShift(bandwidth=0.9, seeding={1}), path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


# Other files


@pytest.mark.parametrize("damage", [lambda c: c[:-50], lambda c: c[: len(c) // 2], lambda c: b""])
def test_damaged_files_are_refused(damage, path):
    modeshift.save(MeanShift(bandwidth=0.9).fit(X), path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="cannot be loaded: "):
        modeshift.load(path)


def test_files_with_something_else_are_refused(path):
    with path.open("wb") as file:
        models.save(file, {"it": 1}, REGISTER)
    with pytest.raises(
        ValueError, match=r"cannot be loaded: it was not written by modeshift\.save"
    ):
        modeshift.load(path)


def test_a_model_of_the_command_is_for_the_command(path):
    estimator = MeanShift(bandwidth=0.9).fit(X)
    with path.open("wb") as file:
        save_model(file, estimator, Preparation(["x", "y"], None, None))
    with pytest.raises(
        ValueError, match=r"written by modeshift cluster\. Use it with modeshift predict"
    ):
        modeshift.load(path)


@pytest.mark.parametrize(
    ("kind", "parameters"), [("datasets", {}), ("__import__", {}), ("MeanShift", {"colour": 1})]
)
def test_nothing_but_estimators_is_made_of_a_file(kind, parameters, path):
    words = f"modeshift has no estimator '{kind}'|saved parameters do not fit {kind}"
    with pytest.raises(ValueError, match=words):
        from_plain(SavedEstimator(kind, parameters, {}))
    with path.open("wb") as file:
        models.save(file, SavedEstimator(kind, parameters, {}), REGISTER)
    with pytest.raises(ValueError, match=f"cannot be loaded: .*({words})"):
        modeshift.load(path)


def test_estimators_inside_larger_files(path):
    estimator = MeanShift(bandwidth=0.9).fit(X)
    with path.open("wb") as file:
        models.save(file, {"it": to_plain(estimator), "more": [1.5, (None, "é")]}, REGISTER)
    content = models.load(path, REGISTER)
    assert content["more"] == [1.5, (None, "é")]
    assert_array_equal(from_plain(content["it"]).predict(NEW), estimator.predict(NEW))


# Files that are kept

SAVED = Path(__file__).parent / "saved"
LINE = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3, 5.0, 10.0, 10.1, 10.2], "y": 1.0})
KEPT = {
    "mean_shift": MeanShift(bandwidth=1.0, min_cluster_size=2, seeding=LINE.to_numpy()[::2]),
    "nearest": MeanShift(bandwidth=np.inf, n_neighbors=3),
    "cosine": StochasticMeanShift(bandwidth=0.1, metric="cosine", random_state=0),
    "blurring": BlurringMeanShift(bandwidth=1.0, kernel="gaussian", feature_weights=2.0),
    "cells": MeanShift(bandwidth=1.0, resolution=2),
    "consensus": Consensus(StochasticMeanShift(bandwidth=1.0), n_runs=2, random_state=0),
}
"""What was saved, and is never changed: a new format gets new files beside the old ones.

They were made, once for a format, from the root of the repository with

    for name, estimator in KEPT.items():
        modeshift.save(estimator.fit(LINE), SAVED / f"{name}.format{models.FORMAT}.npz")
"""

LABELS = {
    "mean_shift": [0, 0, 0, 0, -1, 1, 1, 1],
    "nearest": [2, 2, 0, 0, 0, 1, 1, 1],
    "cosine": [0, 0, 0, 0, 1, 1, 1, 1],
    "blurring": [0, 0, 0, 0, 0, 1, 1, 1],
    "cells": [0, 0, 0, 0, 2, 1, 1, 1],
    "consensus": [0, 0, 0, 0, 2, 1, 1, 1],
}
FILES = sorted(SAVED.glob("*.npz"))


def test_a_file_of_the_present_format_is_kept():
    kept = {file.name for file in FILES}
    assert kept >= {f"{name}.format{models.FORMAT}.npz" for name in KEPT}
    assert sum(file.stat().st_size for file in FILES) < 60_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_kept_files_load_for_ever(file):
    name = file.name.split(".")[0]
    model = modeshift.load(file)
    assert type(model) is type(KEPT[name])
    assert model.feature_names_in_.tolist() == ["x", "y"]
    assert_array_equal(model.labels_, LABELS[name])
    assert_array_equal(model.predict(LINE), LABELS[name])
    for parameter, value in KEPT[name].get_params(deep=False).items():
        if parameter not in ("seeding", "estimator"):
            assert getattr(model, parameter) == value, parameter


def test_other_npz_files_are_no_models(path):
    np.savez(path, X=X)
    with pytest.raises(ValueError, match="cannot be loaded: it is no saved model"):
        modeshift.load(path)
