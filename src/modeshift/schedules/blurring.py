"""Blurring mean-shift (Cheng 1995): all points move at once over the current positions."""

import numpy as np

from modeshift.fields import Field
from modeshift.schedules.collapse import Collapse
from modeshift.schedules.feature_weights import FeatureWeights
from modeshift.schedules.outcome import Outcome, PathRecorder
from modeshift.schedules.stopping import LargestShift, ShiftEntropy


def blur(
    field: Field,
    *,
    radius: float,
    stop: LargestShift | ShiftEntropy,
    max_iter: int,
    metric: FeatureWeights | None = None,
    record: bool = False,
) -> Outcome:
    """Move every point to the mean near it, all at once, until the stopping rule ends it.

    Points that coincide go on as one, unless the field or a metric that changes forbids it. With
    feature weights the field has positions multiplied by their factors; what is handed back has
    not.
    """
    n = len(field.points)
    factors = np.ones(1) if metric is None else metric.factors
    positions = field.points / factors
    recorder = PathRecorder(positions) if record else None
    crowd = Collapse(n, radius)
    converged = False
    sweep = 0
    while sweep < max_iter and not converged:
        sweep += 1
        answer = field.means_near(field.points, radius)
        converged = stop.ends(answer.squares[crowd.owners])
        positions = answer.means / factors
        if recorder is not None:
            recorder.add(np.arange(n), positions[crowd.owners])
        if metric is not None:
            metric.learn(positions)
            factors = metric.factors
            field = field.at(positions * factors)
        elif not converged:
            weights = field.weights
            if field.may_collapse:
                positions, weights = crowd.collapse(positions, weights)
            field = field.at(positions, weights)
    return Outcome(
        ends=positions[crowd.owners],
        n_iter=sweep,
        n_steps=n * sweep,
        converged=converged,
        paths=None if recorder is None else recorder.paths(),
        factors=None if metric is None else factors,
    )
