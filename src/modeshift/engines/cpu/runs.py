"""One run of a schedule on the CPU."""

from typing import Any

import numpy as np

from modeshift.engines.cpu.fields import Field, make_field
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.seeding import drawn_rows, follow, starts_of
from modeshift.engines.cpu.steps import CompiledSteps
from modeshift.engines.cpu.steps_ahead import StepsAhead
from modeshift.engines.problem import Problem
from modeshift.engines.schedules.blur import blur
from modeshift.engines.schedules.climb import climb
from modeshift.engines.schedules.feature_weights import FeatureWeights
from modeshift.engines.schedules.outcome import Outcome
from modeshift.engines.schedules.stopping import LargestShift, ShiftEntropy
from modeshift.engines.schedules.wander import Steps, negligible_shift, wander
from modeshift.spec import Blur, Climb, Spec
from modeshift.watching.watch import Watch


def run(spec: Spec, problem: Problem, random_state: Any, watch: Watch) -> Outcome:
    """Run the schedule; return the outcome, with one end for each point."""
    if isinstance(spec.schedule, Climb):
        return _climb(spec, spec.schedule, problem, random_state, watch)
    if isinstance(spec.schedule, Blur):
        return _blur(spec, spec.schedule, problem, watch)
    return _wander(spec, problem, random_state, watch)


def field_of(spec: Spec, problem: Problem) -> Field:
    """Build the field of a problem."""
    return make_field(
        problem.measured(problem.points), problem.weights, problem.radius,
        spec.algorithm, spec.n_threads, problem.rule,
    )  # fmt: skip


def _climb(
    spec: Spec, schedule: Climb, problem: Problem, random_state: Any, watch: Watch
) -> Outcome:
    field, points = field_of(spec, problem), problem.points
    field.stand_still()
    settings: dict[str, Any] = {
        "tol": spec.tol * problem.scale,
        "max_iter": spec.max_iter,
        "watch": watch,
    }
    if isinstance(schedule.seeding, int) and schedule.seeding < len(points):
        starts = points[drawn_rows(len(points), schedule.seeding, random_state)]
        outcome = climb(field, starts, **settings, record=spec.record)
        nearest = field.space.nearest_search(starts)(points)
        return outcome._replace(ends=outcome.ends[nearest])
    if schedule.seeding is None or isinstance(schedule.seeding, int):
        return climb(field, points, **settings, record=spec.record)
    starts = starts_of(schedule.seeding, field, problem)
    outcome = climb(field, starts, **settings, record=True)
    outcome = follow(points, outcome, field.space)
    return outcome if spec.record else outcome._replace(paths=None)


def _blur(spec: Spec, schedule: Blur, problem: Problem, watch: Watch) -> Outcome:
    metric = None
    if schedule.temperature is not None:
        metric = FeatureWeights(
            problem.points, problem.weights, schedule.temperature, problem.exponent
        )
        problem = problem._replace(factors=metric.factors)
    rule = ShiftEntropy if schedule.stop == "entropy" else LargestShift
    return blur(
        field_of(spec, problem),
        stop=rule(spec.tol * problem.scale),
        max_iter=spec.max_iter,
        metric=metric,
        record=spec.record,
        watch=watch,
    )


def _wander(spec: Spec, problem: Problem, random_state: Any, watch: Watch) -> Outcome:
    schedule: Any = spec.schedule

    def draw_radii(rng: np.random.RandomState) -> np.ndarray:
        low, high = spec.bandwidth
        drawn = rng.uniform(low, high, size=len(problem.points))
        return np.ldexp(spec.as_length(drawn), -problem.exponent)

    field, tol = field_of(spec, problem), spec.tol * problem.scale
    negligible = negligible_shift(tol, problem.scale)
    return wander(
        field,
        _steps_over(field, schedule.batch_size or 1, tol, negligible, spec.record),
        tol=tol,
        patience=schedule.patience,
        max_iter=spec.max_iter,
        random_state=random_state,
        draw_radii=draw_radii if isinstance(spec.bandwidth, tuple) else None,
        verify=schedule.verify,
        record=spec.record,
        watch=watch,
    )


def _steps_over(
    field: Field, batch_size: int, tol: float, negligible: float, record: bool
) -> Steps:
    if isinstance(field, TreeField) and field.ahead > 1:
        return StepsAhead(field, batch_size, field.ahead, tol, negligible)
    return CompiledSteps(field, batch_size, tol, negligible, record)
