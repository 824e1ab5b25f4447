"""The field: positions and weights of all points, able to say the mean near a place."""

from typing import Any, Self

import numpy as np

from modeshift._jit import bare_kernel
from modeshift.fields.protocol import make_out, mean_near, move
from modeshift.parallel import run_blocks


@bare_kernel
def _means_of_block(state, places, order, radius, start, stop, out, means, masses):
    for i in order[start:stop]:
        masses[i] = mean_near(state, places[i], radius, out)
        for k in range(places.shape[1]):
            means[i, k] = out[k]


class Field:
    """Base of all fields: the batch and single-point questions, asked of ``self.state``.

    A kind of field is a subclass that builds its state from points and weights, and functions that
    implement ``mean_near`` and ``move`` (and ``mean_of`` where it pays) for that state.

    Parameters
    ----------
    points : ndarray of shape (n, d), float64
        Positions. The field keeps its own copy.
    weights : ndarray of shape (n,), float64
        Mass of each point, not negative.
    bandwidth : float
        The largest radius that will be asked for.
    """

    state: Any

    def __init__(self, points: np.ndarray, weights: np.ndarray, bandwidth: float) -> None:
        self.weights = weights
        self.bandwidth = bandwidth
        self.state = self._build(points.copy(), weights, bandwidth)

    @staticmethod
    def _build(points: np.ndarray, weights: np.ndarray, bandwidth: float) -> Any:
        """Build the state over points that it may keep and change."""
        raise NotImplementedError

    @property
    def points(self) -> np.ndarray:
        """Current positions."""
        return self.state.points

    def at(self, points: np.ndarray) -> Self:
        """Build a field of the same kind and weights over other positions."""
        return type(self)(points, self.weights, self.bandwidth)

    def mean_near(self, x: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
        """Weighted mean of the points within ``radius`` of ``x``, and their mass."""
        means, masses = self.means_near(np.asarray(x, dtype=float)[np.newaxis], radius)
        return means[0], float(masses[0])

    def means_near(
        self, places: np.ndarray, radius: float, n_jobs: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and masses near many places, which may be the points themselves."""
        means = np.empty_like(places)
        masses = np.empty(len(places))
        order = self._order(places)

        def block(start: int, stop: int) -> None:
            out = make_out(places.shape[1])
            _means_of_block(self.state, places, order, radius, start, stop, out, means, masses)

        run_blocks(block, len(places), n_jobs)
        return means, masses

    def is_quiet(self, radius: float, tol: float, n_jobs: int = 1) -> bool:
        """Whether no point would move further than ``tol``. Nobody moves."""
        points = self.points
        means = np.empty_like(points)
        masses = np.empty(len(points))
        order = self._order(points)

        def block(start: int, stop: int) -> bool:
            out = make_out(points.shape[1])
            _means_of_block(self.state, points, order, radius, start, stop, out, means, masses)
            visited = order[start:stop]
            shifts = means[visited] - points[visited]
            return bool((np.einsum("ij,ij->i", shifts, shifts) > tol * tol).any())

        return not run_blocks(block, len(points), n_jobs)

    def _order(self, places: np.ndarray) -> np.ndarray:
        """Return an order in which to visit places, so that one finds what the last one used."""
        return np.arange(len(places))

    def move(self, j: int, x: np.ndarray) -> None:
        """Put point ``j`` to ``x``."""
        _move_point(self.state, j, np.asarray(x, dtype=float))


@bare_kernel
def _move_point(state, j, x):
    move(state, j, x)
