"""Starts of the climbs of ``MeanShift`` with ``seeding``."""

from typing import Any

import numpy as np

from modeshift.engines.cpu.chart import Chart
from modeshift.engines.cpu.compress import compress
from modeshift.engines.cpu.fields import Field
from modeshift.engines.cpu.units import to_units
from modeshift.engines.prediction import metric_of
from modeshift.engines.problem import Problem
from modeshift.engines.schedules.field import StillField
from modeshift.engines.schedules.outcome import Outcome
from modeshift.engines.space import Space


def drawn_rows(n_points: int, n: int, random_state: Any) -> np.ndarray:
    """Draw the points that climb, in the order of the points."""
    return np.sort(random_state.choice(n_points, n, replace=False))


def starts_of(seeding: Any, field: Field, problem: Problem) -> np.ndarray:
    """Return the starts, in the units of the problem, that have mass within the bandwidth."""
    if isinstance(seeding, str):
        starts = bin_seeds(problem.points, problem.weights, problem.radius)
    else:
        starts = given_starts(seeding, problem)
    return with_mass(starts, field)


def given_starts(seeding: np.ndarray, problem: Problem) -> np.ndarray:
    """Return starts that the user chose, in the units of the problem."""
    return problem.measured(to_units(_points_of(seeding, problem), problem.exponent))


def with_mass(starts: Any, field: StillField) -> Any:
    """Return the starts that have mass within the bandwidth."""
    attracted = field.means_near(starts).masses > 0.0
    if not attracted.any():
        raise ValueError(
            "no start in seeding has a point of positive weight within the bandwidth; move the "
            "starts closer to the data, or take a larger bandwidth."
        )
    return starts[attracted]


def _points_of(seeding: np.ndarray, problem: Problem) -> np.ndarray:
    """Return starts, whose features are scaled already, as points."""
    chart = Chart(metric_of(problem))
    n_features = chart.n_features(problem.points.shape[1])
    if seeding.shape[1] != n_features:
        raise ValueError(
            f"seeding must have the same number of columns as X ({n_features}), got shape "
            f"{seeding.shape}."
        )
    return chart.points(seeding, "seeding")


def bin_seeds(points: np.ndarray, weights: np.ndarray, side: float) -> np.ndarray:
    """Return one point of each grid cell with weight: the point nearest to the cell's mean.

    The grid is anchored at the minimum of each feature, so that shifted data give the same seeds.
    Ties go to the lower index; the seeds come in the order of the points.
    """
    low = points.min(axis=0)
    heavy = np.flatnonzero(weights > 0)
    points, weights = points[heavy], weights[heavy]
    offsets = points - low
    cells = compress(offsets, weights, side)
    cell = cells.cell_of
    distances = ((offsets - cells.points[cell]) ** 2).sum(axis=1)
    smallest = np.full(len(cells.points), np.inf)
    np.minimum.at(smallest, cell, distances)
    # Two points of a cell are equally far from their mean; the tie must not depend on rounding.
    central = np.flatnonzero(distances <= smallest[cell] + 1e-9 * side * side)
    _, first = np.unique(cell[central], return_index=True)
    return points[np.sort(central[first])]


def follow(points: Any, outcome: Outcome, space: Space) -> Outcome:
    """Give every point the end of the climb that passes nearest to it."""
    assert outcome.paths is not None
    owners = space.concatenate([space.full(len(p), k) for k, p in enumerate(outcome.paths)])
    nearest = space.nearest_search(space.concatenate(outcome.paths))(points)
    return outcome._replace(ends=outcome.ends[owners[nearest]])
