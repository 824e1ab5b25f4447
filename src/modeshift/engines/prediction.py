"""Label new points: the nearest fitted points vote, near ones more than far ones."""

from collections.abc import Callable
from math import exp, lgamma, log, log1p, pi
from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.problem import Problem
from modeshift.engines.rule import Gaussian, Nearest, metric_of_space
from modeshift.engines.schedules.field import BatchField
from modeshift.engines.space import Space
from modeshift.globe import RADIUS

VOTERS = 10
"""Number of fitted points that vote. docs/algorithms.md compares it with other rules."""

_BLOCK = 1 << 16  # new points that are labelled at the same time


class Grid(NamedTuple):
    """The cells of a fit with ``resolution``; the points of the model are the cells' means.

    Attributes
    ----------
    keys : ndarray of shape (m, d)
    side : float
        In the units of the problem.
    firsts : ndarray of shape (m,)
        First fitted point of each cell.
    """

    keys: np.ndarray
    side: float
    firsts: np.ndarray


class Model(NamedTuple):
    """Data of a fit for ``predict``, in the units of the problem.

    Attributes
    ----------
    problem : Problem
        Its points are the fitted points at their original positions.
    labels : array of shape (n,)
    n_clusters : int
    feature_scale : tuple of float, or None
        Length of each feature, by which points were divided.
    grid : Grid or None
        With ``resolution``.
    """

    problem: Problem
    labels: Any
    n_clusters: int
    feature_scale: tuple[float, ...] | None = None
    grid: Grid | None = None

    @property
    def metric(self) -> Any:
        """The metric of the fit."""
        return metric_of(self.problem)


class Voters(NamedTuple):
    """The nearest fitted points of new points, from near to far; arrays of shape (m, k).

    Attributes
    ----------
    squares : array
        Squared distances.
    labels, weights : array
    """

    squares: Any
    labels: Any
    weights: Any


class Index:
    """The fitted points, ready to be searched. Trees are built once.

    Parameters
    ----------
    space : Space
    model : Model
        With arrays of the space.
    make_field : function of a problem
        Builds the field that measures densities; called when a density is first asked for.
    cell_of : function of points, or None
        Returns the fitted cell that each point is in, -1 if there is none. The label of a cell
        belongs to all points in it.
    """

    def __init__(
        self,
        space: Space,
        model: Model,
        make_field: Callable[[Problem], BatchField],
        cell_of: Callable[[Any], Any] | None = None,
    ) -> None:
        problem = model.problem
        self._space, self._model = space, model
        self._search = space.nearest_search(problem.measured(problem.points))
        self._make_field, self._cell_of = make_field, cell_of
        self._field: BatchField | None = None

    def label(self, points: Any, *, outliers: bool) -> Any:
        """Label new points; with ``outliers``, -1 beyond the bandwidth of all fitted points."""
        reach = self._model.problem.radius**2 if outliers else None
        return self._answers(points, lambda voters: winners_of(self._space, voters, reach))

    def membership(self, points: Any) -> Any:
        """Return the share of the votes that each cluster gets, of shape (m, n_clusters)."""
        n_clusters = self._model.n_clusters
        return self._answers(points, lambda voters: memberships_of(self._space, voters, n_clusters))

    def log_density(self, points: Any) -> Any:
        """Return the logarithm of the kernel density of the fitted points, in user units."""
        problem = plain_problem(self._model.problem)
        if self._field is None:
            self._field = self._make_field(problem)
        places = problem.measured(self._space.to_units(points, problem.exponent))
        order = self._space.order_in_space(places)
        masses = self._space.in_double(places[:, 0])
        masses[order] = self._space.in_double(self._field.means_near(places[order]).masses)
        total = float(problem.weights.sum())
        constant = log_constant(problem, places.shape[1], self._model.feature_scale)
        return self._space.log(masses / total) + constant

    def _answers(self, points: Any, answer: Callable[[Voters], Any]) -> Any:
        """Return the answer to the voters of each new point, one block after the other."""
        starts = range(0, max(len(points), 1), _BLOCK)
        blocks = (points[start : start + _BLOCK] for start in starts)
        return self._space.concatenate([self._answer(block, answer) for block in blocks])

    def _answer(self, points: Any, answer: Callable[[Voters], Any]) -> Any:
        positions = self._space.to_units(points, self._model.problem.exponent)
        if self._cell_of is None:
            return answer(self._nearest(positions))
        cells = self._cell_of(positions)
        one_each = self._model.labels[cells][:, None]
        nothing = self._space.in_double(0 * one_each)
        answers = answer(Voters(nothing, one_each, nothing + 1.0))
        outside = cells < 0
        if outside.any():
            answers[outside] = answer(self._nearest(positions[outside]))
        return answers

    def _nearest(self, positions: Any) -> Voters:
        """Return the nearest fitted points; with ``resolution``, they are cells."""
        problem, labels = self._model.problem, self._model.labels
        found = self._search.several(problem.measured(positions), VOTERS)
        return Voters(found.squares, labels[found.rows], problem.weights[found.rows])


def shares_of(space: Space, voters: Voters) -> Any:
    """Return the share of each voter in the vote: weight / distance, and 1 in all.

    At distance 0 only the points that coincide vote. If no voter has a weight, all have the same.
    """
    squares = voters.squares
    positive = squares > 0.0
    ratios = squares[:, :1] / space.where(positive, squares, 1.0)  # nothing overflows
    nearness = space.where(positive, ratios, 1.0) ** 0.5
    votes = nearness * voters.weights
    votes = space.where(votes.sum(1)[:, None] > 0.0, votes, nearness)
    return votes / votes.sum(1)[:, None]


def winners_of(space: Space, voters: Voters, reach: float | None = None) -> Any:
    """Return the label with most votes; the nearest of equals. Beyond ``reach`` it is -1."""
    labels, shares = voters.labels, shares_of(space, voters)
    alike = labels[:, :, None] == labels[:, None, :]
    best = (alike * shares[:, None, :]).sum(2).argmax(1)
    winners = labels[space.arange(len(labels)), best]
    return winners if reach is None else space.where(voters.squares[:, 0] > reach, -1, winners)


def memberships_of(space: Space, voters: Voters, n_clusters: int) -> Any:
    """Return the share of the votes for each cluster. Votes for no cluster (-1) are missing."""
    m, k = voters.labels.shape
    owners = space.arange(m)[:, None] * (n_clusters + 1) + voters.labels + 1
    sums = space.sums(
        space.in_double(shares_of(space, voters)).reshape(m * k),
        owners.reshape(m * k),
        m * (n_clusters + 1),
    )
    return sums.reshape(m, n_clusters + 1)[:, 1:]


def metric_of(problem: Problem) -> Any:
    """Return the metric of a problem."""
    return metric_of_space(problem.rule.space)


def plain_problem(problem: Problem) -> Problem:
    """Return the problem with all points within the bandwidth, or within the scale if infinite."""
    rule = problem.rule.ball if isinstance(problem.rule, Nearest) else problem.rule
    radius = problem.radius if np.isfinite(problem.radius) else problem.scale
    return problem._replace(rule=rule, radius=radius)


def log_constant(problem: Problem, d: int, feature_scale: tuple[float, ...] | None) -> float:
    """Return minus the logarithm of the volume of the kernel, in the units of the user.

    Flat: a ball, pi^(d/2) / Gamma(d/2 + 1) h^d. Gaussian: (2 pi)^(d/2) h^d. On the globe it is an
    area in square kilometres: that of a cap, or the integral of the Gaussian over the sphere.
    """
    on_globe = metric_of(problem) == "haversine"
    if on_globe:  # of chords; the area of a cap is exactly pi chord^2
        d, feature_scale = 2, None
    volume = d * (log(problem.radius) + problem.exponent * log(2.0))
    if on_globe:
        volume += d * log(RADIUS)
        if isinstance(problem.rule, Gaussian):
            volume += log1p(-exp(-2.0 / problem.radius**2))
    if isinstance(problem.rule, Gaussian):
        volume += 0.5 * d * log(2.0 * pi)
    else:
        volume += 0.5 * d * log(pi) - lgamma(0.5 * d + 1.0)
    if feature_scale is not None:
        volume += float(np.log(feature_scale).sum())
    return -volume
