"""The field: positions and weights of all points. It returns the mean near a place."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from modeshift.engines.cpu.distance import squared_distance
from modeshift.engines.cpu.fields.heap import heap_length
from modeshift.engines.cpu.fields.protocol import WASTE, average_near, make_out, move, note_waste
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import run_blocks, threads_for
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.rule import Flat, Nearest, Rule, land

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


class Averages(NamedTuple):
    """Averages near many places, before they are put back on the sphere, and their masses."""

    averages: np.ndarray
    masses: np.ndarray


class Asked(NamedTuple):
    """Questions for the averages near many places, and room for the answers.

    Attributes
    ----------
    places : ndarray of shape (m, d)
    radii : ndarray of shape (m,)
        The radius of each question.
    averages : ndarray of shape (m, d)
    masses : ndarray of shape (m,)
    """

    places: np.ndarray
    radii: np.ndarray
    averages: np.ndarray
    masses: np.ndarray


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

    def follow_state(self) -> None:  # noqa: B027 - a default, which no field needs to replace
        """Do nothing: the state is complete."""

    @property
    def may_collapse(self) -> bool:
        """Whether points that coincide can be joined. Not if ties go by the index of a point."""
        return not isinstance(self.rule, Nearest)

    @property
    def thread_load(self) -> int:
        """Least number of questions for which it pays to wake a thread."""
        return 1

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
        radii = np.full(len(places), self.radius if radius is None else radius)
        answer = Means(np.empty_like(places), np.empty(len(places)), np.zeros(len(places)))

        def land_part(part: np.ndarray) -> bool:
            return _land_block(self.rule.space, places, part, answer) > tol * tol

        self._ask(Asked(places, radii, answer.means, answer.masses), land_part)
        return answer

    def averages_near(self, places: np.ndarray, radii: np.ndarray) -> Averages:
        """Return the averages near many places, each within its own radius.

        The field notes comparisons that a new index would have saved, for :meth:`tend`.
        """
        answer = Averages(np.empty_like(places), np.empty(len(places)))
        note_waste(self.state, self._ask(Asked(places, radii, *answer), lambda part: False))
        return answer

    def _ask(self, asked: Asked, then: Callable[[np.ndarray], bool]) -> float:
        """Answer questions on all threads; return comparisons that a new index would have saved.

        ``then`` is called with the numbers of questions that are answered. When it returns True,
        the others are left out.
        """
        return self._ask_singly(asked, self._order(asked.places), then)

    def _ask_singly(
        self, asked: Asked, order: np.ndarray, then: Callable[[np.ndarray], bool]
    ) -> float:
        """Answer the questions in ``order`` one by one."""
        waste: list[float] = []

        def block(start: int, stop: int) -> bool:
            part, out = order[start:stop], self.make_out()
            answer_block(self.state, asked, part, out)
            waste.append(out[WASTE])
            return then(part)

        run_blocks(block, len(order), threads_for(len(order), self.thread_load, self.n_jobs))
        return sum(waste)

    def stand_still(self) -> None:
        """Say that many queries come before the next move, so that preparations are kept."""
        return

    def is_quiet(self, tol: float) -> bool:
        """Return whether no point would move further than ``tol``. No point is moved."""
        return bool(self.means_near(self.points, tol=tol).squares.max() <= tol * tol)

    def move(self, j: int, x: np.ndarray) -> None:
        """Move point ``j`` to ``x``."""
        self.move_points(np.array([j]), np.asarray(x, dtype=float)[np.newaxis])

    def move_points(self, rows: np.ndarray, places: np.ndarray) -> None:
        """Move some of the points."""
        _move_rows(self.state, rows, places)
        self.tend()

    def tend(self) -> None:
        """Rebuild parts of the field after many moves, if needed; see ``wants_care``."""
        return

    def _order(self, places: np.ndarray) -> np.ndarray:
        """Return an order of places in which neighbours follow each other, which caches favour."""
        return np.arange(len(places))


@bare_kernel
def answer_block(state, asked, order, out):
    """Answer the questions in ``order``."""
    for i in order:
        asked.masses[i] = average_near(state, asked.places[i], asked.radii[i], out)
        for k in range(asked.places.shape[1]):
            asked.averages[i, k] = out[k]


@bare_kernel
def _land_block(space, places, order, answer):
    """Turn averages into means, and compute the shifts; return the largest squared shift."""
    largest = 0.0
    for i in order:
        land(space, places[i], answer.means[i])
        answer.squares[i] = squared_distance(answer.means[i], places[i])
        largest = max(largest, answer.squares[i])
    return largest


@bare_kernel
def _move_rows(state, rows, places):
    """Move points one after the other."""
    for i in range(rows.shape[0]):
        move(state, rows[i], places[i])
