"""What every schedule hands back."""

from typing import NamedTuple

import numpy as np


class Outcome(NamedTuple):
    """Where the points ended and how they got there.

    Attributes
    ----------
    ends : ndarray of shape (n, d)
        Final positions, one row for each point that moved.
    n_iter : int
        Sweeps, or the longest climb.
    n_steps : int
        Steps taken by all points together.
    converged : bool
        Whether the last shifts were small enough.
    paths : list of ndarray of shape (1 + steps, d), or None
        For each point its positions from the start on, when they were recorded.
    factors : ndarray of shape (d,), or None
        By which features are multiplied to measure distances, when their weights were learned.
    """

    ends: np.ndarray
    n_iter: int
    n_steps: int
    converged: bool
    paths: list[np.ndarray] | None
    factors: np.ndarray | None = None


class PathRecorder:
    """Collects (point, position) events in the order of time and sorts them into paths."""

    def __init__(self, starts: np.ndarray) -> None:
        self._owners = [np.arange(len(starts))]
        self._positions = [starts.copy()]

    def add(self, owners: np.ndarray, positions: np.ndarray) -> None:
        """Note that each owner went to its position."""
        self._owners.append(owners.copy())
        self._positions.append(positions.copy())

    def paths(self) -> list[np.ndarray]:
        """Return the positions of each point, in the order of time."""
        owners = np.concatenate(self._owners)
        positions = np.concatenate(self._positions)[np.argsort(owners, kind="stable")]
        return np.split(positions, np.cumsum(np.bincount(owners))[:-1])
