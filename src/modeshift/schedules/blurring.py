"""Blurring mean-shift (Cheng 1995): all points move at once over the current positions."""

import numpy as np

from modeshift.fields import Field
from modeshift.schedules.outcome import Outcome, PathRecorder


def blur(
    field: Field,
    *,
    radius: float,
    tol: float,
    max_iter: int,
    record: bool = False,
) -> Outcome:
    """Move every point to the mean near it until the largest shift of a sweep is <= tol."""
    n = len(field.points)
    recorder = PathRecorder(field.points) if record else None
    converged = False
    sweep = 0
    while sweep < max_iter and not converged:
        sweep += 1
        answer = field.means_near(field.points, radius)
        converged = bool(answer.squares.max() <= tol * tol)
        field = field.at(answer.means)
        if recorder is not None:
            recorder.add(np.arange(n), answer.means)
    return Outcome(
        ends=field.points,
        n_iter=sweep,
        n_steps=n * sweep,
        converged=converged,
        paths=None if recorder is None else recorder.paths(),
    )
