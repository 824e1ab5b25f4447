"""The one table of parameters, and what follows from it: every two options work or are refused."""

import inspect
import re
import runpy
import warnings
from itertools import combinations
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from conftest import MISSING
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.parameters import (
    CONFLICTS,
    ENGINES,
    PARAMETERS,
    check_values,
    names_where,
    refusal_by,
)

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
ANGLES = 2 * np.pi / 3 * np.arange(24)
X = 2.0 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
X += 0.03 * np.random.default_rng(3).normal(size=X.shape)

EXAMPLES = {
    "bandwidth": None,
    "kernel": "gaussian",
    "metric": "cosine",
    "n_neighbors": 7,
    "stop": "entropy",
    "tol": 0.02,
    "merge_radius": 0.4,
    "patience": 0.5,
    "batch_size": 5,
    "max_iter": 60,
    "feature_weights": "learned",
    "weight_temperature": 2.0,
    "min_cluster_size": 3,
    "strays": "nearest",
    "seeding": "bins",
    "n_climbers": 9,
    "resolution": 3.0,
    "field": "brute",
    "n_jobs": 2,
    "device": "cuda",
    "precision": "fast",
    "n_runs": 2,
    "random_state": 0,
    "record": True,
    "callback": lambda progress: None,
    "checkpoint": "fit.checkpoint",
    "checkpoint_every": 5.0,
}
"""A value of each parameter that is not its default."""


def parameters_of(kind):
    return list(inspect.signature(kind).parameters)


PAIRS = [(kind, *pair) for kind in ESTIMATORS for pair in combinations(parameters_of(kind), 2)]


def test_the_table_has_every_parameter_and_no_other():
    used = {name for kind in ESTIMATORS for name in parameters_of(kind)}
    assert used == set(PARAMETERS) == set(EXAMPLES)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_defaults_are_off_and_examples_are_not(kind):
    for name, default in kind().get_params().items():
        row = PARAMETERS[name]
        row.check(name, default)
        assert not row.is_used(default), name
        assert row.is_used(EXAMPLES[name]) or not row.refusals or name == "bandwidth"


def test_every_refusal_is_by_an_engine_and_says_why():
    for name, row in PARAMETERS.items():
        for refusal in row.refusals:
            assert refusal.engine in ENGINES
            assert refusal.why, name


def test_conflicts_name_parameters_of_one_estimator():
    for conflict in CONFLICTS:
        assert any({conflict.name, conflict.other} <= set(parameters_of(k)) for k in ESTIMATORS)


def make(kind, *names):
    """An estimator with these options on, small enough for the interpreter of Triton."""
    parameters = {"bandwidth": 0.3, "max_iter": 40, "random_state": 0}
    parameters |= {name: EXAMPLES[name] for name in names}
    if "feature_weights" in parameters_of(kind) and "weight_temperature" in names:
        parameters["feature_weights"] = "learned"
    known = parameters_of(kind)
    return kind(**{name: value for name, value in parameters.items() if name in known})


def expected_refusal(estimator, engine):
    """What the table says: None, or the words that the error must have."""
    values = estimator.get_params(deep=False)
    try:
        check_values(values)
    except ValueError as error:
        return str(error)
    refused = refusal_by(engine, values)
    return None if refused is None else refused[1]


def fit_or_refuse(estimator, data, engine):
    """Fit, and see that it is refused just where the table says so, in the table's words."""
    refused = expected_refusal(estimator, engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if refused is None:
            return estimator.fit(data)
        with pytest.raises(ValueError, match=re.escape(refused)):
            estimator.fit(data)
    assert [name for name in vars(estimator) if name.endswith("_")] == []
    return None


@pytest.mark.jit
@pytest.mark.parametrize(("kind", "first", "second"), PAIRS)
def test_two_options(kind, first, second, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    estimator = make(kind, first, second)
    if estimator.device == "cuda" and MISSING:
        pytest.skip("no PyTorch here")
    engine = "cuda" if estimator.device == "cuda" else "cpu"
    fitted = fit_or_refuse(estimator, X, engine)
    if fitted is not None:
        assert len(fitted.labels_) == len(X)
        assert not Path("fit.checkpoint").exists()
        np.testing.assert_array_equal(fitted.predict(X[:4]), fitted.predict(X)[:4])


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["cells", "rounds"])
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ESTIMATORS for name in parameters_of(kind)]
)
def test_options_of_dask_data(kind, name, engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    estimator = make(kind, name)
    estimator.set_params(resolution=4.0 if engine == "cells" else None)
    if kind is StochasticMeanShift and name != "batch_size":
        estimator.set_params(batch_size=None if engine == "cells" else 6)
    fitted = fit_or_refuse(estimator, da.from_array(X, chunks=(10, 2)), engine)
    if fitted is not None:
        assert len(fitted.labels_.compute()) == len(X)


@pytest.mark.skipif(bool(MISSING), reason="no PyTorch here")
@pytest.mark.parametrize("name", sorted(set(parameters_of(StochasticMeanShift)) - {"device"}))
def test_auto_takes_the_gpu_just_where_nothing_is_refused(name):
    from modeshift.engines.choose import choose_engine

    estimator = make(StochasticMeanShift, name).set_params(device="auto")
    values = estimator.get_params(deep=False)
    expected = "cuda" if refusal_by("cuda", values) is None else "cpu"
    assert choose_engine(values, X).name == expected


def test_the_documentation_is_what_the_table_says():
    docs = Path(__file__).parents[1] / "docs"
    page = runpy.run_path(str(docs / "engines.py"))["page"]()
    assert (docs / "engines.md").read_text(encoding="utf-8") == page  # else: make manual


def test_names_by_flag():
    assert names_where(only_while_fitting=True) == {"callback", "checkpoint", "checkpoint_every"}
    assert "n_jobs" not in names_where(changes_result=True)
