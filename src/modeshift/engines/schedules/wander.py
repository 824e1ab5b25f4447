"""Algorithm 2 of the paper: random points move over the current positions and stay there."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol

import numpy as np

from modeshift.engines.schedules.field import BatchField
from modeshift.engines.schedules.outcome import Outcome, PathRecorder
from modeshift.watching.checkpoint import pack, unpack
from modeshift.watching.watch import UNWATCHED, Watch

ROUNDING = 2.0**-46
"""A shift below this share of the scale is rounding in the sums; the point stays."""


@dataclass
class Sweep:
    """State of a run.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Points that move in this sweep, in this order.
    radii : ndarray of shape (n,), or None
        Radius of each step, if the bandwidth is a pair.
    wanted : int
        Number of quiet steps in a row after which all points are tested.
    number : int
        Number of sweeps, the current one included.
    step : int
        Number of steps taken in this sweep.
    quiet : int
        Length of the current run of quiet steps.
    loud : int
        Number of steps in this sweep that were not quiet.
    """

    order: np.ndarray
    radii: np.ndarray | None
    wanted: int
    number: int = 0
    step: int = 0
    quiet: int = 0
    loud: int = 0

    def count(self, loud: np.ndarray) -> None:
        """Count further steps; the mask says which of them were loud."""
        n, which = len(loud), np.flatnonzero(loud)
        self.step += n
        self.loud += len(which)
        self.quiet = self.quiet + n if len(which) == 0 else n - 1 - int(which[-1])

    @property
    def n_steps(self) -> int:
        """Number of steps in all sweeps."""
        return (self.number - 1) * len(self.order) + self.step


def draw_order(random_state: Any, n: int, batch_size: int) -> np.ndarray:
    """Draw the points that move in a sweep. No point is in a batch twice."""
    if batch_size == 1:
        return random_state.randint(n, size=n)
    return random_state.permutation(n)


class Steps(Protocol):
    """Takes the steps of a sweep, some at a time, over the current positions."""

    batch_size: int

    def take(self, run: Sweep, recorder: PathRecorder | None) -> None:
        """Take the next steps of the sweep and count them in ``run``; stop between two batches."""
        ...


def wander(
    field: BatchField,
    steps: Steps,
    *,
    tol: float,
    patience: float,
    max_iter: int,
    random_state: Any,
    draw_radii: Callable[[Any], np.ndarray] | None = None,
    verify: bool = True,
    record: bool = False,
    watch: Watch = UNWATCHED,
) -> Outcome:
    """Move random points over the current positions until no point would move further than tol.

    The order of the draws is a promise to users (docs/algorithms.md): per sweep, the n points that
    move and then, only when the bandwidth is a pair, the n radii. Single points are drawn with
    replacement; larger batches are cut from a permutation.

    Parameters
    ----------
    field : BatchField
        Changed in place.
    steps : Steps
        Takes the steps: :class:`Batches`, or a compiled loop for single points.
    tol : float
        A step no longer than this is quiet.
    patience : float
        After ``ceil(patience * n)`` quiet steps in a row all points are tested.
    max_iter : int
        Sweeps of n steps.
    random_state : RandomState
    draw_radii : function, optional
        Draws the n radii of a sweep from the random state.
    verify : bool
        False ends the run after the quiet steps, without the test of all points, as the paper
        literally says. Points that were rarely chosen may then stop early.
    """
    n = len(field.points)
    wanted = ceil(patience * n)
    recorder = PathRecorder(field.space, field.points) if record else None
    run = Sweep(np.arange(n), None if draw_radii is None else np.zeros(n), wanted, step=n)
    parts = {"run": run, "field": field.state, "random": random_state, "recorder": recorder}

    def restore(saved: dict[str, np.ndarray]) -> None:
        unpack(saved, **parts)
        field.follow_state()

    watch.begin(lambda: pack(**parts), restore)
    while True:
        if run.quiet >= wanted:
            if not verify or field.is_quiet(tol):
                return _outcome(field, run, True, recorder)
            run.quiet = 0
        if run.step == n:
            if run.number > 0:
                watch.swept(
                    sweep=run.number,
                    n_steps=run.n_steps,
                    n_moving=run.loud,
                    positions=lambda: field.space.copy(field.points),
                )
            if run.number == max_iter:
                return _outcome(field, run, False, recorder)
        with watch.steady():
            if run.step == n:
                run.order = draw_order(random_state, n, steps.batch_size)
                if draw_radii is not None:
                    run.radii = draw_radii(random_state)
                run.number, run.step, run.loud = run.number + 1, 0, 0
            steps.take(run, recorder)
        watch.beat()


class Batches:
    """Steps in batches: the means of a batch are computed first, then all its points move.

    All steps have the radius of the field, so the bandwidth must not be a pair.

    Parameters
    ----------
    field : BatchField
    batch_size : int
        Number of points that move at the same time.
    tol, negligible : float
        A step of at most ``tol`` is quiet. A step of at most ``negligible`` is not made.
    rows_of : function, optional
        Returns the rows in the field of points that are given by their numbers.
    """

    def __init__(
        self,
        field: BatchField,
        batch_size: int,
        tol: float,
        negligible: float,
        rows_of: Callable[[np.ndarray], Any] = lambda numbers: numbers,
    ) -> None:
        self.field = field
        self.batch_size = batch_size
        self.tol = tol
        self.negligible = negligible
        self.rows_of = rows_of

    def take(self, run: Sweep, recorder: PathRecorder | None) -> None:
        """Move one batch."""
        field, part = self.field, slice(run.step, run.step + self.batch_size)
        rows = self.rows_of(run.order[part])
        answer = field.means_near(field.points[rows])
        moving = answer.squares > self.negligible * self.negligible
        field.move_points(rows[moving], answer.means[moving])
        if recorder is not None:
            recorder.add(rows, answer.means)
        run.count(field.space.to_numpy(answer.squares > self.tol * self.tol))


def negligible_shift(tol: float, scale: float) -> float:
    """Return the length up to which a shift is rounding, so that the point stays."""
    return min(tol, ROUNDING * scale)


def _outcome(
    field: BatchField, run: Sweep, converged: bool, recorder: PathRecorder | None
) -> Outcome:
    paths = None if recorder is None else recorder.paths()
    return Outcome(field.points, run.number, run.n_steps, converged, paths)
