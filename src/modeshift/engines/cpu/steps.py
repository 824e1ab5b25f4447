"""The compiled loop of the stochastic schedule: points take steps and stay there."""

from time import perf_counter

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields import Field
from modeshift.engines.cpu.fields.protocol import WASTE, mean_of, move, note_waste, wants_care
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import Pace
from modeshift.engines.schedules.outcome import PathRecorder
from modeshift.engines.schedules.wander import Sweep


class CompiledSteps:
    """Steps over a field on the CPU, some hundredths of a second at a time.

    :class:`modeshift.engines.schedules.wander.Batches` is the same in Python.

    Parameters
    ----------
    field : Field
    batch_size : int
        Number of points that move at the same time over the same positions.
    tol, negligible : float
        A step of at most ``tol`` is quiet. A step of at most ``negligible`` is not made.
    record : bool
        Whether positions are kept after each step.
    """

    def __init__(
        self, field: Field, batch_size: int, tol: float, negligible: float, record: bool
    ) -> None:
        n, d = field.points.shape
        self.batch_size = batch_size
        self._size = min(batch_size, n)
        self._field = field
        self._tol = tol
        self._negligible = negligible
        self._out = field.make_out()
        self._trail = np.empty((n if record else self._size, d + 1))
        self._radii = np.full(n, field.radius)
        self._pace = Pace()

    def take(self, run: Sweep, recorder: PathRecorder | None) -> None:
        """Take steps for some hundredths of a second, or until the field needs care."""
        begin, n = run.step, len(run.order)
        while run.step == begin or (run.step % self._size != 0 and run.step < n):
            self._bite(run)
        if recorder is not None:
            steps = slice(begin, run.step)
            recorder.add(run.order[steps], self._trail[steps, :-1])
        self._field.tend()

    def _bite(self, run: Sweep) -> None:
        """Take some steps: whole batches, or a part of one that is large."""
        batches, rest = self._pace.size // self._size, self._size - run.step % self._size
        begin, started = run.step, perf_counter()
        stop = begin + (batches * self._size or min(self._pace.size, rest))
        run.step, run.quiet, run.loud = _take_steps(
            self._field.state, run.order, self._radii if run.radii is None else run.radii, begin,
            min(len(run.order), stop), self._size, self._tol, self._negligible, run.quiet,
            run.loud, run.wanted, self._out, self._trail,
        )  # fmt: skip
        self._pace.learn(run.step - begin, perf_counter() - started)


@bare_kernel
def _take_steps(
    state, order, radii, start, stop, size, tol, negligible, quiet, loud, wanted, out, trail
):  # fmt: skip
    """Take the steps start..stop of a sweep, in batches of ``size`` steps.

    All means of a batch are computed over the same positions; then its points move. The loop ends
    early, after a batch, if ``wanted`` steps in a row were quiet or the field needs care.

    Returns the number of the next step, the length of the current run of quiet steps, and the
    number of steps in the sweep that were not quiet. The counts continue from the given ones.
    ``trail`` receives the mean and the squared shift of each step. It has a row for each step of a
    sweep, or only of a batch if the rows are not used later.
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
        note_waste(state, out[WASTE])
        out[WASTE] = 0.0
        first = begin if kept else 0
        for s in range(t + 1 - begin):
            if trail[first + s, d] > negligible * negligible:
                move(state, order[begin + s], trail[first + s])
        begin = t + 1
        if quiet >= wanted or wants_care(state):
            return t + 1, quiet, loud
    return stop, quiet, loud
