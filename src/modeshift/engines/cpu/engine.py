"""The engine for arrays in memory, on the CPU."""

from functools import partial
from typing import Any

import numpy as np

from modeshift.engines.cpu.cell_sums import cell_keys
from modeshift.engines.cpu.chart import chart_of
from modeshift.engines.cpu.compress import Cells
from modeshift.engines.cpu.data import Data, take_in
from modeshift.engines.cpu.hashing import RowTable
from modeshift.engines.cpu.runs import field_of, run
from modeshift.engines.cpu.scale import scale_of
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.cpu.sphere import normalised, put_back
from modeshift.engines.cpu.stream import Stream, origin_of
from modeshift.engines.finish import find_clusters, label_components, merge
from modeshift.engines.pose import pose, problem_of, units_of
from modeshift.engines.prediction import Grid, Index, Model
from modeshift.engines.problem import Problem, Units
from modeshift.engines.reporting import reporter
from modeshift.engines.schedules.outcome import Outcome
from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer
from modeshift.watching.watch import UNWATCHED


class CpuEngine:
    """The engine for arrays in memory."""

    name = "cpu"

    def example(self, X: Any) -> Any:
        """Return X: scikit-learn checks all of it."""
        return X

    def take_in(self, spec: Spec, X: Any, checked: np.ndarray, sample_weight: Any) -> Data:
        """Check the weights."""
        return take_in(spec, checked, sample_weight)

    def sample(self, spec: Spec, data: Data) -> Sampled:
        """Return all points; the choice of a bandwidth draws its sample from them."""
        return Sampled(data.points, data.weights)

    def fit(
        self, spec: Spec, data: Data, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Cluster the points, or the cells of a grid that stand for them."""
        if spec.resolution is None:
            problem = _posed(spec, data.points, data.weights)
            return solve(spec, problem, None, data.dtype, random_state, observer)
        return self.fit_stream(spec, stream_of(spec, data), random_state, observer)

    def begin(self, spec: Spec, data: Data) -> Stream:
        """Return an empty stream for batches like these data."""
        return begin_stream(spec, usual_units(spec), data.points.shape[1])

    def fit_stream(
        self, spec: Spec, stream: Stream, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Cluster the cells of a stream; labels and modes are those of the last batch."""
        cells, problem = posed_cells(spec, stream)
        fit = solve(spec, problem, cells, stream.dtype, random_state, observer)
        stream.forget_batch()
        return with_grid(fit, cells, stream.side)._replace(stream=stream)

    def index(self, spec: Spec, model: Model) -> "CpuIndex":
        """Build the tree of the fitted points."""
        if not isinstance(model.labels, np.ndarray):
            raise ValueError(
                "This estimator was fitted to a tensor, and its points are on the GPU. Predict "
                "with device='cuda', or fit it to an array."
            )
        space = NumpySpace(spec.n_threads)
        cell_of = None if model.grid is None else CellTable(model.grid).cell_of
        return CpuIndex(Index(space, model, partial(field_of, spec), cell_of))


class CpuIndex:
    """Index of arrays."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def label(self, data: Data, *, outliers: bool) -> np.ndarray:
        """Label new points."""
        return self._index.label(data.points, outliers=outliers)

    def membership(self, data: Data) -> np.ndarray:
        """Return the share of the votes for each cluster."""
        return self._index.membership(data.points)

    def log_density(self, data: Data) -> np.ndarray:
        """Return the logarithm of the density."""
        return self._index.log_density(data.points)


class CellTable:
    """The occupied cells of a fit."""

    def __init__(self, grid: Grid) -> None:
        self._side = grid.side
        self._table = RowTable(grid.keys)

    def cell_of(self, points: np.ndarray) -> np.ndarray:
        """Return the cell of each point, in the units of the problem; -1 if it is empty."""
        return self._table.find(cell_keys(points, self._side))


def label(spec: Spec, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return only the labels of a fit. The points must be checked already."""
    problem = _posed(spec, points, weights)
    outcome = run(spec, problem, np.random.RandomState(0), UNWATCHED)
    space = NumpySpace(spec.n_threads)
    return label_components(space, _components(space, spec, problem, outcome), problem.weights)


def _posed(spec: Spec, points: np.ndarray, weights: np.ndarray) -> Problem:
    return pose(NumpySpace(), spec, points, weights, scale_of(spec, points, weights))


def stream_of(spec: Spec, data: Data) -> Stream:
    """Return the stream of one batch: the sums of the cells of all points."""
    units = units_of(NumpySpace(), spec, data.points, data.weights, spec.radius)
    if units.weight:  # room for heavier and lighter batches
        units = units._replace(weight=int(np.frexp(data.weights.max())[1]))
    stream = begin_stream(spec, units, data.points.shape[1])
    stream.add(data)
    return stream


def posed_cells(spec: Spec, stream: Stream) -> tuple[Cells, Problem]:
    """Return the cells of a stream, and the problem whose points are their means."""
    cells = stream.cells()
    points = cell_points(spec, cells, stream.side)
    return cells, problem_of(spec, points, cells.weights, spec.radius, stream.units)


def begin_stream(spec: Spec, units: Units, n_places: int) -> Stream:
    """Return an empty stream for the cells of a spec."""
    side = float(np.ldexp(spec.radius, -units.length)) / float(spec.resolution or 1.0)
    return Stream(origin_of(spec), units, side, n_places)


def usual_units(spec: Spec) -> Units:
    """Return units that do not depend on the data."""
    return Units(0 if spec.on_sphere else int(np.frexp(spec.radius)[1]) - 1, 0)


def cell_points(spec: Spec, cells: Any, side: float) -> np.ndarray:
    """Return the means of the cells, put back on the sphere if points lie there."""
    if not spec.on_sphere:
        return cells.points
    return put_back(cells.points, normalised(cells.keys * side, "cells"))


def with_grid(fit: Fit, cells: Any, side: float) -> Fit:
    """Return the fit with the grid in its model, so that ``predict`` finds the cell of a point."""
    return fit._replace(model=fit.model._replace(grid=Grid(cells.keys, side, cells.firsts)))


def solve(
    spec: Spec,
    problem: Problem,
    cells: Any,
    dtype: np.dtype,
    random_state: np.random.RandomState,
    observer: Observer,
) -> Fit:
    """Cluster the points, or the cells, of a problem.

    ``cells.spread`` gives every original point the value of its cell. None: there are no cells.
    """
    space = NumpySpace(spec.n_threads, chart_of(spec))

    def in_user_units(positions: np.ndarray) -> np.ndarray:
        return space.from_units(positions, problem.exponent).astype(dtype)

    def spread(values: np.ndarray) -> Any:
        return values if cells is None else cells.spread(values)

    def shown(positions: np.ndarray) -> Any:
        positions = positions.astype(dtype)
        return spread(positions) if len(positions) == len(problem.points) else positions

    report = reporter(observer, space, spec, problem, shown)
    watch = observer.watch(report, problem.points, problem.weights, spec.bandwidth)
    with watch.keeping():
        outcome = run(spec, problem, random_state, watch)
        components = _components(space, spec, problem, outcome)
        problem = problem._replace(factors=outcome.factors)
        firsts = np.arange(len(problem.points)) if cells is None else cells.firsts
        labels, centers = find_clusters(space, spec, problem, outcome.ends, components, firsts)
        return Fit(
            labels=spread(labels),
            modes=spread(in_user_units(outcome.ends)),
            centers=in_user_units(centers),
            scale=float(np.ldexp(problem.scale, problem.exponent)) * spec.unit,
            n_iter=outcome.n_iter,
            n_steps=outcome.n_steps,
            converged=outcome.converged,
            model=Model(problem, labels, len(centers), spec.feature_scale),
            paths=None if outcome.paths is None else [in_user_units(p) for p in outcome.paths],
            feature_weights=None if outcome.factors is None else outcome.factors**2,
        )


def _components(space: NumpySpace, spec: Spec, problem: Problem, outcome: Outcome) -> np.ndarray:
    ends = problem._replace(factors=outcome.factors).measured(outcome.ends)
    return merge(space, spec, problem, ends)
