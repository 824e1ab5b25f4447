"""Label new rows after a fit over partitions: the nearest rows of all partitions vote.

Each partition finds its own nearest rows, and the nearest of all these vote. All results are lazy.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.chart import Chart
from modeshift.engines.cpu.fields import Field
from modeshift.engines.cpu.nearest import NearestSearch
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.dask.parts import Steps
from modeshift.engines.dask.rounds_fit import RoundsModel, stacked
from modeshift.engines.dask.rows import Form, Rows
from modeshift.engines.prediction import (
    VOTERS,
    Voters,
    log_constant,
    memberships_of,
    plain_problem,
    winners_of,
)


class SearchedModel(NamedTuple):
    """A model, and a tree of the rows of each partition, on its worker."""

    model: RoundsModel
    searches: list[Any]


def plant_trees(model: RoundsModel) -> SearchedModel:
    """Build the trees of all partitions; they stay on the workers."""
    parts = model.parts
    return SearchedModel(
        model, parts.persist([parts.task("tree", _search_of, field) for field in parts.fields])
    )


def label_rows(searched: SearchedModel, rows: Rows, *, outliers: bool) -> Any:
    """Label rows; with ``outliers``, -1 beyond the bandwidth of all fitted rows."""
    reach = searched.model.problem.radius**2 if outliers else None
    return _vote(searched, rows, _winners, reach, np.empty(0, dtype=np.int64))


def membership_of_rows(searched: SearchedModel, rows: Rows) -> Any:
    """Return the share of the votes for each cluster."""
    n_clusters = searched.model.n_clusters
    return _vote(searched, rows, _memberships, n_clusters, np.empty((0, n_clusters)))


def log_density_of_rows(searched: SearchedModel, rows: Rows) -> Any:
    """Return the logarithm of the density of all fitted rows."""
    model = searched.model
    parts, problem = model.parts, plain_problem(model.problem)
    constant = log_constant(problem, rows.points.shape[1], model.feature_scale)
    pieces = [
        parts.task("predict", _log_density, parts.ask(places), parts.weight, constant)
        for places in _places(model, rows)
    ]
    return stacked(pieces, rows.points.chunks[0], np.empty(0))


def _vote(
    searched: SearchedModel, rows: Rows, count: Callable[..., Any], setting: Any, meta: np.ndarray
) -> Any:
    """Let the nearest rows of all partitions vote on each chunk of new rows."""
    model, searches = searched
    parts = model.parts
    pieces = []
    for places in _places(model, rows):
        voters = [
            parts.task("predict-nearest", _voters_of, field, search, labels, places)
            for field, search, labels in zip(parts.fields, searches, model.labels, strict=True)
        ]
        pieces.append(parts.task("predict", count, setting, *voters))
    return stacked(pieces, rows.points.chunks[0], meta)


def _places(model: RoundsModel, rows: Rows) -> list[Any]:
    """Return each chunk of new rows in the units of the problem."""
    parts = model.parts
    n_features = parts.rows.points.shape[1]
    chart = Chart(model.metric, model.feature_scale)
    form = Form(rows.dtype, n_features, chart, model.problem.exponent)
    return [
        parts.task("predict-places", form.points, block, chunk)
        for chunk, (block, _) in enumerate(rows.blocks())
    ]


def _search_of(field: Field) -> NearestSearch:
    return NearestSearch(field.points)


def _voters_of(
    field: Field, search: NearestSearch, labels: np.ndarray, places: np.ndarray
) -> Voters:
    found = search.several(places, VOTERS)
    return Voters(found.squares, labels[found.rows], field.weights[found.rows])


def _nearest_of(voters: tuple[Voters, ...]) -> Voters:
    """Return the nearest voters of several partitions; ties go to the first partition."""
    squares, labels, weights = (np.concatenate(c, axis=1) for c in zip(*voters, strict=True))
    order = np.argsort(squares, axis=1, kind="stable")[:, :VOTERS]
    return Voters(*(np.take_along_axis(part, order, 1) for part in (squares, labels, weights)))


def _winners(reach: float | None, *voters: Voters) -> np.ndarray:
    return winners_of(NumpySpace(), _nearest_of(voters), reach)


def _memberships(n_clusters: int, *voters: Voters) -> np.ndarray:
    return memberships_of(NumpySpace(), _nearest_of(voters), n_clusters)


def _log_density(steps: Steps, total: float, constant: float) -> np.ndarray:
    return NumpySpace().log(steps.masses / total) + constant
