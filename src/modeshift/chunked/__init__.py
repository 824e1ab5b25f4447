"""Fits of data in chunks, on Dask: beyond the memory of a process, or of a machine.

Dask is imported when a Dask collection comes along, not before.
"""

import sys
from typing import Any

import numpy as np


def is_chunked(X: Any) -> bool:
    """Whether X is a Dask collection. Who has one has imported Dask."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def fit_chunked(estimator: Any, X: Any, sample_weight: Any) -> None:
    """Fit an estimator to a Dask array or dataframe."""
    from modeshift.chunked.fit import fit

    fit(estimator, X, sample_weight)


def predict_chunked(estimator: Any, X: Any) -> Any:
    """Label the rows of a Dask array or dataframe, lazily."""
    from modeshift.chunked.predict import predict

    return predict(estimator, X)


def predict_from_partitions(estimator: Any, points: np.ndarray) -> np.ndarray:
    """Label points in memory after a fit whose points are in partitions."""
    from modeshift.chunked.predict import predict_array

    return predict_array(estimator, points)
