"""Algorithm 1 of the paper: each point climbs alone over the original positions."""

from typing import NamedTuple

import numpy as np

from modeshift.fields import Field
from modeshift.schedules.meeting import MeetingTable
from modeshift.schedules.outcome import Outcome, PathRecorder


class Climbs(NamedTuple):
    """An outcome, and which starts had no mass within the radius."""

    outcome: Outcome
    lonely: np.ndarray


def climb(
    field: Field,
    starts: np.ndarray,
    *,
    radius: float,
    tol: float,
    max_iter: int,
    record: bool = False,
) -> Climbs:
    """Repeat x <- mean of the field's points near x, for each start, until its shift is <= tol.

    The field stays as it is, so the climbs do not see one another and all of them can take their
    next step together. Those that meet go on as one, unless their paths are wanted.
    """
    positions = starts.copy()
    steps = np.zeros(len(starts), dtype=np.int64)
    lonely = np.zeros(len(starts), dtype=bool)
    recorder = PathRecorder(starts) if record else None
    table = None if record else MeetingTable(*starts.shape)
    climbing = np.arange(len(starts))
    for step in range(1, max_iter + 1):
        means, masses, squares = field.means_near(positions[climbing], radius)
        if step == 1:
            lonely = masses == 0.0
        positions[climbing] = means
        steps[climbing] = step
        if recorder is not None:
            recorder.add(climbing, means)
        onward = squares > tol * tol
        climbing, means = climbing[onward], means[onward]
        if table is not None:
            climbing = climbing[~table.meet(climbing, means, step)]
        if climbing.size == 0:
            break
    unfinished = np.zeros(len(starts), dtype=bool)
    unfinished[climbing] = True
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
    return Climbs(outcome, lonely)


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
