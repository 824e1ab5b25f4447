"""NumPy's own files as frames. Nothing is unpickled."""

import io
from pathlib import Path
from typing import Any

import numpy as np

from modeshift.io.errors import FileError


def frame_of_npy(name: str, content: bytes | Path) -> Any:
    """Return one array as a frame, with a column for each feature."""
    if isinstance(content, bytes):
        return _frame(name, {"x": np.load(io.BytesIO(content), allow_pickle=False)})
    return _frame(name, {"x": np.load(content, allow_pickle=False, mmap_mode="r")})


def frame_of_npz(name: str, content: bytes | Path) -> Any:
    """Return all arrays of an archive as a frame: a vector is a column, a matrix several."""
    with (
        io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        return _frame(name, {key: archive[key] for key in archive.files})


def _frame(file: str, arrays: dict[str, np.ndarray]) -> Any:
    import polars as pl

    columns: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if array.ndim not in (1, 2):
            raise FileError(
                f"{file}: array {name!r} has shape {array.shape}; "
                "it must have one axis (a column) or two (points and features)"
            )
        if array.dtype.kind not in "biufUS":
            raise FileError(
                f"{file}: array {name!r} holds {array.dtype}; it must hold real numbers or text"
            )
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        if array.ndim == 1:
            columns[name] = array
        else:
            columns |= {f"{name}{k}": array[:, k] for k in range(array.shape[1])}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in list(lengths.items())[:8])
        raise FileError(
            f"{file}: the arrays have different lengths ({counts}); every array needs one row for "
            "each point"
        )
    return pl.DataFrame(
        {name: np.ascontiguousarray(column) for name, column in columns.items()}
    ).lazy()
