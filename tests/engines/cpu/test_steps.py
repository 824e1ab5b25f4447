"""Steps of the stochastic schedule: all ways to take them are twins."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import GENERIC, WEIGHTS, assert_close, make_data, make_weights
from modeshift import StochasticMeanShift
from modeshift.engines.cpu.fields import make_field
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.parallel import Pace
from modeshift.engines.cpu.steps import CompiledSteps
from modeshift.engines.cpu.steps_ahead import StepsAhead
from modeshift.engines.rule import Flat, Gaussian, Sphere
from modeshift.engines.schedules.wander import Batches, Sweep, negligible_shift, wander
from twins.compare import fit_and_compare, make

PLAIN = Flat()


def run(steps_of, X, w, h, kind, record, rule=PLAIN, n_jobs=1, draw_radii=None):
    field = make_field(X, w, h, kind, n_jobs, rule)
    tol = 0.01 * h
    return wander(
        field,
        steps_of(field, tol, negligible_shift(tol, h)),
        tol=tol,
        patience=1.0,
        max_iter=30,
        random_state=np.random.RandomState(3),
        draw_radii=draw_radii,
        record=record,
    )


def assert_same_outcome(one, other, X, h):
    """The same sweeps, steps and end; the same positions and paths but for rounding."""
    assert one[1:4] == other[1:4]
    assert_close(one.ends, other.ends, X, h)
    assert (one.paths is None) == (other.paths is None)
    for path, expected in zip(one.paths or (), other.paths or (), strict=True):
        assert_close(path, expected, X, h)


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
    assert_same_outcome(compiled, plain, X, h)


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


@pytest.mark.product
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("ahead", [1, 9, 64, 500])
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (7, 2), (30, 2), (80, 2), (25, 5), (80, 5)])
@pytest.mark.parametrize("maker", GENERIC)
def test_steps_asked_together_are_those_one_after_the_other(
    maker, n, d, weights, size, ahead, n_jobs
):
    X, h = make_data(maker, n, d)
    w = np.ones(n) if weights is None else make_weights(weights, n)
    record = ahead == 9

    def outcome(steps_of):
        return run(steps_of, X, w, h, "tree", record, n_jobs=n_jobs)

    together = outcome(lambda field, *tols: StepsAhead(field, size, ahead, *tols))
    single = outcome(lambda field, *tols: CompiledSteps(field, size, *tols, record))
    assert_same_outcome(together, single, X, h)


@pytest.mark.parametrize("ahead", [1, 20, 200])
def test_steps_asked_together_keep_their_own_radii(ahead):
    X, h = make_data("clustered", 60, 2)

    def outcome(steps_of):
        def draw_radii(random_state):
            return random_state.uniform(0.3 * h, h, size=60)

        return run(steps_of, X, np.ones(60), h, "tree", True, draw_radii=draw_radii)

    together = outcome(lambda field, *tols: StepsAhead(field, 1, ahead, *tols))
    single = outcome(lambda field, *tols: CompiledSteps(field, 1, *tols, record=True))
    assert_same_outcome(together, single, X, h)


@pytest.mark.jit
@pytest.mark.parametrize("rule", [Flat(Sphere()), Gaussian()], ids=["sphere", "gaussian"])
def test_steps_of_any_rule_asked_together(rule):
    X, h = make_data("clustered", 60, 3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)

    def outcome(steps_of):
        return run(steps_of, X, np.ones(60), 0.3, "tree", True, rule)

    together = outcome(lambda field, *tols: StepsAhead(field, 1, 30, *tols))
    single = outcome(lambda field, *tols: CompiledSteps(field, 1, *tols, record=True))
    assert_same_outcome(together, single, X, h)


@pytest.mark.jit
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("d", [2, 5])
def test_blocks_of_steps_asked_together_are_steps_one_after_the_other(d, size):
    """Blocks sum the traces before them, on threads; points come several times."""
    X, h = make_data("clustered", 2500, d)

    def outcome(steps_of, n_jobs=1):
        return run(steps_of, X, np.ones(2500), h, "tree", False, n_jobs=n_jobs)

    def together(field, *tols):
        return StepsAhead(field, size, 700, *tols)

    one, three = outcome(together), outcome(together, n_jobs=3)
    assert_same_outcome(one, outcome(lambda f, *t: CompiledSteps(f, size, *t, False)), X, h)
    assert_array_equal(one.ends, three.ends)
    assert one[1:4] == three[1:4]


def test_sums_that_cancel_are_asked_again():
    """A heavy point leaves: the small mass that remains must not carry its rounding."""
    X = np.array([[0.0], [0.9], [1.8], [2.5]])
    w = np.array([1e-9, 1.0, 1e9, 1e-3])
    field = make_field(X, w, 1.0, "tree")
    run = Sweep(np.array([1, 0]), None, wanted=10)  # point 1 goes to 1.8, away from point 0
    steps = StepsAhead(field, 1, 2, 0.0, 0.0)
    steps.take(run, None)
    assert run.step == 1
    steps.take(run, None)
    assert run.step == 2
    assert field.points[0, 0] == 0.0


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("weights", [None, "zeros"])
def test_estimator_with_steps_asked_together(weights, n_jobs, monkeypatch):
    """Small data are fitted as large ones are."""
    monkeypatch.setattr("modeshift.engines.cpu.fields.tree._LARGE", 1)
    monkeypatch.setattr("modeshift.engines.cpu.fields.tree._AHEAD", 16)
    X, h = make_data("clustered", 80, 2)
    w = make_weights(weights, 80)
    fit_and_compare(make(StochasticMeanShift, h, algorithm="tree", n_jobs=n_jobs), X, w)


def test_large_data_are_asked_together_and_small_ones_one_by_one():
    assert make_field(np.zeros((1, 2)), np.ones(1), 1.0, "tree").ahead == 1
    large = np.random.default_rng(0).random((1 << 16, 2))
    assert TreeField(large, np.ones(len(large)), 0.01).ahead > 1
    assert TreeField(large, np.ones(len(large)), 0.01, rule=Gaussian()).ahead == 1


def test_the_pace_of_the_machine_changes_no_bit(monkeypatch):
    """A test of all points that ended sooner or later was followed by other roundings."""
    X = np.rint(np.random.default_rng(0).standard_cauchy((80, 33)))
    monkeypatch.setattr(Pace, "learn", lambda *_: None)
    ends = []
    for size in (1, 9, 80):
        monkeypatch.setattr(Pace.__init__, "__defaults__", (size, 0.05))
        estimator = StochasticMeanShift(bandwidth=30.0, kernel="gaussian", random_state=0)
        ends.append(estimator.fit(X).modes_)
    assert_array_equal(ends[1:], [ends[0]] * 2)
