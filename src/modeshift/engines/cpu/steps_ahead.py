"""Steps of the stochastic schedule, many asked together, with the result of one after the other.

The order of the steps is drawn ahead, so the next steps are known. Their averages are computed
together over the positions as they are, on all threads. Then the steps are gone through in their
order, and each average is corrected by the moves before it. With the mass M and the average m over
the old positions, and the worths e_s and places p_s of the traces near x (see ``traces.py``),

    M' = M + sum_s e_s,   m' = x + [ M (m - x) + sum_s e_s (p_s - x) ] / M'.

This holds for every rule whose average is such a sum.
"""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields import Field
from modeshift.engines.cpu.fields.protocol import WASTE, average_near, note_waste
from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel
from modeshift.engines.cpu.traces import leave_trace, make_traces, sum_traces
from modeshift.engines.rule import land
from modeshift.engines.schedules.outcome import PathRecorder
from modeshift.engines.schedules.wander import Sweep

_LEAST = 2.0**-8
"""Least share of the masses that remains after corrections; below it the sums cancel too much."""


class Moves(NamedTuple):
    """Moves that are not made yet.

    Attributes
    ----------
    rows : (B,)
        Points that move, each once.
    places : (B, d)
        Where they are after their last move.
    latest : (n,)
        Number of each moving point in ``rows``; -1 for the other points.
    filled : (1,)
        Number of rows.
    """

    rows: np.ndarray
    places: np.ndarray
    latest: np.ndarray
    filled: np.ndarray


class StepsAhead:
    """Steps over a field on the CPU, asked together.

    Parameters
    ----------
    field : Field
        Its rule is a sum over points: not the nearest rule.
    batch_size : int
        Number of points that move at the same time over the same positions.
    ahead : int
        Number of steps that are asked together: the nearest multiple of ``batch_size`` above.
    tol, negligible : float
        A step of at most ``tol`` is quiet. A step of at most ``negligible`` is not made.
    """

    def __init__(
        self, field: Field, batch_size: int, ahead: int, tol: float, negligible: float
    ) -> None:
        n, d = field.points.shape
        self.batch_size = batch_size
        self._field = field
        self._tol = tol
        self._negligible = negligible
        self._size = min(batch_size, n)
        self._ahead = -(-ahead // self._size) * self._size
        self._out = field.make_out()
        self._traces = make_traces(d, 2 * self._ahead)
        self._moves = Moves(
            rows=np.empty(self._ahead, dtype=np.int64),
            places=np.empty((self._ahead, d)),
            latest=np.full(n, -1, dtype=np.int32),
            filled=np.zeros(1, dtype=np.int64),
        )

    def take(self, run: Sweep, recorder: PathRecorder | None) -> None:
        """Take the steps that are asked together, or those before one that is in doubt."""
        field, moves = self._field, self._moves
        part = slice(run.step, run.step + self._ahead)
        rows = run.order[part]
        radii = np.full(len(rows), field.radius) if run.radii is None else run.radii[part]
        places = field.points[rows]
        averages, masses = field.averages_near(places, radii)
        done, run.quiet, run.loud = _follow(
            field.state, rows, places, radii, averages, masses, self._traces, moves, self._size,
            self._tol, self._negligible, run.quiet, run.loud, run.wanted, self._out,
        )  # fmt: skip
        run.step += done
        if recorder is not None:
            recorder.add(rows[:done], averages[:done])
        n_moved = moves.filled[0]
        field.move_points(moves.rows[:n_moved], moves.places[:n_moved])
        _forget(self._traces, moves)


@bare_kernel
def _follow(
    state, rows, places, radii, averages, masses, traces, moves, size, tol, negligible, quiet,
    loud, wanted, out,
):  # fmt: skip
    """Correct the averages in the order of the steps, and note the moves.

    All averages of a batch of ``size`` steps are corrected by the moves of earlier batches. The
    loop ends early after ``wanted`` quiet steps in a row, and before a batch in which a sum is in
    doubt. Returns the number of steps taken, the length of the run of quiet steps, and the number
    of loud steps. ``averages`` then holds where the steps end.
    """
    begin, d = 0, averages.shape[1]
    quiet_before, loud_before = quiet, loud
    for t in range(rows.shape[0]):
        mean, number = averages[t], moves.latest[rows[t]]
        x, mass = places[t], masses[t]
        if number >= 0:  # the point has moved since it was asked
            x = moves.places[number]
            mass = average_near(state, x, radii[t], out)
            for k in range(d):
                mean[k] = out[k]
        if not _correct(traces, state.rule, x, mass, radii[t], mean, out) and begin > 0:
            return begin, quiet_before, loud_before
        land(state.rule.space, x, mean)
        square = squared_distance(mean, x)
        masses[t] = square
        if square <= tol * tol:
            quiet += 1
        else:
            quiet = 0
            loud += 1
        if t + 1 - begin < size and t + 1 < rows.shape[0]:
            continue
        for s in range(begin, t + 1):
            if masses[s] > negligible * negligible:
                _note_move(state, traces, moves, rows[s], averages[s])
        begin, quiet_before, loud_before = t + 1, quiet, loud
        if quiet >= wanted:
            break
    note_waste(state, out[WASTE])
    out[WASTE] = 0.0
    return begin, quiet, loud


@inlined_kernel
def _correct(traces, rule, x, mass, radius, mean, out):
    """Correct the average ``mean`` by the traces near x; return whether few digits cancel."""
    d = x.shape[0]
    change, touched = sum_traces(traces, rule, x, radius, out[:d], out[d:])
    if touched == 0.0:
        return True
    rest = mass + change
    if rest < _LEAST * (mass + touched):
        return False
    for k in range(d):
        mean[k] = x[k] + ((mean[k] - x[k]) * mass + out[k]) / rest
    return True


@inlined_kernel
def _note_move(state, traces, moves, j, place):
    """Note that point j moves to a place."""
    number = moves.latest[j]
    if number < 0:
        number = moves.filled[0]
        moves.filled[0] += 1
        moves.latest[j] = number
        moves.rows[number] = j
        leave_trace(traces, state.points[j], -state.weights[j])
    else:
        leave_trace(traces, moves.places[number], -state.weights[j])
    leave_trace(traces, place, state.weights[j])
    for k in range(place.shape[0]):
        moves.places[number, k] = place[k]


@bare_kernel
def _forget(traces, moves):
    """Forget all moves."""
    for i in range(moves.filled[0]):
        moves.latest[moves.rows[i]] = -1
    moves.filled[0] = 0
    traces.filled[0] = 0
