"""Fits to Dask collections."""

from typing import Any

import numpy as np

from modeshift.chunked.cells import compress_rows
from modeshift.chunked.rows import Form, Rows, as_rows
from modeshift.chunked.sample import choose_bandwidth
from modeshift.units import Units


def fit(estimator: Any, X: Any, sample_weight: Any) -> None:
    """Fit an estimator to a Dask array or dataframe."""
    estimator._check_parameters()
    rows = as_rows(estimator, X, sample_weight, reset=True)
    bandwidth = choose_bandwidth(estimator, rows)
    _fit_cells(estimator, rows, bandwidth)


def _fit_cells(estimator: Any, rows: Rows, bandwidth: Any) -> None:
    """Compress the rows, and cluster the cells here: two passes with the one for the labels."""
    radius = float(estimator._as_length(np.max(bandwidth)))
    units = Units(length=0 if estimator._on_sphere else int(np.frexp(radius)[1]) - 1, weight=0)
    form = Form(rows.dtype, rows.points.shape[1], estimator._on_sphere, units.length)
    side = float(np.ldexp(radius, -units.length)) / float(estimator.resolution)
    cells = compress_rows(rows, form, side)
    points = estimator._cell_points(cells, side)
    problem = estimator._problem(points, cells.weights, radius, radius, units)
    estimator._solve(problem, cells, bandwidth, rows.dtype)
