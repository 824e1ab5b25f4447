"""Blurring mean-shift (Cheng 1995): all points move at once over the current positions."""

from dataclasses import dataclass
from typing import Any

from modeshift.engines.schedules.feature_weights import FeatureWeights
from modeshift.engines.schedules.field import BatchField
from modeshift.engines.schedules.outcome import Outcome, PathRecorder
from modeshift.engines.schedules.stopping import LargestShift, ShiftEntropy
from modeshift.watching.checkpoint import pack, unpack
from modeshift.watching.watch import UNWATCHED, Watch


@dataclass
class _Run:
    """State of a run: positions and weights of the remaining points, and number of sweeps."""

    positions: Any
    weights: Any
    sweep: int = 0
    converged: bool = False


def blur(
    field: BatchField,
    *,
    stop: LargestShift | ShiftEntropy,
    max_iter: int,
    metric: FeatureWeights | None = None,
    record: bool = False,
    watch: Watch = UNWATCHED,
) -> Outcome:
    """Move every point to the mean near it, all at once, until the stopping rule ends the run.

    Points that coincide continue as one, unless the field forbids it or feature weights are
    learned. With feature weights the positions in the field are multiplied by the factors; the
    positions in the outcome are not.
    """
    n, space = len(field.points), field.space
    run = _Run(_original(field.points, metric), field.weights)
    recorder = PathRecorder(space, run.positions) if record else None
    crowd = space.crowd(n, field.radius)
    parts = {"run": run, "crowd": crowd, "stop": stop, "metric": metric, "recorder": recorder}
    watch.begin(lambda: pack(**parts), lambda saved: unpack(saved, **parts))
    while run.sweep < max_iter and not run.converged:
        if run.sweep > 0:
            field = field.at(_measured(run.positions, metric), run.weights)
        answer = field.means_near(field.points)
        with watch.steady():
            squares = answer.squares[crowd.owners]
            run.converged = stop.ends(squares)
            run.positions = _original(answer.means, metric)
            if recorder is not None:
                recorder.add(space.arange(n), run.positions[crowd.owners])
            if metric is not None:
                metric.learn(run.positions)
            elif not run.converged and field.may_collapse:
                run.positions, run.weights = crowd.collapse(run.positions, run.weights)
            run.sweep += 1
        watch.swept(
            sweep=run.sweep,
            n_steps=n * run.sweep,
            n_moving=int((squares > stop.tol * stop.tol).sum()),
            positions=lambda: run.positions[crowd.owners],
            factors=None if metric is None else metric.factors,
        )
        watch.beat()
    return Outcome(
        ends=run.positions[crowd.owners],
        n_iter=run.sweep,
        n_steps=n * run.sweep,
        converged=run.converged,
        paths=None if recorder is None else recorder.paths(),
        factors=None if metric is None else metric.factors,
    )


def _measured(positions: Any, metric: FeatureWeights | None) -> Any:
    return positions if metric is None else positions * metric.factors


def _original(positions: Any, metric: FeatureWeights | None) -> Any:
    return positions if metric is None else positions / metric.factors
