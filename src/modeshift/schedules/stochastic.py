"""Algorithm 2 of the paper: one random point, one step over the current positions, and it stays."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np

from modeshift._jit import bare_kernel
from modeshift.checkpoint import pack, unpack
from modeshift.fields import Field
from modeshift.fields.distance import squared_distance
from modeshift.fields.protocol import mean_of, move, wants_care
from modeshift.parallel import Pace
from modeshift.schedules.outcome import Outcome, PathRecorder
from modeshift.watch import UNWATCHED, Watch

ROUNDING = 2.0**-46
"""A shift by less than this share of the bandwidth is rounding in the sums: nobody moves for it."""


@dataclass
class _Run:
    """How far a run is.

    Attributes
    ----------
    order, radii : ndarray of shape (n,)
        Who moves in this sweep, and how far each looks.
    trail : ndarray
        Means and squared shifts of the last steps.
    sweep : int
        Sweeps begun.
    step : int
        Steps of this sweep that were taken.
    quiet : int
        Length of the present run of quiet steps.
    loud : int
        Steps of this sweep that were not quiet.
    """

    order: np.ndarray
    radii: np.ndarray
    trail: np.ndarray
    sweep: int = 0
    step: int = 0
    quiet: int = 0
    loud: int = 0


@bare_kernel
def _take_steps(
    state, order, radii, start, stop, size, tol, negligible, quiet, loud, patience, out, trail
):  # fmt: skip
    """Take the steps start..stop of a sweep, in batches of ``size`` steps.

    The points of a batch ask over the same positions; when all have asked they move. The steps are
    fewer when, at the end of a batch, ``patience`` of them were quiet in a row or the field wants
    care.

    Returns the number of the next step, the length of the present run of quiet steps, and the
    number of steps in the sweep that were not quiet: they go on from the ones given. ``trail``
    receives mean and squared shift of each step: it has a row for each step of a sweep, or, when
    nobody will read it, of a batch.
    """
    n, d = state.points.shape
    begin = start - start % size
    kept = trail.shape[0] == n
    for t in range(start, stop):
        j = order[t]
        mean_of(state, j, radii[t], out)
        square = squared_distance(out, state.points[j])
        if square <= tol * tol:
            quiet += 1
        else:
            quiet = 0
            loud += 1
        row = t if kept else t - begin
        trail[row, d] = square
        for k in range(d):
            trail[row, k] = out[k]
        if t + 1 - begin < size and t + 1 < n:
            continue
        first = begin if kept else 0
        for s in range(t + 1 - begin):
            if trail[first + s, d] > negligible * negligible:
                move(state, order[begin + s], trail[first + s])
        begin = t + 1
        if quiet >= patience or wants_care(state):
            return t + 1, quiet, loud
    return stop, quiet, loud


def wander(
    field: Field,
    *,
    radius: float,
    scale: float,
    tol: float,
    patience: float,
    max_iter: int,
    random_state: Any,
    draw_radii: Callable[[Any], np.ndarray] | None = None,
    batch_size: int = 1,
    verify: bool = True,
    record: bool = False,
    watch: Watch = UNWATCHED,
) -> Outcome:
    """Move one random point, or one batch, at a time until nobody would move further than tol.

    The order of the draws is a promise to users (docs/algorithms.md): per sweep, the n points that
    move and then, only when the bandwidth is a pair, the n radii. Single points are drawn with
    replacement; batches are cut from a permutation.

    Parameters
    ----------
    field : Field
        Changed in place.
    radius : float
        Of every step, or the largest one if they are drawn.
    scale : float
        Length that shifts are compared with to see whether they are rounding.
    tol : float
        A step no longer than this is quiet.
    patience : float
        After ``ceil(patience * n)`` quiet steps in a row all points are tested.
    max_iter : int
        Sweeps of n steps.
    draw_radii : function, optional
        Draws the n radii of a sweep from the random state.
    batch_size : int
        How many points move at once over the same positions.
    random_state : RandomState
        As scikit-learn's ``check_random_state`` gives it.
    verify : bool
        False ends the run after the quiet steps, without the test: the paper's words taken
        literally. Points that were seldom chosen are then left behind.
    """
    n, d = field.points.shape
    wanted = ceil(patience * n)
    negligible = min(tol, ROUNDING * scale)
    recorder = PathRecorder(field.points) if record else None
    size = min(batch_size, n)
    out = field.make_out()
    pace = Pace()
    run = _Run(
        order=np.arange(n),
        radii=np.full(n, radius),
        trail=np.empty((n if record else size, d + 1)),
        step=n,
    )
    parts = {"run": run, "field": field.state, "random": random_state, "recorder": recorder}
    watch.begin(lambda: pack(**parts), lambda saved: unpack(saved, **parts))
    while True:
        between_batches = run.step % size == 0 or run.step == n
        if run.quiet >= wanted and between_batches:
            if not verify or field.is_quiet(radius, tol):
                return _outcome(field, run, True, recorder)
            run.quiet = 0
        if run.step == n:
            if run.sweep > 0:
                watch.swept(
                    sweep=run.sweep,
                    n_steps=run.sweep * n,
                    n_moving=run.loud,
                    positions=field.points.copy,
                )
            if run.sweep == max_iter:
                return _outcome(field, run, False, recorder)
        with watch.steady():
            if run.step == n:
                run.order = draw_order(random_state, n, batch_size)
                if draw_radii is not None:
                    run.radii = draw_radii(random_state)
                run.sweep, run.step, run.loud = run.sweep + 1, 0, 0
            begin, started = run.step, perf_counter()
            run.step, run.quiet, run.loud = _take_steps(
                field.state, run.order, run.radii, begin, min(n, begin + pace.size), size, tol,
                negligible, run.quiet, run.loud, wanted, out, run.trail,
            )  # fmt: skip
            pace.learn(run.step - begin, perf_counter() - started)
            if recorder is not None:
                recorder.add(run.order[begin : run.step], run.trail[begin : run.step, :d])
            field.tend()
        watch.beat()


def draw_order(random_state: Any, n: int, batch_size: int) -> np.ndarray:
    """Draw who moves in a sweep; nobody is twice in a batch."""
    if batch_size == 1:
        return random_state.randint(n, size=n)
    return random_state.permutation(n)


def _outcome(field: Field, run: _Run, converged: bool, recorder: PathRecorder | None) -> Outcome:
    n_steps = (run.sweep - 1) * len(run.order) + run.step
    paths = None if recorder is None else recorder.paths()
    return Outcome(field.points, run.sweep, n_steps, converged, paths)
