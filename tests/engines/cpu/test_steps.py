"""Batches of the stochastic schedule: the compiled loop and the one for any field are twins."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import assert_close, make_data, make_weights
from modeshift.engines.cpu.fields import make_field
from modeshift.engines.cpu.steps import CompiledSteps
from modeshift.engines.schedules.wander import Batches, negligible_shift, wander


def run(steps_of, X, w, h, kind, record):
    field = make_field(X, w, h, kind)
    tol = 0.01 * h
    return wander(
        field,
        steps_of(field, tol, negligible_shift(tol, h)),
        tol=tol,
        patience=1.0,
        max_iter=30,
        random_state=np.random.RandomState(3),
        record=record,
    )


@pytest.mark.product
@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("size", [2, 7, 60, 100])
@pytest.mark.parametrize(("maker", "weights"), [("clustered", None), ("duplicates", "zeros")])
def test_compiled_batches_are_those_of_any_field(maker, weights, size, record, field_kind):
    X, h = make_data(maker, 60, 2)
    w = np.ones(60) if weights is None else make_weights(weights, 60)
    compiled = run(
        lambda field, tol, negligible: CompiledSteps(field, size, tol, negligible, record),
        X, w, h, field_kind, record,
    )  # fmt: skip
    plain = run(
        lambda field, tol, negligible: Batches(field, size, tol, negligible),
        X, w, h, field_kind, record,
    )  # fmt: skip
    assert compiled[1:4] == plain[1:4]
    assert_close(compiled.ends, plain.ends, X, h)
    if record:
        for one, other in zip(compiled.paths, plain.paths, strict=True):
            assert_close(one, other, X, h)


def test_a_large_batch_is_taken_in_bites(monkeypatch):
    X, h = make_data("clustered", 80, 2)
    field = make_field(X, np.ones(80), h)
    steps = CompiledSteps(field, 80, 0.01 * h, 0.0, record=False)
    steps._pace.size = 9
    monkeypatch.setattr(steps._pace, "learn", lambda *_: None)
    other = make_field(X, np.ones(80), h)
    whole = CompiledSteps(other, 80, 0.01 * h, 0.0, record=False)
    for each, moved in ((steps, field), (whole, other)):
        wander(
            moved, each, tol=0.01 * h, patience=1.0, max_iter=1,
            random_state=np.random.RandomState(0),
        )  # fmt: skip
    assert_array_equal(field.points, other.points)
