"""Recognise Dask and PyTorch data without importing Dask or PyTorch."""

import sys
from typing import Any


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection. If so, Dask is imported already."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def is_tensor(X: Any) -> bool:
    """Return whether X is a tensor of PyTorch, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)
