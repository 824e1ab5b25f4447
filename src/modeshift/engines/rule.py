"""Rules: which points count in a mean, how much, and where the mean lies.

A rule is a part of the state of a field. The compiler knows its class, so every rule becomes its
own code, without the cost of the others.
"""

from functools import singledispatch
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numba.extending import overload

from modeshift.engines.exponential import exponential
from modeshift.plda import PLDAMetric

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


class Latent(NamedTuple):
    """Coordinates u of a PLDA (:mod:`modeshift.plda`): points are near if their score is high.

    Squared distances from x to y exceed |x - y|^2 by e(x) + e(y), e(x) = 2 (E g - g(x)). So "at
    most h^2" is a score of at least T - h^2 / 2, see ``PLDAMetric.bandwidth_at``.

    Attributes
    ----------
    metric : PLDAMetric
    shares : ndarray of shape (d,)
        g(u) = sum_i u_i^2 shares_i / 2.
    typical : float
        2 E g.
    origin : ndarray of shape (d,)
        m: the coordinates of x = 2 mu.
    gram, cross, square : ndarray of shape (d, d), ndarray of shape (d,), float
        |x|^2 = u' gram u + 2 u' cross + square.
    """

    metric: PLDAMetric
    shares: np.ndarray
    typical: float
    origin: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    square: float

    @classmethod
    def of(cls, metric: PLDAMetric) -> Self:
        """Return the space of a model."""
        mean, frame = metric.mean, metric.frame
        return cls(
            metric=metric,
            shares=1.0 / (1.0 + metric.psi),
            typical=2.0 * metric.typical_gain,
            origin=mean @ metric.basis * metric.scales,
            gram=frame @ frame.T,
            cross=frame @ mean,
            square=float(mean @ mean),
        )


METRICS: dict[str, type[Plane] | type[Sphere]] = {
    "euclidean": Plane,
    "cosine": Sphere,
    "haversine": Globe,
}
"""Where points lie, by the name of a metric."""

Place = Plane | Sphere | Latent


def space_of(metric: str | PLDAMetric) -> Place:
    """Return where points lie."""
    return Latent.of(metric) if isinstance(metric, PLDAMetric) else METRICS[metric]()


def metric_of_space(space: Place) -> Any:
    """Return the metric of points: the inverse."""
    if isinstance(space, Latent):
        return space.metric
    return next(name for name, kind in METRICS.items() if kind is type(space))


class Flat(NamedTuple):
    """All points within the radius count alike."""

    space: Place = Plane()


class Gaussian(NamedTuple):
    """A point at the distance r counts exp(-r^2 / (2 radius^2)), up to ``TRUNCATION`` radii."""

    space: Place = Plane()


class Nearest(NamedTuple):
    """Only the nearest of the points that count under another rule, up to the mass k.

    The farthest of them counts with the part of its weight that makes the mass k, so that a point
    of weight 2 equals two points. Ties go to the lower index. A point of weight 0 never counts.

    Attributes
    ----------
    ball : Flat or Gaussian
    space : Plane, Sphere or Latent
    k : float
        Mass, in the units of the weights.
    room : int
        Largest number of points that a query holds at the same time.
    """

    ball: Flat | Gaussian
    space: Place
    k: float
    room: int


Rule = Flat | Gaussian | Nearest


def nearest(ball: Flat | Gaussian, k: float, weights: Any) -> Nearest:
    """Limit a rule to the nearest points of the mass k."""
    n, lightest = len(weights), float(weights[weights > 0].min())
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


@land.register(Latent)
def _land_on_length_one(space, x, out):
    """Divide the vector of the mean by its length; x stays where it is if the vector is 0.

    The vector mu + u F, divided by its length l, has the coordinates (u + (1 - l) m) / l.
    """
    if not space.metric.unit:
        return
    square = space.square
    for i in range(x.shape[0]):
        inner = 2.0 * space.cross[i]
        for j in range(x.shape[0]):
            inner += space.gram[i, j] * out[j]
        square += inner * out[i]
    length = sqrt(max(square, 0.0))
    for k in range(x.shape[0]):
        mended = (out[k] + (1.0 - length) * space.origin[k]) / length
        out[k] = mended if length > NO_DIRECTION else x[k]


@singledispatch
def excess_of(space, x):
    """Return by what squared distances from x exceed those of coordinates."""
    return 0.0


@excess_of.register(Latent)
def _excess_of_latent(space, x):
    gain = 0.0
    for k in range(x.shape[0]):
        gain += x[k] * x[k] * space.shares[k]
    return space.typical - gain


def excesses_of(space: Place, points: np.ndarray) -> np.ndarray:
    """Return the excess of each point."""
    if isinstance(space, Latent):
        return space.typical - (points * points) @ space.shares
    return np.zeros(len(points))


@overload(reach_of, jit_options={"forceinline": True})
def _compile_reach_of(rule, radius):
    return reach_of.dispatch(rule.instance_class)


@overload(worth_of, jit_options={"forceinline": True})
def _compile_worth_of(rule, square, radius):
    return worth_of.dispatch(rule.instance_class)


@overload(land, jit_options={"forceinline": True})
def _compile_land(space, x, out):
    return land.dispatch(space.instance_class)


@overload(excess_of, jit_options={"forceinline": True})
def _compile_excess_of(space, x):
    return excess_of.dispatch(space.instance_class)
