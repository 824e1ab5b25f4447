"""Algorithm 1 of the paper: each point climbs alone over the original positions."""

from typing import NamedTuple

import numpy as np

from modeshift.fields import Field
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
    n_jobs: int = 1,
    record: bool = False,
) -> Climbs:
    """Repeat x <- mean of the field's points near x, for each start, until its shift is <= tol.

    The field stays as it is, so the climbs do not see one another and all of them can take their
    next step together.
    """
    positions = starts.copy()
    steps = np.zeros(len(starts), dtype=np.int64)
    lonely = np.zeros(len(starts), dtype=bool)
    recorder = PathRecorder(starts) if record else None
    climbing = np.arange(len(starts))
    for step in range(max_iter):
        means, masses = field.means_near(positions[climbing], radius, n_jobs)
        if step == 0:
            lonely = masses == 0.0
        shifts = means - positions[climbing]
        positions[climbing] = means
        steps[climbing] += 1
        if recorder is not None:
            recorder.add(climbing, means)
        climbing = climbing[np.einsum("ij,ij->i", shifts, shifts) > tol * tol]
        if climbing.size == 0:
            break
    outcome = Outcome(
        ends=positions,
        n_iter=int(steps.max()),
        n_steps=int(steps.sum()),
        converged=climbing.size == 0,
        paths=None if recorder is None else recorder.paths(),
    )
    return Climbs(outcome, lonely)
