"""Which points count in a mean, how much, and where the mean lies: rules that fields follow.

A rule is a part of the state of a field. Its class is known to the compiler, so every rule becomes
code of its own and the others cost nothing.
"""

from functools import singledispatch
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numba.extending import overload

TRUNCATION = 6.0
"""Points further away than this many bandwidths have no weight under the Gaussian kernel.

The truncated kernel is the definition: exp(-18) = 1.5e-8 is where it ends.
"""

NO_DIRECTION = 2.0**-40
"""A mean of unit vectors that is shorter than this is 0 but for rounding."""


class Plane(NamedTuple):
    """Points may be anywhere."""


class Sphere(NamedTuple):
    """Points have length 1, and means are put back there."""


class Flat(NamedTuple):
    """All points within the radius count alike."""

    space: Plane | Sphere = Plane()


class Gaussian(NamedTuple):
    """A point at the distance r counts exp(-r^2 / (2 radius^2)), up to ``TRUNCATION`` radii."""

    space: Plane | Sphere = Plane()


class Nearest(NamedTuple):
    """Of the points that count under another rule, the nearest, until their mass reaches k.

    The last one counts only with the part that is needed, so that a point of weight 2 equals two
    points. Ties go to the lower index. A point of weight 0 never counts.

    Attributes
    ----------
    ball : Flat or Gaussian
    space : Plane or Sphere
    k : float
        In the units of the weights.
    room : int
        How many points a question may have to hold at the same time.
    """

    ball: Flat | Gaussian
    space: Plane | Sphere
    k: float
    room: int


Rule = Flat | Gaussian | Nearest


def nearest(ball: Flat | Gaussian, k: float, weights: np.ndarray) -> Nearest:
    """Limit a rule to the nearest points of the mass k."""
    n, lightest = len(weights), weights[weights > 0].min()
    # They make up k with the last one of them, and one more is held while it is compared.
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
    """Return by what the weight of a point counts at the squared distance ``square``."""
    return 1.0


@worth_of.register(Gaussian)
def _worth_of_gaussian(rule, square, radius):
    return exp(-0.5 * square / (radius * radius))


@singledispatch
def land(space, x, out):
    """Put the mean of the points near x, which is in ``out``, to where points may be."""


@land.register(Sphere)
def _land_on_sphere(space, x, out):
    """Divide the mean by its length. One without direction leaves x where it is."""
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
