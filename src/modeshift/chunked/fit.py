"""Fits to Dask collections."""

from typing import Any

import numpy as np

from modeshift.chunked.cells import compress_rows
from modeshift.chunked.rows import Form, as_rows
from modeshift.chunked.sample import choose_bandwidth
from modeshift.chunked.scattered import check_supported, fit_scattered
from modeshift.units import Units
from modeshift.validation import refuse


def fit(estimator: Any, X: Any, sample_weight: Any) -> None:
    """Fit an estimator to a Dask array or dataframe."""
    estimator._check_parameters()
    if estimator.device == "cuda":
        refuse(
            "device='cuda'", "Dask data", "workers compute on their cores. Take device='cpu'.",
        )  # fmt: skip
    if estimator.resolution is None:
        check_supported(estimator)
    rows = as_rows(estimator, X, sample_weight, reset=True)
    bandwidth = choose_bandwidth(estimator, rows)
    radius = float(estimator._as_length(np.max(bandwidth)))
    units = Units(length=0 if estimator._on_sphere else int(np.frexp(radius)[1]) - 1, weight=0)
    form = Form(rows.dtype, rows.points.shape[1], estimator._on_sphere, units.length)

    def problem_of(points: np.ndarray, weights: np.ndarray) -> Any:
        return estimator._problem(points, weights, radius, radius, units)

    if estimator.resolution is None:
        problem = problem_of(np.empty((0, form.n_features)), np.empty(0))
        fit_scattered(estimator, rows, form, bandwidth, problem)
        return
    side = float(np.ldexp(radius, -units.length)) / float(estimator.resolution)
    cells = compress_rows(rows, form, side)
    problem = problem_of(estimator._cell_points(cells, side), cells.weights)
    estimator._solve(problem, cells, bandwidth, rows.dtype)
