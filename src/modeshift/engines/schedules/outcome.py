"""The outcome of a schedule."""

from typing import NamedTuple

import numpy as np


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

    def __init__(self, starts: np.ndarray) -> None:
        self._owners = [np.arange(len(starts))]
        self._positions = [starts.copy()]

    def add(self, owners: np.ndarray, positions: np.ndarray) -> None:
        """Add the new position of each owner."""
        self._owners.append(owners.copy())
        self._positions.append(positions.copy())

    def paths(self) -> list[np.ndarray]:
        """Return the positions of each point, in the order of time."""
        owners = np.concatenate(self._owners)
        positions = np.concatenate(self._positions)[np.argsort(owners, kind="stable")]
        return np.split(positions, np.cumsum(np.bincount(owners))[:-1])
