"""The two engines for Dask data: cells of a grid, or rounds over partitions."""

from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np

from modeshift.engines.cpu.data import take_in as take_in_array
from modeshift.engines.cpu.engine import CpuEngine, CpuIndex, cell_points, solve
from modeshift.engines.dask.cells import compress_rows
from modeshift.engines.dask.rounds_fit import RoundsModel, fit_in_rounds, predict_in_rounds
from modeshift.engines.dask.rows import Form, Rows, as_rows, check_chunk, example_of
from modeshift.engines.dask.sample import draw_rows
from modeshift.engines.dask.tree import new_token
from modeshift.engines.kinds import is_dask
from modeshift.engines.pose import problem_of
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
        if spec.feature_scale is not None:
            rows = rows._replace(points=rows.points / np.array(spec.feature_scale))
        return Data(rows, lazy)

    def sample(self, spec: Spec, data: Data) -> Sampled:
        """Draw rows in one pass over the data."""
        draw = draw_rows(data.rows, spec.on_sphere)
        width = float(np.linalg.norm(draw.high - draw.low)) or 1.0
        # Only cells support n_neighbors; partitions do not.
        nearest = spec.resolution is not None
        return Sampled(draw.points, draw.weights, draw.total, width, nearest)


class CellsEngine(_DaskEngine):
    """Dask data with ``resolution``: cells are clustered in memory, labels are looked up."""

    name = "cells"

    def fit(
        self, spec: Spec, data: Data, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Compress all chunks in one pass, and cluster the cells."""
        form = _form(spec, data.rows)
        side = float(np.ldexp(spec.radius, -form.exponent)) / float(spec.resolution or 1.0)
        cells = compress_rows(data.rows, form, side)
        problem = _problem(spec, form, cell_points(spec, cells, side), cells.weights)
        return solve(spec, problem, cells, data.rows.dtype, random_state, observer)

    def index(self, spec: Spec, model: Any) -> "CellsIndex":
        """Build the index of the model in memory; workers get a copy."""
        return CellsIndex(spec, CpuEngine().index(spec, model), model.ends.shape[1])


class CellsIndex:
    """Index that labels rows lazily."""

    def __init__(self, spec: Spec, index: CpuIndex, n_features: int) -> None:
        self._spec = spec
        self._index = index
        self._n_features = n_features

    def label(self, data: Data) -> Any:
        """Return the labels of the rows: a lazy Dask array with their chunks."""
        token = new_token()
        index = dask.delayed(self._index, name=f"modeshift-index-{token}", traverse=False)
        return data.rows.points.map_blocks(
            _label_chunk,
            index,
            spec=self._spec,
            n_features=self._n_features,
            float_type=data.rows.dtype,
            drop_axis=1,
            dtype=np.int64,
            meta=np.empty(0, dtype=np.int64),
            name=f"modeshift-predict-{token}",
        )


def _label_chunk(
    block: Any, index: CpuIndex, *, spec: Spec, n_features: int, float_type: Any, block_id: Any
) -> np.ndarray:
    points = check_chunk(block, float_type, n_features, block_id[0])
    if len(points) == 0:
        return np.empty(0, dtype=np.int64)
    return index.label(take_in_array(spec, points, None))


class RoundsEngine(_DaskEngine):
    """Dask data without ``resolution``: points stay in partitions, and all work in each round."""

    name = "rounds"

    def fit(
        self, spec: Spec, data: Data, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Run the schedule over partitions."""
        form = _form(spec, data.rows)
        problem = _problem(spec, form, np.empty((0, form.n_features)), np.empty(0))
        return fit_in_rounds(spec, problem, data.rows, form, random_state, observer)

    def index(self, spec: Spec, model: RoundsModel) -> "RoundsIndex":
        """Return the index, which uses the partitions."""
        return RoundsIndex(spec, model)


class RoundsIndex:
    """Index that labels rows by the partitions of a fit."""

    def __init__(self, spec: Spec, model: RoundsModel) -> None:
        self._spec = spec
        self._model = model

    def label(self, data: Data) -> Any:
        """Label rows. The climbs run now; only the labels of Dask data are lazy."""
        labels = predict_in_rounds(self._spec, self._model, data.rows)
        return labels if data.is_lazy else labels.compute()


def _form(spec: Spec, rows: Rows) -> Form:
    exponent = 0 if spec.on_sphere else int(np.frexp(spec.radius)[1]) - 1
    return Form(rows.dtype, rows.points.shape[1], spec.on_sphere, exponent)


def _problem(spec: Spec, form: Form, points: np.ndarray, weights: np.ndarray) -> Problem:
    return problem_of(spec, points, weights, spec.radius, Units(form.exponent, 0))
