"""Recognise and convert data of Dask, PyTorch and polars without importing these packages."""

import sys
from typing import Any

import numpy as np


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection. If so, Dask is imported already."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def is_tensor(X: Any) -> bool:
    """Return whether X is a tensor of PyTorch, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def is_lazy_frame(X: Any) -> bool:
    """Return whether X is a lazy frame of polars, which holds a plan and no data."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.LazyFrame)


def has_dates(X: Any) -> bool:
    """Return whether X is a frame of polars with dates or times, which would become numbers."""
    polars = sys.modules.get("polars")
    is_frame = polars is not None and isinstance(X, polars.DataFrame)
    return is_frame and any(dtype.is_temporal() for dtype in X.dtypes)


def in_memory(array: Any) -> np.ndarray:
    """Return an array, a tensor or Dask data as a NumPy array; Dask computes it now."""
    if is_dask(array):
        array = array.compute()
    if is_tensor(array):
        array = array.detach().cpu()
    return np.asarray(array)
