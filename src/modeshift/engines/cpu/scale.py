"""The scale of data with an infinite bandwidth: the distance to the k-th nearest point."""

from collections.abc import Callable
from functools import partial

import numpy as np

from modeshift.engines.cpu.fields import make_field
from modeshift.engines.cpu.fields.heap import farthest_held
from modeshift.engines.cpu.fields.protocol import average_near
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.rule import Flat, nearest
from modeshift.spec import Spec

_SAMPLE = 1000  # largest number of points in the median


Farthest = Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]
"""From points, weights, places and k to the squared distance of each place to its k-th point."""


def scale_of(
    spec: Spec, points: np.ndarray, weights: np.ndarray, farthest: Farthest | None = None
) -> float:
    """Return the length that ``tol`` and ``merge_radius`` are fractions of: mostly the radius."""
    if spec.radius < np.inf:
        return spec.radius
    assert spec.n_neighbors is not None
    farthest = farthest or partial(_farthest, n_jobs=spec.n_threads)
    scale = nearest_scale(points, weights, spec.n_neighbors, farthest)
    return scale * spec.shrinkage(points.shape[1])


def _farthest(
    points: np.ndarray, weights: np.ndarray, places: np.ndarray, k: int, n_jobs: int = 1
) -> np.ndarray:
    """Return the squared distance of each place to its k-th nearest point, by weight."""
    field = make_field(points, weights, np.inf, n_jobs=n_jobs, rule=nearest(Flat(), k, weights))
    squares = np.empty(len(places))

    def block(start: int, stop: int) -> None:
        _ask(field.state, places, start, stop, field.make_out(), squares)

    run_blocks(block, len(places), n_jobs)
    return squares


def nearest_scale(
    points: np.ndarray, weights: np.ndarray, k: int, farthest: Farthest = _farthest
) -> float:
    """Return the median distance of the points to their k-th nearest point, themselves included.

    Points count by their weight. The median is taken over at most 1000 points, drawn with seed 0.
    If most of the distances are 0, it is the median of the others. If all are 0, it is the median
    distance of the places to the nearest other place, and 1.0 if there is only one. If these
    distances are too small to be squared, it is the largest extent of a feature.
    """
    heavy = weights > 0.0
    points, weights = points[heavy], weights[heavy]
    # A power of two as the unit keeps squares in range, and rounds nothing.
    exponent = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, -exponent, dtype=np.float64)
    typical = _typical_distance(points, weights, k, farthest)
    extent = float(np.ptp(points, axis=0).max())
    if typical == 0.0 and extent > 0.0:
        apart = np.unique(points, axis=0)
        typical = _typical_distance(apart, np.ones(len(apart)), 2, farthest) or extent
    return float(np.ldexp(typical, exponent)) or 1.0


def _typical_distance(points: np.ndarray, weights: np.ndarray, k: int, farthest: Farthest) -> float:
    """Return the median distance; if most are 0 that of the others, and 0 if all are."""
    asked = np.arange(len(points))
    if len(points) > _SAMPLE:
        asked = np.random.RandomState(0).choice(len(points), _SAMPLE, replace=False)
    squares = farthest(points, weights, points[asked], k)
    distances, weights = np.sqrt(squares), weights[asked]
    typical = _median(distances, weights)
    if typical == 0.0 and distances.any():
        typical = _median(distances[distances > 0.0], weights[distances > 0.0])
    return typical


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted median; whole weights are the same as repeated values."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    low, high = np.searchsorted(below, half, "left"), np.searchsorted(below, half, "right")
    return float(0.5 * (values[order[low]] + values[order[high]]))


@bare_kernel
def _ask(state, places, start, stop, out, squares):
    for i in range(start, stop):
        average_near(state, places[i], np.inf, out)
        squares[i] = farthest_held(out[places.shape[1] :])
