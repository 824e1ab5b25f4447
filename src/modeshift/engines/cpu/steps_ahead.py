"""Steps of the stochastic schedule, many asked together, with the result of one after the other.

The order of the steps is drawn ahead, so the next steps are known. Their averages are computed
together over the positions as they are, on all threads. Then the steps are gone through in their
order, and each average is corrected by the moves before it. With the mass M and the average m over
the old positions, and the worths e_s and places p_s of the traces near x (see ``traces.py``),

    M' = M + sum_s e_s,   m' = x + [ M (m - x) + sum_s e_s (p_s - x) ] / M'.

This holds for every rule whose average is such a sum. Blocks of steps share the sums of the traces
that were left before the block, on all threads; only those left within the block are added one step
after the other. The shares do not depend on the number of threads, so that it changes no bit.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.field import Asked, answer_block
from modeshift.engines.cpu.fields.moves_in_tree import arrive, arrive_late, depart
from modeshift.engines.cpu.fields.protocol import WASTE, average_near, note_waste, wants_care
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.fields.tree_state import TreeState, leaf_of, weight_of
from modeshift.engines.cpu.jit import bare_kernel, merged_kernel
from modeshift.engines.cpu.parallel import Pace
from modeshift.engines.cpu.team import (
    finish_share,
    make_team,
    open_job,
    run_team,
    take_share,
    wait_for_all,
    wait_for_share,
)
from modeshift.engines.cpu.traces import Traces, leave_trace, make_traces, sum_traces
from modeshift.engines.rule import land
from modeshift.engines.schedules.outcome import PathRecorder
from modeshift.engines.schedules.wander import Sweep

_ALIKE = np.empty(0)  # radii that are alike

_LEAST = 2.0**-8
"""Least share of the masses that remains after corrections; below it the sums cancel too much."""

_BEGIN, _PLACE, _ASK, _CORRECT, _DEPART, _ARRIVE = range(6)
"""Jobs of a batch, in this order; that of the corrections comes again for each block of steps."""

_STEP, _QUIET, _LOUD, _LEFT, _FILLED, _FIRST, _LAST, _KNOWN, _START, _CALM, _NOISE = range(11)
"""Places of the counts; see :class:`Work`."""

_ROWS = 96  # whose places are looked up in a share
_QUESTIONS = 32  # in a share
_BUCKETS = 1024  # into which questions are sorted
_BLOCK = 128  # steps that share the sums of the traces left before them
_CORRECTIONS = 16  # in a share
_ENOUGH = 64  # traces from which that pays


class Movers(NamedTuple):
    """The points of the steps that are asked together, each once.

    Attributes
    ----------
    of_step : (B,)
        The mover of each step.
    numbers : (n,)
        Scratch space: the mover that a point is; -1 if none.
    rows : (B,)
        The point that each mover is.
    places : (B, d)
        Where each mover is after its last move.
    moved : (B,)
        Whether it has moved.
    goals : (B,)
        The leaf of its place.
    """

    of_step: np.ndarray
    numbers: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    moved: np.ndarray
    goals: np.ndarray


class Work(NamedTuple):
    """What the threads work on: B steps that are asked together, over a tree; d features.

    Attributes
    ----------
    state : TreeState
    rows : (B,)
        The points of the steps.
    asked : Asked
        The questions of the steps. The averages become the places where the steps end.
    buckets : (B,)
        The bucket of each question; neighbours have the same.
    order : (B,)
        The questions, sorted by bucket.
    ends : (_BUCKETS,)
        Scratch space for sorting.
    traces : Traces
    movers : Movers
    corrections : (B, d + 2)
        Worths of the traces near the place of each step, with their signs and without, and the sums
        of their offsets: of the traces that were left before its block.
    counts : (11,)
        ``_STEP``, ``_QUIET``, ``_LOUD``: see :class:`modeshift.engines.schedules.wander.Sweep`.
        ``_LEFT``: batches to take. ``_FILLED``: number of steps of the batch, then of movers.
        ``_FIRST``, ``_LAST``: the steps of the block. ``_KNOWN``: number of traces before it.
        ``_START``, ``_CALM``, ``_NOISE``: first step that is not final, and the quiet and the loud
        steps before it.
    outs : (number of threads, length of ``make_out``)
        Scratch space of each thread.
    """

    state: TreeState
    rows: np.ndarray
    asked: Asked
    buckets: np.ndarray
    order: np.ndarray
    ends: np.ndarray
    traces: Traces
    movers: Movers
    corrections: np.ndarray
    counts: np.ndarray
    outs: np.ndarray


class Pattern(NamedTuple):
    """Numbers that do not change during a call.

    Attributes
    ----------
    size : int
        Number of points that move at the same time over the same positions.
    tol, negligible : float
        A step of at most ``tol`` is quiet. A step of at most ``negligible`` is not made.
    wanted : int
        Number of quiet steps in a row that ends the loop.
    asked : bool
        Whether the questions are answered already; then the points are not moved either.
    """

    size: int
    tol: float
    negligible: float
    wanted: int
    asked: bool


class StepsAhead:
    """Steps over a tree, asked together.

    Parameters
    ----------
    field : TreeField
        Its rule is a sum over points: not the nearest rule.
    batch_size : int
        Number of points that move at the same time over the same positions.
    ahead : int
        Number of steps that are asked together: the nearest multiple of ``batch_size`` above.
    tol, negligible : float
        A step of at most ``tol`` is quiet. A step of at most ``negligible`` is not made.
    """

    def __init__(
        self, field: TreeField, batch_size: int, ahead: int, tol: float, negligible: float
    ) -> None:
        n, d = field.points.shape
        self.batch_size = batch_size
        self._field = field
        self._size = min(batch_size, n)
        self._ahead = -(-ahead // self._size) * self._size
        self._tol, self._negligible = tol, negligible
        self._team = make_team(field.n_jobs)
        self._pace = Pace(self._ahead)
        self._work = Work(
            state=field.state,
            rows=np.empty(self._ahead, dtype=np.int64),
            asked=Asked(
                places=np.empty((self._ahead, d)),
                radii=np.full(self._ahead, field.radius),
                averages=np.empty((self._ahead, d)),
                masses=np.empty(self._ahead),
            ),
            buckets=np.empty(self._ahead, dtype=np.int64),
            order=np.empty(self._ahead, dtype=np.int64),
            ends=np.empty(_BUCKETS, dtype=np.int64),
            traces=make_traces(d, 2 * self._ahead),
            movers=Movers(
                of_step=np.empty(self._ahead, dtype=np.int64),
                numbers=np.full(n, -1, dtype=np.int32),
                rows=np.empty(self._ahead, dtype=np.int64),
                places=np.empty((self._ahead, d)),
                moved=np.zeros(self._ahead, dtype=np.bool_),
                goals=np.empty(self._ahead, dtype=np.int64),
            ),
            corrections=np.empty((self._ahead, d + 2)),
            counts=np.zeros(11, dtype=np.int64),
            outs=np.stack([field.make_out() for _ in range(field.n_jobs)]),
        )

    def take(self, run: Sweep, recorder: PathRecorder | None) -> None:
        """Take the steps that are asked together, or those before one that is in doubt.

        If the field answers each question by itself, this is done again and again for some
        hundredths of a second.
        """
        begin, field = run.step, self._field
        if field.asks_together:
            averages = self._follow_answers(run)
        else:
            averages = self._work.asked.averages
            self._take_batches(run, 1 if recorder else max(1, self._pace.size // self._ahead))
        if recorder is not None:
            recorder.add(run.order[begin : run.step], averages[: run.step - begin])
        field.tend()

    def _follow_answers(self, run: Sweep) -> np.ndarray:
        """Let the field answer the questions, and take their steps; return where these end."""
        part = slice(run.step, run.step + self._ahead)
        rows, radii = run.order[part], self._work.asked.radii
        places = self._field.points[rows]
        radii = radii[: len(rows)] if run.radii is None else run.radii[part]
        answer = self._field.averages_near(places, radii)
        self._work.rows[: len(rows)] = rows
        self._work.counts[_FILLED] = len(rows)
        self._run(self._work._replace(asked=Asked(places, radii, *answer)), run, _ASK, 1)
        movers, n_moved = self._work.movers, self._work.counts[_FILLED]
        self._field.move_points(movers.rows[:n_moved], movers.places[:n_moved])
        return answer.averages

    def _take_batches(self, run: Sweep, most: int) -> None:
        """Ask many steps and take them, a number of times."""
        begin, started = run.step, perf_counter()
        self._run(self._work, run, _BEGIN, most)
        self._pace.learn(run.step - begin, perf_counter() - started)

    def _run(self, work: Work, run: Sweep, job: int, most: int) -> None:
        """Run the compiled loop on all threads, from after a job on."""
        team, asked = self._team, job == _ASK
        pattern = Pattern(self._size, self._tol, self._negligible, run.wanted, asked)
        radii = _ALIKE if run.radii is None else run.radii
        work.counts[[_STEP, _QUIET, _LOUD, _LEFT]] = run.step, run.quiet, run.loud, most
        team.job[0] = job
        run_team(team, lambda number: _serve(team, work, number, run.order, radii, pattern))
        run.step, run.quiet, run.loud = (int(work.counts[i]) for i in (_STEP, _QUIET, _LOUD))


@bare_kernel
def _serve(team, work, number, order, radii, pattern):
    """Do shares of jobs. Between jobs the leader, thread 0, goes on alone, and ends the loop.

    It ends after a number of batches, after ``wanted`` quiet steps in a row, at the end of the
    sweep, and if the tree needs care.
    """
    while True:
        share = take_share(team) if number == 0 else wait_for_share(team)
        if share >= 0:
            _do_share(work, team.job[0], share, number)
            finish_share(team)
        elif number > 0:
            break
        else:
            wait_for_all(team)
            job, n_shares = _go_on(work, team.job[0], order, radii, pattern)
            if job == _BEGIN:
                break
            open_job(team, job, n_shares)


@merged_kernel
def _do_share(work, job, share, number):
    """Do a share of a job, with the scratch space of a thread."""
    state, counts, out = work.state, work.counts, work.outs[number]
    if job == _PLACE:
        part = slice(share * _ROWS, min(counts[_FILLED], (share + 1) * _ROWS))
        _look_up(
            state.points, state.homes, state.slots, state.counts.shape[0], work.rows[part],
            work.asked.places[part], work.buckets[part],
        )  # fmt: skip
    elif job == _ASK:
        stop = min(counts[_FILLED], (share + 1) * _QUESTIONS)
        answer_block(work.state, work.asked, work.order[share * _QUESTIONS : stop], out)
    elif job == _CORRECT:
        first = counts[_FIRST] + share * _CORRECTIONS
        _sum_known(work, first, min(counts[_LAST], first + _CORRECTIONS), out)
    else:
        movers, n_wards = work.movers, work.state.free.shape[0]
        n_parts = min(n_wards, work.outs.shape[0])
        wards = n_wards * share // n_parts, n_wards * (share + 1) // n_parts
        rows = movers.rows[: counts[_FILLED]]
        if job == _DEPART:
            depart(work.state, rows, movers.places, movers.goals, wards[0], wards[1])
        else:
            arrive(work.state, rows, movers.places, movers.goals, wards[0], wards[1])


@merged_kernel
def _go_on(work, job, order, radii, pattern):
    """Do what is between two jobs; return the next one, and its number of shares.

    The job ``_BEGIN`` is the end of the loop.
    """
    counts, movers, n_parts = (
        work.counts,
        work.movers,
        min(work.state.free.shape[0], work.outs.shape[0]),
    )
    if job == _ARRIVE:
        arrive_late(work.state, movers.rows[: counts[_FILLED]], movers.places, movers.goals)
        counts[_LEFT] -= 1
        if (
            counts[_LEFT] == 0
            or counts[_STEP] == order.shape[0]
            or counts[_QUIET] >= pattern.wanted
            or wants_care(work.state)
        ):
            return _BEGIN, 0
        job = _BEGIN
    if job == _BEGIN:
        _write_down(order, radii, counts, work.rows, work.asked.radii)
        return _PLACE, -(-counts[_FILLED] // _ROWS)
    if job == _PLACE:
        _sort_questions(work.buckets, counts[_FILLED], work.ends, work.order)
        return _ASK, -(-counts[_FILLED] // _QUESTIONS)
    if job == _DEPART:
        return _ARRIVE, n_parts
    if job == _ASK:
        for number in range(work.outs.shape[0]):
            note_waste(work.state, work.outs[number, WASTE])
            work.outs[number, WASTE] = 0.0
        _start_steps(work.rows, counts, movers)
    if (job == _ASK or _follow(work, pattern)) and _open_block(counts, work.traces.filled[0]):
        return _CORRECT, -(-(counts[_LAST] - counts[_FIRST]) // _CORRECTIONS) * (counts[_KNOWN] > 0)
    _keep_moved(movers, counts)
    work.traces.filled[0] = 0
    if pattern.asked:
        return _BEGIN, 0
    return _DEPART, n_parts * (counts[_FILLED] > 0)


@merged_kernel
def _write_down(order, radii, counts, rows, own_radii):
    """Write down the points of the next steps, and the radii if these are not alike."""
    counts[_FILLED] = min(rows.shape[0], order.shape[0] - counts[_STEP])
    for t in range(counts[_FILLED]):
        rows[t] = order[counts[_STEP] + t]
        if radii.shape[0] > 0:
            own_radii[t] = radii[counts[_STEP] + t]


@merged_kernel
def _look_up(points, homes, slots, n_leaves, rows, places, buckets):
    """Look up the places of some questions, and the leaves that they are in."""
    for t in range(rows.shape[0]):
        buckets[t] = leaf_of(homes, slots, rows[t]) * _BUCKETS // n_leaves
        for k in range(places.shape[1]):
            places[t, k] = points[rows[t], k]


@merged_kernel
def _sort_questions(buckets, n, ends, order):
    """Order the questions by their bucket: a counting sort."""
    for bucket in range(_BUCKETS):
        ends[bucket] = 0
    for t in range(n):
        ends[buckets[t]] += 1
    end = 0
    for bucket in range(_BUCKETS):
        end += ends[bucket]
        ends[bucket] = end
    for t in range(n - 1, -1, -1):
        ends[buckets[t]] -= 1
        order[ends[buckets[t]]] = t


@merged_kernel
def _start_steps(rows, counts, movers):
    """Get ready for the steps: every point of them becomes a mover, which has not moved yet."""
    counts[_START] = counts[_LAST] = n_movers = 0
    counts[_CALM], counts[_NOISE] = counts[_QUIET], counts[_LOUD]
    for t in range(counts[_FILLED]):
        if movers.numbers[rows[t]] < 0:
            movers.numbers[rows[t]] = n_movers
            movers.rows[n_movers] = rows[t]
            movers.moved[n_movers] = False
            n_movers += 1
        movers.of_step[t] = movers.numbers[rows[t]]
    for t in range(counts[_FILLED]):
        movers.numbers[rows[t]] = -1


@merged_kernel
def _open_block(counts, filled):
    """Begin a block of steps; return False if there are no more steps."""
    counts[_FIRST] = counts[_LAST]
    counts[_LAST] = min(counts[_FIRST] + _BLOCK, counts[_FILLED])
    counts[_KNOWN] = filled if filled >= _ENOUGH else 0
    return counts[_FIRST] < counts[_LAST]


@merged_kernel
def _sum_known(work, start, stop, out):
    """Sum the traces left before the block, near the places of some steps."""
    asked, corrections = work.asked, work.corrections
    for t in range(start, stop):
        corrections[t, 0], corrections[t, 1] = sum_traces(
            work.traces, np.int64(0), work.counts[_KNOWN], work.state.rule, asked.places[t],
            asked.radii[t], corrections[t, 2:], out,
        )  # fmt: skip


@merged_kernel
def _follow(work, pattern):
    """Correct the averages of a block in the order of the steps, and note the moves.

    All averages of a batch of ``size`` are corrected by the moves of earlier batches. Returns False
    after ``wanted`` quiet steps in a row, and before a batch in which a sum is in doubt: then no
    further steps can be taken.
    """
    asked, counts = work.asked, work.counts
    for t in range(counts[_FIRST], counts[_LAST]):
        square = _correct(work, t)
        if square < 0.0:
            counts[_QUIET], counts[_LOUD] = counts[_CALM], counts[_NOISE]
            return False
        asked.masses[t] = square
        if square <= pattern.tol * pattern.tol:
            counts[_QUIET] += 1
        else:
            counts[_QUIET] = 0
            counts[_LOUD] += 1
        if t + 1 - counts[_START] < pattern.size and t + 1 < counts[_FILLED]:
            continue
        for s in range(counts[_START], t + 1):
            if asked.masses[s] > pattern.negligible * pattern.negligible:
                _note_move(work, s)
        counts[_STEP] += t + 1 - counts[_START]
        counts[_START] = t + 1
        counts[_CALM], counts[_NOISE] = counts[_QUIET], counts[_LOUD]
        if counts[_QUIET] >= pattern.wanted:
            return False
    return True


@merged_kernel
def _correct(work, t):
    """Correct the average of step t by the traces near its place, and turn it into a mean.

    If the point has moved since it was asked, it is asked again. Returns the squared shift; -1 if
    the sums cancel too much.
    """
    state, asked, traces, out = work.state, work.asked, work.traces, work.outs[0]
    mover, known, mean = work.movers.of_step[t], work.counts[_KNOWN], asked.averages[t]
    d, x = mean.shape[0], asked.places[t]
    if work.movers.moved[mover]:
        known, x = np.int64(0), work.movers.places[mover]
        asked.masses[t] = average_near(state, x, asked.radii[t], out)
        for k in range(d):
            mean[k] = out[k]
    sums = out[:d]
    change, touched = sum_traces(
        traces, known, traces.filled[0], state.rule, x, asked.radii[t], sums, out[d:]
    )
    if known > 0:
        change += work.corrections[t, 0]
        touched += work.corrections[t, 1]
        for k in range(d):
            sums[k] += work.corrections[t, 2 + k]
    if touched > 0.0:
        mass = asked.masses[t]
        rest = mass + change
        if rest < _LEAST * (mass + touched):
            return -1.0
        for k in range(d):
            mean[k] = x[k] + ((mean[k] - x[k]) * mass + sums[k]) / rest
    land(state.rule.space, x, mean)
    return squared_distance(mean, x)


@merged_kernel
def _note_move(work, t):
    """Note that the point of step t moves to its mean."""
    state, movers, mean = work.state, work.movers, work.asked.averages[t]
    mover = movers.of_step[t]
    weight = weight_of(state.weights, state.block_weights, movers.rows[mover])
    old = movers.places[mover] if movers.moved[mover] else work.asked.places[t]
    leave_trace(work.traces, old, -weight)
    leave_trace(work.traces, mean, weight)
    movers.moved[mover] = True
    for k in range(mean.shape[0]):
        movers.places[mover, k] = mean[k]


@merged_kernel
def _keep_moved(movers, counts):
    """Keep only the movers that have moved."""
    kept = 0
    for t in range(counts[_START]):
        mover = movers.of_step[t]
        if movers.moved[mover]:
            movers.moved[mover] = False
            movers.rows[kept] = movers.rows[mover]
            for k in range(movers.places.shape[1]):
                movers.places[kept, k] = movers.places[mover, k]
            kept += 1
    counts[_FILLED] = kept
