"""The field: positions and weights of all points. It returns the mean near a place."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.heap import heap_length
from modeshift.engines.cpu.fields.protocol import make_out, mean_near, move
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import run_blocks
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.rule import Flat, Nearest, Rule

_FLAT = Flat()


class Means(NamedTuple):
    """Means near many places.

    Attributes
    ----------
    means : ndarray of shape (m, d)
        Weighted mean of the points near each place; without mass it is the place itself.
    masses : ndarray of shape (m,)
        Weight of the points near each place.
    squares : ndarray of shape (m,)
        Squared distance from each place to its mean: the shift.
    """

    means: np.ndarray
    masses: np.ndarray
    squares: np.ndarray


def no_means(places: np.ndarray) -> Means:
    """Return space for the means near some places."""
    return Means(np.empty_like(places), np.empty(len(places)), np.zeros(len(places)))


class Field(ABC):
    """Base of all fields, with queries for one place and for many.

    A kind of field is a subclass that builds its state from points, and functions that implement
    ``average_near`` and ``move`` (and, if it is faster, ``average_of`` and ``wants_care``) for that
    state and its rules.

    Parameters
    ----------
    points : ndarray of shape (n, d), float64
        Positions. The field keeps its own copy.
    weights : ndarray of shape (n,), float64
        Mass of each point, not negative.
    radius : float
        Largest radius of all queries.
    n_jobs : int
        Number of threads that build the field and answer queries for many places.
    rule : Rule
        Which points near a place count, how much, and where their mean lies.
    """

    state: Any

    def __init__(
        self,
        points: np.ndarray,
        weights: np.ndarray,
        radius: float,
        n_jobs: int = 1,
        rule: Rule = _FLAT,
    ) -> None:
        self.weights = weights
        self.radius = radius
        self.n_jobs = n_jobs
        self.space = NumpySpace(n_jobs)
        self.rule = rule
        self.state = self._build(points.copy())

    @abstractmethod
    def _build(self, points: np.ndarray) -> Any:
        """Build the state. It may keep and change the points."""

    @property
    def points(self) -> np.ndarray:
        """Current positions."""
        return self.state.points

    def at(self, points: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Return a field of the same kind over other positions, and other weights if given."""
        weights = self.weights if weights is None else weights
        return type(self)(points, weights, self.radius, self.n_jobs, self.rule)

    def moved(self, rows: np.ndarray, places: np.ndarray) -> Self:
        """Return a copy of the field in which some points have moved."""
        points = self.points.copy()
        points[rows] = places
        return self.at(points)

    @property
    def may_collapse(self) -> bool:
        """Whether points that coincide can be joined. Not if ties go by the index of a point."""
        return not isinstance(self.rule, Nearest)

    def make_out(self) -> np.ndarray:
        """Return an array for the results of compiled queries, with scratch space for the rule."""
        extra = heap_length(self.rule.room) if isinstance(self.rule, Nearest) else 0
        return make_out(self.points.shape[1], extra)

    def mean_near(self, x: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
        """Return the weighted mean of the points within ``radius`` of ``x``, and their mass."""
        answer = self.means_near(np.asarray(x, dtype=float)[np.newaxis], radius)
        return answer.means[0], float(answer.masses[0])

    def means_near(
        self, places: np.ndarray, radius: float | None = None, tol: float = np.inf
    ) -> Means:
        """Return the means near many places, by default near the points themselves.

        The default of ``radius`` is that of the field. After a shift longer than ``tol`` the
        remaining means may be missing.
        """
        radius = self.radius if radius is None else radius
        answer = no_means(places)
        self._answer(places, self._order(places), radius, tol, answer)
        return answer

    def _answer(
        self, places: np.ndarray, order: np.ndarray, radius: float, tol: float, answer: Means
    ) -> None:
        """Write the means near the places in ``order``; stop after a shift longer than ``tol``."""

        def block(start: int, stop: int) -> bool:
            out = self.make_out()
            largest = _answer_block(self.state, places, order[start:stop], radius, out, answer)
            return largest > tol * tol

        run_blocks(block, len(order), self.n_jobs)

    def stand_still(self) -> None:
        """Say that many queries come before the next move, so that preparations for them pay."""
        return

    def is_quiet(self, tol: float) -> bool:
        """Return whether no point would move further than ``tol``. No point is moved."""
        return bool(self.means_near(self.points, tol=tol).squares.max() <= tol * tol)

    def move(self, j: int, x: np.ndarray) -> None:
        """Move point ``j`` to ``x``."""
        self.move_points(np.array([j]), np.asarray(x, dtype=float)[np.newaxis])

    def move_points(self, rows: np.ndarray, places: np.ndarray) -> None:
        """Move some of the points."""
        move_rows(self.state, rows, places)
        self.tend()

    def tend(self) -> None:
        """Rebuild parts of the field after many moves, if needed; see ``wants_care``."""
        return

    def _order(self, places: np.ndarray) -> np.ndarray:
        """Return an order of places in which neighbours follow each other, which caches favour."""
        return np.arange(len(places))


@bare_kernel
def _answer_block(state, places, order, radius, out, answer):
    """Compute the means of the places in ``order``; return the largest squared shift."""
    largest = 0.0
    for i in order:
        answer.masses[i] = mean_near(state, places[i], radius, out)
        answer.squares[i] = squared_distance(out, places[i])
        largest = max(largest, answer.squares[i])
        for k in range(places.shape[1]):
            answer.means[i, k] = out[k]
    return largest


@bare_kernel
def move_rows(state, rows, places):
    """Move points one after the other."""
    for i in range(rows.shape[0]):
        move(state, rows[i], places[i])
