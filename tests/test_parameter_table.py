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

from helpers import MISSING, ROOT
from modeshift import BlurringMeanShift, Checkpoint, Consensus, MeanShift, StochasticMeanShift
from modeshift.engines.choose import choose_engine
from modeshift.estimators.base import checkpoint_of
from modeshift.parameters import (
    CONFLICTS,
    ENGINES,
    PARAMETERS,
    check_each,
    check_together,
    names_where,
    refusal_by,
)

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
ANGLES = 2 * np.pi / 3 * np.arange(24)
X = 2.0 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
X += 0.03 * np.random.default_rng(3).normal(size=X.shape)

EXAMPLES = {
    "bandwidth": (None,),
    "kernel": ("gaussian",),
    "metric": ("cosine",),
    "n_neighbors": (7,),
    "stop": ("entropy",),
    "tol": (0.02,),
    "merge_radius": (0.4,),
    "patience": (0.5,),
    "batch_size": (5,),
    "max_iter": (60,),
    "feature_weights": (2.0,),
    "n_clusters": (1,),
    "significance": (0.01,),
    "feature_scale": ((1.0, 1.0),),
    "min_cluster_size": (3,),
    "strays": ("nearest",),
    "seeding": ("bins", 9),
    "resolution": (3.0,),
    "algorithm": ("brute", "fast"),
    "n_jobs": (2,),
    "device": ("cuda",),
    "random_state": (0,),
    "record": (True,),
    "checkpoint": (Checkpoint("fit.checkpoint", every=0.0),),
}
"""Values of each row that are not its default. A checkpoint is set by set_callbacks."""


def parameters_of(kind):
    return list(inspect.signature(kind).parameters)


def options_of(kind):
    """Every parameter, and whatever else is set, each with its examples."""
    names = [*parameters_of(kind), *sorted(names_where(in_signature=False))]
    return [(name, value) for name in names for value in EXAMPLES[name]]


def label(option):
    return "=".join(map(str, option)) if isinstance(option, tuple) else option.__name__


PAIRS = [
    (kind, *pair)
    for kind in ESTIMATORS
    for pair in combinations(options_of(kind), 2)
    if pair[0][0] != pair[1][0]
]
SINGLES = [(kind, option) for kind in ESTIMATORS for option in options_of(kind)]
SEEDED = [(kind, option) for kind, option in SINGLES if "random_state" in parameters_of(kind)]


def test_the_table_has_every_parameter_and_no_other():
    used = {name for kind in ESTIMATORS for name in parameters_of(kind)}
    assert used == names_where(in_signature=True)
    assert set(PARAMETERS) == set(EXAMPLES)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_defaults_are_off_and_examples_are_not(kind):
    for name, default in kind().get_params().items():
        row = PARAMETERS[name]
        row.check(name, default)
        assert not row.is_used(default), name
        for value in EXAMPLES[name]:
            assert row.is_used(value) or not row.refusals or name == "bandwidth"


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_there_are_few_parameters(kind):
    assert len(parameters_of(kind)) <= 20


def test_every_refusal_is_by_an_engine_and_says_why():
    for name, row in PARAMETERS.items():
        for refusal in row.refusals:
            assert refusal.engine in ENGINES
            assert refusal.why, name


def test_conflicts_name_parameters_of_one_estimator():
    for conflict in CONFLICTS:
        assert any({conflict.name, conflict.other} <= set(parameters_of(k)) for k in ESTIMATORS)


def make(kind, *options):
    """An estimator with these options on, small enough for the interpreter of Triton."""
    parameters = {"bandwidth": 0.3, "max_iter": 40, "random_state": 0, **dict(options)}
    if "device" in parameters:
        parameters.setdefault("batch_size", 12)
    checkpoint = parameters.pop("checkpoint", None)
    known = parameters_of(kind)
    made = kind(**{name: value for name, value in parameters.items() if name in known})
    return made.set_callbacks(SEEN.append, *([] if checkpoint is None else [checkpoint]))


SEEN = []


@pytest.fixture(autouse=True)
def nothing_seen(tmp_path, monkeypatch):
    """A folder for the checkpoint, and no progress yet."""
    monkeypatch.chdir(tmp_path)
    SEEN.clear()


def values_of(estimator):
    return estimator.get_params(deep=False) | {"checkpoint": checkpoint_of(estimator)}


def expected_refusal(estimator, engine):
    """What the table says: None, or the words that the error must have."""
    values = values_of(estimator)
    try:
        check_together(check_each(values))
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
@pytest.mark.parametrize(("kind", "first", "second"), PAIRS, ids=label)
def test_two_options(kind, first, second):
    estimator = make(kind, first, second)
    if estimator.device == "cuda" and MISSING:
        pytest.skip("no PyTorch here")
    engine = "cuda" if estimator.device == "cuda" else "cpu"
    fitted = fit_or_refuse(estimator, X, engine)
    assert not Path("fit.checkpoint").exists()
    assert bool(SEEN) == (fitted is not None)
    if fitted is not None:
        assert len(fitted.labels_) == len(X)
        np.testing.assert_array_equal(fitted.predict(X[:4]), fitted.predict(X)[:4])


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["cells", "rounds"])
@pytest.mark.parametrize(("kind", "option"), SINGLES, ids=label)
def test_options_of_dask_data(kind, option, engine):
    estimator = make(kind, option)
    estimator.set_params(resolution=4.0 if engine == "cells" else None)
    if kind is StochasticMeanShift and option[0] != "batch_size":
        estimator.set_params(batch_size=None if engine == "cells" else 6)
    fitted = fit_or_refuse(estimator, da.from_array(X, chunks=(10, 2)), engine)
    assert bool(SEEN) == (fitted is not None)
    if fitted is not None:
        assert len(fitted.labels_.compute()) == len(X)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("kind", "option"),
    [(kind, option) for kind, option in SINGLES if "random_state" in parameters_of(kind)],
    ids=label,
)
def test_runs_of_every_option_vote_or_are_refused_as_one_run_is(kind, option):
    estimator = make(kind, option)
    if estimator.device == "cuda" and MISSING:
        pytest.skip("no PyTorch here")
    joined = Consensus(estimator, n_runs=2, random_state=0)
    engine = "cuda" if estimator.device == "cuda" else "cpu"
    refused = expected_refusal(estimator, engine)
    if option[0] == "checkpoint":
        refused = "n_runs=2 and a Checkpoint do not go together"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if refused is not None:
            with pytest.raises(ValueError, match=re.escape(refused)):
                joined.fit(X)
            return
        joined.fit(X)
    assert [state.sweep for state in SEEN].count(1) == 2
    assert joined.labels_.shape == joined.confidence_.shape == (len(X),)
    assert joined.engine_ == engine
    np.testing.assert_array_equal(joined.predict(X[:4]), joined.predict(X)[:4])


@pytest.mark.skipif(bool(MISSING), reason="no PyTorch here")
@pytest.mark.parametrize(
    "option",
    [option for option in options_of(StochasticMeanShift) if option[0] != "device"],
    ids=label,
)
def test_auto_takes_the_gpu_just_where_nothing_is_refused(option):
    estimator = make(StochasticMeanShift, option).set_params(device="auto")
    values = values_of(estimator)
    expected = "cuda" if refusal_by("cuda", values) is None else "cpu"
    assert choose_engine(values, X).name == expected


def test_the_documentation_is_what_the_table_says():
    docs = ROOT / "docs"
    page = runpy.run_path(str(docs / "engines.py"))["page"]()
    assert (docs / "engines.md").read_text(encoding="utf-8") == page  # else: make manual


def test_names_by_flag():
    assert names_where(in_signature=False) == {"checkpoint"}
    assert "n_jobs" not in names_where(changes_result=True)
