"""The outcome of a schedule."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.space import Space


class Outcome(NamedTuple):
    """Ends of the points, and counts of steps.

    Attributes
    ----------
    ends : ndarray of shape (n, d)
        Final positions, one row for each point that moved.
    n_iter : int
        Number of sweeps, or steps of the longest climb.
    n_steps : int
        Number of steps of all points together.
    converged : bool
        Whether the run ended before ``max_iter``.
    paths : list of ndarray of shape (1 + steps, d), or None
        Positions of each point, its start first, if they were recorded.
    factors : ndarray of shape (d,), or None
        Factors of the features in distances, if feature weights were learned.
    """

    ends: np.ndarray
    n_iter: int
    n_steps: int
    converged: bool
    paths: list[np.ndarray] | None
    factors: np.ndarray | None = None


class PathRecorder:
    """Collects positions of points in the order of time and sorts them into paths."""

    def __init__(self, space: Space, starts: Any) -> None:
        self._space = space
        self._owners = [space.arange(len(starts))]
        self._positions = [space.copy(starts)]

    def add(self, owners: Any, positions: Any) -> None:
        """Add the new position of each owner."""
        self._owners.append(self._space.copy(owners))
        self._positions.append(self._space.copy(positions))

    def paths(self) -> list[Any]:
        """Return the positions of each point, in the order of time."""
        join = self._space.concatenate
        return self._space.cut(join(self._positions), join(self._owners))
