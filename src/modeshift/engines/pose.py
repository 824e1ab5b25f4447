"""From checked points to a problem in the units of the engine."""

from typing import Any

import numpy as np

from modeshift.engines.problem import Problem, Units
from modeshift.engines.rule import Flat, Gaussian, Rule, nearest, space_of
from modeshift.engines.space import Space
from modeshift.spec import Spec


def pose(space: Space, spec: Spec, points: Any, weights: Any, scale: float) -> Problem:
    """State the problem of a spec for points in the user's units (unit vectors on the sphere)."""
    units = units_of(space, spec, points, weights, scale)
    weights = space.weights_to_units(weights, units.weight)
    return problem_of(spec, space.to_units(points, units.length), weights, scale, units)


def units_of(space: Space, spec: Spec, points: Any, weights: Any, scale: float) -> Units:
    """Return units in which nothing overflows or vanishes; a metric's own units stay."""
    units = space.choose_units(points, weights, scale)
    return units._replace(length=0) if spec.has_own_units else units


def problem_of(spec: Spec, points: Any, weights: Any, scale: float, units: Units) -> Problem:
    """State the problem for points and weights in its units; the scale is in the user's."""
    return Problem(
        points=points,
        weights=weights,
        radius=float(np.ldexp(spec.radius, -units.length)),
        scale=float(np.ldexp(scale, -units.length)),
        exponent=units.length,
        weight_exponent=units.weight,
        rule=_rule(spec, weights, units),
    )


def _rule(spec: Spec, weights: Any, units: Units) -> Rule:
    space = space_of(spec.metric)
    ball = Gaussian(space) if spec.kernel == "gaussian" else Flat(space)
    if spec.n_neighbors is None:
        return ball
    return nearest(ball, float(np.ldexp(float(spec.n_neighbors), -units.weight)), weights)


def smallest_cluster(spec: Spec, problem: Problem) -> float:
    """Return the smallest weight of a cluster, in the units of the problem; 0 keeps all."""
    if spec.min_cluster_size in (None, 1):
        return 0.0
    return float(np.ldexp(float(spec.min_cluster_size), -problem.weight_exponent))
