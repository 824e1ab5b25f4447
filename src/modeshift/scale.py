"""A length for data whose neighbourhoods have none: how far the k nearest reach."""

import numpy as np

from modeshift._jit import bare_kernel
from modeshift.fields import make_field
from modeshift.fields.heap import farthest_held
from modeshift.fields.protocol import average_near
from modeshift.fields.rule import Flat, nearest
from modeshift.parallel import run_blocks

_SAMPLE = 1000  # points that are asked, at most


def nearest_scale(points: np.ndarray, weights: np.ndarray, k: int, n_jobs: int = 1) -> float:
    """Median over the points of the distance to their k-th nearest one, themselves included.

    Above 1000 points so many are asked, drawn with seed 0. Where most of these distances are 0 it
    is the median of the others, and 1.0 when all points coincide.
    """
    places = points
    if len(points) > _SAMPLE:
        places = points[np.random.RandomState(0).choice(len(points), _SAMPLE, replace=False)]
    # A power of two as the unit keeps squares of tiny and huge numbers within range, exactly.
    exponent = int(np.frexp(np.abs(points).max())[1])
    places = np.ldexp(places, -exponent, dtype=np.float64)
    points = np.ldexp(points, -exponent, dtype=np.float64)
    field = make_field(points, weights, np.inf, n_jobs=n_jobs, rule=nearest(Flat(), k, weights))
    squares = np.empty(len(places))

    def block(start: int, stop: int) -> None:
        _ask(field.state, places, start, stop, field.make_out(), squares)

    run_blocks(block, len(places), n_jobs)
    distances = np.sqrt(squares)
    typical = np.median(distances)
    if typical == 0.0 and distances.any():
        typical = np.median(distances[distances > 0.0])
    return float(np.ldexp(typical, exponent)) or 1.0


@bare_kernel
def _ask(state, places, start, stop, out, squares):
    for i in range(start, stop):
        average_near(state, places[i], np.inf, out)
        squares[i] = farthest_held(out[places.shape[1] :])
