"""Write results to files, after checks of the path and the format."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from modeshift.io.errors import FileError, PlaceTaken
from modeshift.io.excel import check_sheet_holds, write_excel
from modeshift.io.whole_file import whole_file

_FRAME_ENDINGS = (
    *(".csv", ".tsv", ".xlsx", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".npy", ".npz"),
    ".geojson",
)


def check_place(path: Path, force: bool) -> None:
    """Refuse a path that cannot be written. Called before any work is done.

    ``force`` allows an existing file to be replaced.
    """
    if path.is_dir():
        raise FileError(f"{path} is a folder", "name a file in it")
    if path.exists() and not force:
        raise PlaceTaken(f"{path} exists", "pass force=True to replace it, or name another file")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the folder {path.parent} does not exist", "create it first")
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"{path}: the folder {path.parent} is not writable")


def check_frame_ending(path: Path) -> None:
    """Refuse a file name whose ending is no known format."""
    if _ending(path) not in _FRAME_ENDINGS:
        raise FileError(
            f"{path} does not end in a known format", f"take one of {', '.join(_FRAME_ENDINGS)}"
        )
    check_frame_fits(path, n_rows=0)


def check_frame_fits(path: Path, n_rows: int) -> None:
    """Refuse a format that cannot hold a frame of so many rows, or lacks its package."""
    if _ending(path) == ".xlsx":
        check_sheet_holds(n_rows)


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Call ``write`` with the open file; an error names the path and the reason."""
    try:
        with whole_file(path) as file:
            write(file)
    except Exception as error:  # polars raises its own errors for a full disk
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"{path} could not be written: {reason}; no partial file was left") from error


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8."""
    write_whole(path, lambda file: file.write(text.encode()))


def write_frame(path: Path, frame: Any) -> None:
    """Write a frame in the format of the file name's ending."""
    write_whole(path, lambda file: _write_as(_ending(path), file, frame))


def _ending(path: Path) -> str:
    return path.suffix.lower()


def _write_as(ending: str, file: IO[bytes], frame: Any) -> None:
    if ending == ".csv":
        frame.write_csv(file)
    elif ending == ".tsv":
        frame.write_csv(file, separator="\t")
    elif ending == ".xlsx":
        write_excel(file, frame)
    elif ending in (".parquet", ".pq"):
        frame.write_parquet(file)
    elif ending == ".npy":
        np.save(file, frame[:, -1].to_numpy(), allow_pickle=False)
    elif ending == ".npz":
        columns = {name: _plain(frame[name]) for name in frame.columns}
        np.savez(file, allow_pickle=False, **columns)
    else:
        frame.write_ipc(file)


def _plain(series: Any) -> np.ndarray:
    """Return a column as an array without objects; text gets a fixed width."""
    array = series.to_numpy()
    return array.astype(str) if array.dtype.kind == "O" else array
