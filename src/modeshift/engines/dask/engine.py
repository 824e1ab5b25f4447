"""The two engines for Dask data: cells of a grid, or rounds over partitions."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np

from modeshift.engines.cpu.chart import chart_of
from modeshift.engines.cpu.data import take_in as take_in_array
from modeshift.engines.cpu.engine import (
    CpuEngine,
    CpuIndex,
    cell_points,
    solve,
    usual_units,
    with_grid,
)
from modeshift.engines.dask.cells import compress_rows
from modeshift.engines.dask.rounds_fit import RoundsModel, fit_in_rounds
from modeshift.engines.dask.rounds_predict import (
    SearchedModel,
    label_rows,
    log_density_of_rows,
    membership_of_rows,
    plant_trees,
)
from modeshift.engines.dask.rows import Form, Rows, as_rows, check_chunk, example_of, in_chunk
from modeshift.engines.dask.sample import draw_rows
from modeshift.engines.dask.tree import new_token
from modeshift.engines.kinds import is_dask
from modeshift.engines.pose import problem_of
from modeshift.engines.prediction import Model
from modeshift.engines.problem import Problem, Units
from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer


class Data(NamedTuple):
    """Rows, and whether X was a Dask collection."""

    rows: Rows
    is_lazy: bool


class _DaskEngine:
    """Base of the two engines: input as rows, and a sample for the choice of a bandwidth."""

    def example(self, X: Any) -> Any:
        """Return one row of the same kind; the data are checked chunk by chunk."""
        return example_of(X) if is_dask(X) else X

    def take_in(self, spec: Spec, X: Any, checked: np.ndarray, sample_weight: Any) -> Data:
        """Bring X to one form, without computing it."""
        lazy = is_dask(X)
        chunked = X if lazy else da.from_array(checked, chunks=checked.shape)
        rows = as_rows(chunked, checked.dtype, sample_weight)
        return Data(rows, lazy)

    def sample(self, spec: Spec, data: Data) -> Sampled:
        """Draw rows in one pass over the data."""
        draw = draw_rows(data.rows, chart_of(spec))
        width = float(np.hypot.reduce(draw.high - draw.low)) or 1.0
        # Only cells support n_neighbors; partitions do not.
        nearest = spec.resolution is not None
        return Sampled(draw.points, draw.weights, draw.total, width, nearest)


class CellsEngine(_DaskEngine):
    """Dask data with ``resolution``: cells are clustered in memory, labels are looked up.

    Parameters
    ----------
    solve : function, optional
        Clusters the cells, as :func:`modeshift.engines.cpu.engine.solve` does on the CPU.
    """

    name = "cells"

    def __init__(self, solve: Callable[..., Fit] = solve) -> None:
        self._solve = solve

    def fit(
        self, spec: Spec, data: Data, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Compress all chunks in one pass, and cluster the cells."""
        form = _form(spec, data.rows)
        side = float(np.ldexp(spec.radius, -form.exponent)) / float(spec.resolution or 1.0)
        cells = compress_rows(data.rows, form, side)
        problem = _problem(spec, form, cell_points(spec, cells, side), cells.weights)
        fit = self._solve(spec, problem, cells, data.rows.dtype, random_state, observer)
        return with_grid(fit, cells, side)

    def index(self, spec: Spec, model: Any) -> "CellsIndex":
        """Build the index of the model in memory; workers get a copy."""
        return CellsIndex(spec, CpuEngine().index(spec, model), model)


class CellsIndex:
    """Index that answers for rows lazily, chunk by chunk."""

    def __init__(self, spec: Spec, index: CpuIndex, model: Model) -> None:
        self._spec = spec
        self._index = index
        self._n_clusters = model.n_clusters

    def label(self, data: Data, *, outliers: bool) -> Any:
        """Return the labels of the rows: a lazy Dask array with their chunks."""
        empty = np.empty(0, dtype=np.int64)
        return self._map(data, partial(CpuIndex.label, outliers=outliers), empty)

    def membership(self, data: Data) -> Any:
        """Return the share of the votes for each cluster, lazily."""
        return self._map(data, CpuIndex.membership, np.empty((0, self._n_clusters)))

    def log_density(self, data: Data) -> Any:
        """Return the logarithm of the density, lazily."""
        return self._map(data, CpuIndex.log_density, np.empty(0))

    def _map(self, data: Data, answer: Callable[[CpuIndex, Any], np.ndarray], empty: Any) -> Any:
        token, rows = new_token(), data.rows
        index = dask.delayed(self._index, name=f"modeshift-index-{token}", traverse=False)
        columns: dict[str, Any] = {"drop_axis": 1}
        if empty.ndim == 2:
            columns = {"chunks": (rows.points.chunks[0], (empty.shape[1],))}
        return rows.points.map_blocks(
            _answer_chunk,
            index,
            answer=answer,
            empty=empty,
            spec=self._spec,
            n_features=rows.points.shape[1],
            float_type=rows.dtype,
            dtype=empty.dtype,
            meta=empty,
            name=f"modeshift-predict-{token}",
            **columns,
        )


def _answer_chunk(
    block: Any,
    index: CpuIndex,
    *,
    answer: Callable[[CpuIndex, Any], np.ndarray],
    empty: np.ndarray,
    spec: Spec,
    n_features: int,
    float_type: Any,
    block_id: Any,
) -> np.ndarray:
    points = check_chunk(block, float_type, n_features, block_id[0])
    if len(points) == 0:
        return empty
    with in_chunk(block_id[0]):
        data = take_in_array(spec, points, None)
    return answer(index, data)


class RoundsEngine(_DaskEngine):
    """Dask data without ``resolution``: points stay in partitions, and all work in each round.

    Parameters
    ----------
    on_gpu : bool
        Whether the means are computed on the GPUs of the workers.
    """

    name = "rounds"

    def __init__(self, on_gpu: bool = False) -> None:
        self._on_gpu = on_gpu

    def fit(
        self, spec: Spec, data: Data, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Run the schedule over partitions."""
        form = _form(spec, data.rows)
        no_points = np.empty((0, form.chart.n_coordinates(form.n_features)))
        problem = _problem(spec, form, no_points, np.empty(0))
        return fit_in_rounds(spec, problem, data.rows, form, random_state, observer, self._on_gpu)

    def index(self, spec: Spec, model: RoundsModel) -> "RoundsIndex":
        """Build a tree of each partition, on its worker."""
        return RoundsIndex(plant_trees(model))


class RoundsIndex:
    """Index of rows, by the partitions of a fit."""

    def __init__(self, model: SearchedModel) -> None:
        self._model = model

    def label(self, data: Data, *, outliers: bool) -> Any:
        """Label rows, lazily for Dask data."""
        return self._given(data, label_rows(self._model, data.rows, outliers=outliers))

    def membership(self, data: Data) -> Any:
        """Return the share of the votes for each cluster, lazily for Dask data."""
        return self._given(data, membership_of_rows(self._model, data.rows))

    def log_density(self, data: Data) -> Any:
        """Return the logarithm of the density, lazily for Dask data."""
        return self._given(data, log_density_of_rows(self._model, data.rows))

    def _given(self, data: Data, answer: Any) -> Any:
        return answer if data.is_lazy else self._model.model.parts.get(answer)


def _form(spec: Spec, rows: Rows) -> Form:
    return Form(rows.dtype, rows.points.shape[1], chart_of(spec), usual_units(spec).length)


def _problem(spec: Spec, form: Form, points: np.ndarray, weights: np.ndarray) -> Problem:
    return problem_of(spec, points, weights, spec.radius, Units(form.exponent, 0))
