"""Rules: which points count in a mean, how much, and where the mean lies.

A rule is a part of the state of a field. The compiler knows its class, so every rule becomes its
own code, without the cost of the others.
"""

from functools import singledispatch
from math import sqrt
from typing import NamedTuple

import numpy as np
from numba.extending import overload

from modeshift.engines.exponential import exponential

TRUNCATION = 6.0
"""Number of bandwidths beyond which the Gaussian kernel is 0.

The truncated kernel is the definition. At this distance it is exp(-18) = 1.5e-8.
"""

NO_DIRECTION = 2.0**-40
"""A mean of unit vectors shorter than this is 0, up to rounding."""


class Plane(NamedTuple):
    """No constraint: points may be anywhere."""


class Sphere(NamedTuple):
    """Points have length 1, and means are put back on the sphere."""


class Globe(Sphere):
    """Unit vectors that stand for latitude and longitude; see :mod:`modeshift.globe`."""


METRICS: dict[str, type[Plane] | type[Sphere]] = {
    "euclidean": Plane,
    "cosine": Sphere,
    "haversine": Globe,
}
"""Where points lie, by metric."""


class Flat(NamedTuple):
    """All points within the radius count alike."""

    space: Plane | Sphere = Plane()


class Gaussian(NamedTuple):
    """A point at the distance r counts exp(-r^2 / (2 radius^2)), up to ``TRUNCATION`` radii."""

    space: Plane | Sphere = Plane()


class Nearest(NamedTuple):
    """Only the nearest of the points that count under another rule, up to the mass k.

    The farthest of them counts with the part of its weight that makes the mass k, so that a point
    of weight 2 equals two points. Ties go to the lower index. A point of weight 0 never counts.

    Attributes
    ----------
    ball : Flat or Gaussian
    space : Plane or Sphere
    k : float
        Mass, in the units of the weights.
    room : int
        Largest number of points that a query holds at the same time.
    """

    ball: Flat | Gaussian
    space: Plane | Sphere
    k: float
    room: int


Rule = Flat | Gaussian | Nearest


def nearest(ball: Flat | Gaussian, k: float, weights: np.ndarray) -> Nearest:
    """Limit a rule to the nearest points of the mass k."""
    n, lightest = len(weights), weights[weights > 0].min()
    # Points up to the mass k, and one more while it is compared.
    room = n if k >= n * lightest else min(n, int(np.ceil(k / lightest)) + 2)
    return Nearest(ball, ball.space, float(k), room)


@singledispatch
def reach_of(rule, radius):
    """Return the squared distance up to which points count."""
    return radius * radius


@reach_of.register(Gaussian)
def _reach_of_gaussian(rule, radius):
    return (TRUNCATION * radius) * (TRUNCATION * radius)


@reach_of.register(Nearest)
def _reach_of_nearest(rule, radius):
    return reach_of(rule.ball, radius)


@singledispatch
def worth_of(rule, square, radius):
    """Return the factor of the weight of a point at the squared distance ``square``."""
    return 1.0


@worth_of.register(Gaussian)
def _worth_of_gaussian(rule, square, radius):
    return exponential(square * (-0.5 / (radius * radius)))


@singledispatch
def land(space, x, out):
    """Put the mean near x, which is in ``out``, back on the sphere if points lie there."""


@land.register(Sphere)
def _land_on_sphere(space, x, out):
    """Divide the mean by its length; x stays where it is if the mean is 0."""
    square = 0.0
    for k in range(x.shape[0]):
        square += out[k] * out[k]
    length = sqrt(square)
    for k in range(x.shape[0]):
        out[k] = out[k] / length if length > NO_DIRECTION else x[k]


@overload(reach_of, jit_options={"forceinline": True})
def _compile_reach_of(rule, radius):
    return reach_of.dispatch(rule.instance_class)


@overload(worth_of, jit_options={"forceinline": True})
def _compile_worth_of(rule, square, radius):
    return worth_of.dispatch(rule.instance_class)


@overload(land, jit_options={"forceinline": True})
def _compile_land(space, x, out):
    return land.dispatch(space.instance_class)
