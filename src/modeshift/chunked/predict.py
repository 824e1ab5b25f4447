"""Labels for new rows in chunks."""

from copy import copy
from typing import Any

import dask
import dask.array as da
import numpy as np

from modeshift.chunked.rows import as_rows, check_chunk
from modeshift.chunked.scattered import ScatteredFit, predict_scattered
from modeshift.chunked.tree import new_token


def predict(estimator: Any, X: Any) -> Any:
    """Label the rows of a Dask collection: a lazy Dask array with its chunks."""
    rows = as_rows(estimator, X, None, reset=False)
    if isinstance(estimator._fitted_, ScatteredFit):
        return predict_scattered(estimator, rows)
    token = new_token()
    fitted = copy(estimator)
    for name in ("labels_", "modes_", "confidence_", "paths_"):  # what new rows do not need
        fitted.__dict__.pop(name, None)
    fitted = dask.delayed(fitted, name=f"modeshift-fitted-{token}", traverse=False)
    return rows.points.map_blocks(
        _predict_chunk,
        fitted,
        float_type=rows.dtype,
        drop_axis=1,
        dtype=np.int64,
        meta=np.empty(0, dtype=np.int64),
        name=f"modeshift-predict-{token}",
    )


def _predict_chunk(block: Any, fitted: Any, *, float_type: np.dtype, block_id: Any) -> np.ndarray:
    points = check_chunk(block, float_type, fitted.n_features_in_, block_id[0])
    if len(points) == 0:
        return np.empty(0, dtype=np.int64)
    return fitted._predict(points)


def predict_array(estimator: Any, points: np.ndarray) -> np.ndarray:
    """Label checked points in memory after a fit whose points are in partitions."""
    return predict(estimator, da.from_array(points, chunks=points.shape)).compute()
