"""Who moves, when, and over which positions: the three schedules over a field on a device.

They do what :mod:`modeshift.schedules` does, in tensors and for all that ask at once.
"""

import operator
from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import torch

from modeshift.gpu.clusters import add_up
from modeshift.gpu.field import DeviceField
from modeshift.schedules.collapse import COINCIDE, WORTH_IT
from modeshift.schedules.stochastic import ROUNDING, draw_order

Report = Callable[..., None]
"""Is told of a sweep by keywords; ``positions`` makes them on demand."""


class Outcome(NamedTuple):
    """Where the points ended, as :class:`modeshift.schedules.outcome.Outcome`, in tensors."""

    ends: torch.Tensor
    n_iter: int
    n_steps: int
    converged: bool


class Climbs(NamedTuple):
    """An outcome, and which starts had no mass within the radius."""

    outcome: Outcome
    lonely: torch.Tensor


def climb(
    field: DeviceField, starts: torch.Tensor, *, tol: float, max_iter: int, report: Report
) -> Climbs:
    """Repeat x <- mean of the field's points near x; who has shifted by <= tol leaves.

    So does a climb that meets another one, which it follows from there on.
    """
    positions = starts.clone()
    climbing = torch.arange(len(starts), device=starts.device)
    leaders = climbing.clone()
    steps = torch.zeros_like(climbing)
    lonely = torch.zeros(len(starts), dtype=torch.bool, device=starts.device)
    step = n_steps = 0
    while step < max_iter and len(climbing) > 0:
        answer = field.means_near(positions[climbing])
        if step == 0:
            lonely = answer.masses == 0
        positions[climbing] = answer.means
        step += 1
        n_steps += len(climbing)
        steps[climbing] = step
        onward = answer.squares > tol * tol
        climbing, means = climbing[onward], answer.means[onward]
        first, runs = _runs(means)
        leaders[climbing] = climbing[first][runs]
        climbing = climbing[first]
        report(
            sweep=step, n_steps=n_steps, n_moving=len(climbing),
            positions=lambda: positions[_followed(leaders)],
        )  # fmt: skip
    unfinished = len(climbing) > 0
    leaders = _followed(leaders)
    steps = steps[leaders]
    outcome = Outcome(positions[leaders], int(steps.max()), int(steps.sum()), not unfinished)
    return Climbs(outcome, lonely)


def _followed(leaders: torch.Tensor) -> torch.Tensor:
    """For each climb, the one that it follows in the end; itself, if it follows nobody."""
    while not torch.equal(leaders, further := leaders[leaders]):
        leaders = further
    return leaders


def _runs(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Find runs of equal rows: which row is the first of each, and the run of each row.

    Climbs that meet go on as one, and points that coincide. Only neighbours in the list are
    compared, which is in the order of space, so nearly all of them are found.
    """
    first = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    first[1:] = (rows[1:] != rows[:-1]).any(dim=1)
    return first, first.cumsum(dim=0) - 1


def blur(
    field: DeviceField, *, radius: float, tol: float, max_iter: int, report: Report
) -> Outcome:
    """Move every point to the mean near it, all at once, until the largest shift is <= tol.

    Points that coincide go on as one.
    """
    n = len(field.points)
    owners = torch.arange(n, device=field.points.device)
    sweep, converged = 0, False
    while sweep < max_iter and not converged:
        answer = field.means_near(field.points)
        sweep += 1
        n_moving = int((answer.squares > tol * tol)[owners].sum())
        converged = n_moving == 0
        points, weights = answer.means, field.weights
        first, runs = _runs(torch.round(points / (COINCIDE * radius)))
        if int(first.sum()) <= WORTH_IT * len(points):
            points, weights = points[first], add_up(weights, runs, int(runs[-1]) + 1)
            owners = runs[owners]
        field.put(points, weights)
        report(
            sweep=sweep, n_steps=n * sweep, n_moving=n_moving,
            positions=partial(operator.getitem, points, owners),
        )  # fmt: skip
    return Outcome(field.points[owners], sweep, n * sweep, converged)


def wander(
    field: DeviceField,
    seats: torch.Tensor,
    *,
    scale: float,
    tol: float,
    patience: float,
    max_iter: int,
    batch_size: int,
    random_state: Any,
    report: Report,
) -> Outcome:
    """Move one batch at a time until nobody would move further than tol.

    The draws are those of :func:`modeshift.schedules.stochastic.wander`. ``seats`` tells the row
    of the field that each of the points, which are drawn by their number, has.
    """
    n = len(field.points)
    wanted = ceil(patience * n)
    negligible = min(tol, ROUNDING * scale)
    size = min(batch_size, n)
    quiet = n_steps = 0
    for sweep in range(1, max_iter + 1):
        order = seats[torch.from_numpy(draw_order(random_state, n, batch_size)).to(seats.device)]
        n_loud = 0
        for rows in order.split(size):
            answer = field.means_near(field.points[rows])
            moving = answer.squares > negligible * negligible
            field.move(rows[moving], answer.means[moving])
            loud = (answer.squares > tol * tol).nonzero()[:, 0].cpu().numpy()
            n_steps += len(rows)
            n_loud += len(loud)
            quiet = _quiet_after(quiet, loud, len(rows))
            if quiet >= wanted:
                if field.is_quiet(tol):
                    return Outcome(field.points, sweep, n_steps, True)
                quiet = 0
        report(sweep=sweep, n_steps=n_steps, n_moving=n_loud, positions=field.points.clone)
    return Outcome(field.points, max_iter, n_steps, False)


def _quiet_after(quiet: int, loud: np.ndarray, n: int) -> int:
    """Length of the run of quiet steps after n more, of which some were loud."""
    return quiet + n if len(loud) == 0 else n - 1 - int(loud[-1])
