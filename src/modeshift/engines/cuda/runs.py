"""One run of a schedule on a GPU."""

from typing import Any, NamedTuple

import numpy as np
import torch

from modeshift.engines.cpu.seeding import bin_seeds, drawn_rows, follow, given_starts, with_mass
from modeshift.engines.cuda.few_field import FewField
from modeshift.engines.cuda.field import DeviceField
from modeshift.engines.cuda.many_field import ManyField
from modeshift.engines.cuda.nearest_field import NearestField
from modeshift.engines.cuda.tiles import FEW, locality_order
from modeshift.engines.problem import Problem
from modeshift.engines.rule import Nearest
from modeshift.engines.schedules.blur import blur
from modeshift.engines.schedules.climb import climb
from modeshift.engines.schedules.outcome import Outcome
from modeshift.engines.schedules.stopping import LargestShift
from modeshift.engines.schedules.wander import Batches, negligible_shift, wander
from modeshift.spec import Blur, Climb, Spec
from modeshift.watching.watch import Watch

_BATCHES = 16  # batches in a stochastic sweep; see docs/gpu.md


class Sorted(NamedTuple):
    """A problem whose points are in the order of space.

    Attributes
    ----------
    problem : Problem
    numbers : Tensor of shape (n,)
        Original number of each row.
    seats : Tensor of shape (n,)
        Row of each original number.
    """

    problem: Problem
    numbers: torch.Tensor
    seats: torch.Tensor


def arrange(problem: Problem) -> Sorted:
    """Return the problem with its points in the order of space."""
    order = locality_order(problem.points)
    seats = torch.empty_like(order)
    seats[order] = torch.arange(len(order), device=order.device)
    arranged = problem._replace(points=problem.points[order], weights=problem.weights[order])
    return Sorted(arranged, order, seats)


def field_of(spec: Spec, arranged: Sorted) -> DeviceField:
    """Return the field for the rule and the number of features."""
    problem = arranged.problem
    precision = "fast" if spec.algorithm == "fast" else "exact"
    parts = (problem.points, problem.weights, problem.radius, problem.rule, precision)
    if isinstance(problem.rule, Nearest):
        return NearestField(*parts, arranged.numbers)
    return FewField(*parts) if problem.points.shape[1] <= FEW else ManyField(*parts)


def run(spec: Spec, arranged: Sorted, random_state: Any, watch: Watch) -> Outcome:
    """Run the schedule; return the outcome, in the order of the sorted points."""
    if isinstance(spec.schedule, Climb):
        return _climb(spec, spec.schedule, arranged, random_state, watch)
    field, tol = field_of(spec, arranged), spec.tol * arranged.problem.scale
    seats = arranged.seats
    watch.reorder(seats)
    if isinstance(spec.schedule, Blur):
        return blur(field, stop=LargestShift(tol), max_iter=spec.max_iter, watch=watch)

    def rows_of(numbers: np.ndarray) -> torch.Tensor:
        return seats[torch.from_numpy(numbers).to(seats.device)]

    batch_size = spec.schedule.batch_size or -(-len(seats) // _BATCHES)
    negligible = negligible_shift(tol, arranged.problem.scale)
    return wander(
        field,
        Batches(field, batch_size, tol, negligible, rows_of),
        tol=tol,
        patience=spec.schedule.patience,
        max_iter=spec.max_iter,
        random_state=random_state,
        verify=spec.schedule.verify,
        watch=watch,
    )


def _climb(
    spec: Spec, schedule: Climb, arranged: Sorted, random_state: Any, watch: Watch
) -> Outcome:
    problem, seats, seeding = arranged.problem, arranged.seats, schedule.seeding
    points, field = problem.points, field_of(spec, arranged)
    settings: dict[str, Any] = {
        "tol": spec.tol * problem.scale,
        "max_iter": spec.max_iter,
        "leaps": field if isinstance(field, FewField) else None,
    }
    if seeding is None or (isinstance(seeding, int) and seeding >= len(points)):
        watch.reorder(seats)
        return climb(field, points, **settings, watch=watch)
    if isinstance(seeding, int):
        rows = torch.from_numpy(drawn_rows(len(points), seeding, random_state)).to(seats.device)
        starts = points[seats[rows]]
        outcome = _climb_from(field, starts, watch, **settings)
        nearest = field.space.nearest_search(starts)(points)
        return outcome._replace(ends=outcome.ends[nearest])
    starts = _chosen_starts(seeding, field, problem._replace(points=points[seats]), seats)
    outcome = _climb_from(field, starts, watch, **settings, record=True)
    return follow(points, outcome, field.space)._replace(paths=None)


def _chosen_starts(
    seeding: Any, field: DeviceField, problem: Problem, seats: torch.Tensor
) -> torch.Tensor:
    """Return the starts that have mass. Bins are computed on the CPU, from all points."""
    if isinstance(seeding, str):
        points, weights = problem.points.double().cpu(), problem.weights[seats].cpu()
        starts = bin_seeds(points.numpy(), weights.numpy(), problem.radius)
    else:
        starts = given_starts(seeding, problem)
    return with_mass(problem.points.new_tensor(starts), field)


def _climb_from(field: DeviceField, starts: torch.Tensor, watch: Watch, **settings: Any) -> Outcome:
    """Climb in the order of space, so that blocks of places are small; put the ends back."""
    order = field.space.order_in_space(starts)
    back = torch.argsort(order)
    watch.reorder(back)
    outcome = climb(field, starts[order], **settings, watch=watch)
    paths = None if outcome.paths is None else [outcome.paths[k] for k in back.tolist()]
    return outcome._replace(ends=outcome.ends[back], paths=paths)
