"""Algorithm 1 of the paper: each point climbs alone over the original positions."""

from typing import NamedTuple

import numpy as np

from modeshift.checkpoint import pack, unpack
from modeshift.fields import Field
from modeshift.schedules.meeting import MeetingTable
from modeshift.schedules.outcome import Outcome, PathRecorder
from modeshift.watch import UNWATCHED, Watch


class Climbs(NamedTuple):
    """An outcome, and which starts had no mass within the radius."""

    outcome: Outcome
    lonely: np.ndarray


class _Run:
    """How far the climbs are.

    Attributes
    ----------
    positions : ndarray of shape (m, d)
    steps : ndarray of shape (m,)
        Steps that each climb has taken itself.
    climbing : ndarray
        Numbers of the climbs that go on.
    lonely : ndarray of shape (m,), bool
        Which starts had no mass within the radius.
    step : int
        Steps that those have taken which go on.
    n_steps : int
        Steps that were taken by all.
    """

    def __init__(self, positions: np.ndarray, climbing: np.ndarray) -> None:
        self.positions = positions
        self.steps = np.zeros(len(positions), dtype=np.int64)
        self.climbing = climbing
        self.lonely = np.zeros(len(positions), dtype=bool)
        self.step = 0
        self.n_steps = 0

    def take(
        self,
        means: np.ndarray,
        masses: np.ndarray,
        onward: np.ndarray,
        recorder: PathRecorder | None,
        table: MeetingTable | None,
    ) -> None:
        """Let all that climb take a step, and those stay that do not go on or meet another."""
        if self.step == 0:
            self.lonely = masses == 0.0
        self.step += 1
        self.n_steps += len(means)
        self.positions[self.climbing] = means
        self.steps[self.climbing] = self.step
        if recorder is not None:
            recorder.add(self.climbing, means)
        self.climbing, means = self.climbing[onward], means[onward]
        if table is not None:
            self.climbing = self.climbing[~table.meet(self.climbing, means, self.step)]


def climb(
    field: Field,
    starts: np.ndarray,
    *,
    radius: float,
    tol: float,
    max_iter: int,
    record: bool = False,
    watch: Watch = UNWATCHED,
) -> Climbs:
    """Repeat x <- mean of the field's points near x, for each start, until its shift is <= tol.

    The field stays as it is, so the climbs do not see one another and all of them can take their
    next step together. Those that meet go on as one, unless their paths are wanted.
    """
    run = _Run(starts.copy(), np.arange(len(starts)))
    recorder = PathRecorder(starts) if record else None
    table = None if record else MeetingTable(*starts.shape)
    parts = {"run": run, "table": table, "recorder": recorder}
    watch.begin(lambda: pack(**parts), lambda saved: unpack(saved, **parts))
    while run.step < max_iter and run.climbing.size > 0:
        means, masses, squares = field.means_near(run.positions[run.climbing], radius)
        with watch.steady():
            run.take(means, masses, squares > tol * tol, recorder, table)
        watch.swept(
            sweep=run.step,
            n_steps=run.n_steps,
            n_moving=run.climbing.size,
            positions=lambda: _present(run, table),
        )
        watch.beat()
    positions, steps = run.positions, run.steps
    unfinished = np.zeros(len(starts), dtype=bool)
    unfinished[run.climbing] = True
    if table is not None:
        _catch_up(table, positions, steps, unfinished)
        late = steps > max_iter
        if late.any():  # its leader had fewer steps behind it; only its own path tells the end
            alone = climb(
                field, starts[late], radius=radius, tol=tol, max_iter=max_iter, record=True
            ).outcome
            positions[late], steps[late], unfinished[late] = alone.ends, max_iter, True
    outcome = Outcome(
        ends=positions,
        n_iter=int(steps.max()),
        n_steps=int(steps.sum()),
        converged=not unfinished.any(),
        paths=None if recorder is None else recorder.paths(),
    )
    return Climbs(outcome, run.lonely)


def _present(run: _Run, table: MeetingTable | None) -> np.ndarray:
    """Return where the climbs are now; those that have met another one are where that one is."""
    if table is None:
        return run.positions.copy()
    return run.positions[table.followed()]


def _catch_up(
    table: MeetingTable, positions: np.ndarray, steps: np.ndarray, unfinished: np.ndarray
) -> None:
    """Bring every follower to where its leader ended. A leader may follow another one."""
    followers = np.flatnonzero(table.leaders >= 0)
    leaders, ahead = table.leaders[followers], table.heads[followers]
    while (chained := table.leaders[leaders] >= 0).any():
        ahead[chained] += table.heads[leaders[chained]]
        leaders[chained] = table.leaders[leaders[chained]]
    positions[followers] = positions[leaders]
    steps[followers] = steps[leaders] - ahead
    unfinished[followers] = unfinished[leaders]
