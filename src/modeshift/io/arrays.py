"""NumPy's own files as frames. Nothing is unpickled."""

import io
from pathlib import Path
from typing import IO, Any

import numpy as np

from modeshift.io.errors import FileError, WhichArray

_POINTS = "X"
"""Name of the array of points, by the convention of scikit-learn."""

_KINDS = "biufUS"  # of dtypes that can be columns: numbers and text


def frame_of_npy(name: str, content: bytes | Path) -> Any:
    """Return one array as a frame, with a column for each feature."""
    if isinstance(content, bytes):
        return frame_of_array(name, np.load(io.BytesIO(content), allow_pickle=False))
    array = NpyRows(content)
    return frame_of_array(name, array.read(0, len(array)))


class NpyRows:
    """The rows of an NPY file, read when they are asked for.

    There is no memory map: a file that another program cuts short would end the process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)  # checks head and length
        self._shape, self._dtype = mapped.shape, mapped.dtype
        self._offset, self._by_columns = mapped.offset, not mapped.flags.c_contiguous

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._shape[0] if self._shape else 0

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return some rows."""
        shape = (stop - start, *self._shape[1:]) if self._shape else ()
        with self._path.open("rb") as file:
            if not self._by_columns or len(self._shape) != 2:
                return self._piece(
                    file, start * int(np.prod(shape[1:])), int(np.prod(shape))
                ).reshape(shape)
            columns = [
                self._piece(file, k * len(self) + start, stop - start) for k in range(shape[1])
            ]
            return np.stack(columns, axis=1)

    def _piece(self, file: IO[bytes], first: int, n: int) -> np.ndarray:
        """Return values that lie one after the other."""
        file.seek(self._offset + first * self._dtype.itemsize)
        values = np.fromfile(file, self._dtype, n)
        if len(values) < n:
            raise ValueError("it ends too early")
        return values


def frame_of_array(name: str, array: np.ndarray) -> Any:
    """Return an array, or rows of it, as a frame."""
    return _frame(_columns(name, {"x": array}))


def frame_of_npz(
    name: str, content: bytes | Path, wanted: list[str]
) -> tuple[Any, dict[str, list[str]]]:
    """Return the arrays of an archive as a frame: a vector is a column, a matrix several.

    The points are the first array with a ``wanted`` name or column, or ``X``, or the only matrix;
    arrays of another length are left out then. Without such an array all arrays must have the same
    length.

    Returns
    -------
    frame : polars.LazyFrame
    columns : dict of str to list of str
        The columns of each array, the array of points first. Empty if there is no such array.
    """
    arrays = _load(name, content)
    points = _points(arrays, wanted)
    if points is None:
        columns = _columns(name, arrays)
        _check_lengths(name, arrays)
        return _frame(columns), {}
    _check_array(name, points, arrays[points])
    kept = {points: arrays[points]} | {
        key: array
        for key, array in arrays.items()
        if array.ndim in (1, 2) and len(array) == len(arrays[points]) and array.dtype.kind in _KINDS
    }
    names = {key: _names(key, array) for key, array in kept.items()}
    return _frame(_columns(name, kept)), names


def _load(name: str, content: bytes | Path) -> dict[str, np.ndarray]:
    """Return the arrays of an archive, without those that would have to be unpickled."""
    arrays = {}
    with (
        io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        for key in archive.files:
            try:
                arrays[key] = archive[key]
            except ValueError as error:
                if "pickle" not in str(error):
                    raise
    if not arrays:
        raise FileError(f"{name} has no array of numbers or text; save the points as an array X")
    return arrays


def _points(arrays: dict[str, np.ndarray], wanted: list[str]) -> str | None:
    """Return the name of the array that holds the points; None if no array stands out."""
    for name in wanted:
        for key, array in arrays.items():
            if name in (key, *_names(key, array)):
                return key
    matrices = [key for key, array in arrays.items() if array.ndim == 2]
    if _POINTS in arrays:
        return _POINTS
    return matrices[0] if len(matrices) == 1 else None


def _names(key: str, array: np.ndarray) -> list[str]:
    """Return the names of the columns of an array."""
    return [f"{key}{k}" for k in range(array.shape[1])] if array.ndim == 2 else [key]


def _columns(file: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the columns of all arrays, by name."""
    columns: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        _check_array(file, name, array)
        vectors = array.T if array.ndim == 2 else [array]
        columns |= dict(zip(_names(name, array), vectors, strict=True))
    return columns


def _check_array(file: str, name: str, array: np.ndarray) -> None:
    if array.size == 0:
        raise FileError(f"{file}: array {name!r} has shape {array.shape}, and so no values")
    if array.ndim not in (1, 2):
        raise FileError(
            f"{file}: array {name!r} has shape {array.shape}; "
            "it must have one axis (a column) or two (points and features)"
        )
    if array.dtype.kind not in _KINDS or array.dtype.itemsize == 0:
        raise FileError(
            f"{file}: array {name!r} holds {array.dtype}; it must hold real numbers or text"
        )


def _check_lengths(file: str, arrays: dict[str, np.ndarray]) -> None:
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in list(lengths.items())[:8])
        raise WhichArray(
            f"{file}: the arrays have different lengths ({counts}), and none is named X",
            "name the array of the points in columns",
        )


def _frame(columns: dict[str, np.ndarray]) -> Any:
    import polars as pl

    return pl.DataFrame({name: _plain(column) for name, column in columns.items()}).lazy()


def _plain(column: np.ndarray) -> np.ndarray:
    """Return a column as polars takes it: one piece of memory, text as text, no half floats."""
    if column.dtype.kind == "S":
        column = np.char.decode(column, "utf-8")
    if column.dtype == np.float16:
        column = column.astype(np.float32)
    return np.ascontiguousarray(column)
