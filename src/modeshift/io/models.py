"""Plain data in one NPZ file without pickle: arrays as arrays, everything else as JSON.

Plain data are numbers, text, None, arrays of numbers or text, lists, tuples, dicts with text as
keys, and registered named tuples. A file from a stranger is safe to open, because only registered
classes are made from it. The file holds names of the register, not names in the code. So code can
be moved and renamed, and old files still load. Arrays are not compressed, so a small file cannot
become large arrays.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

import modeshift

FORMAT = 2
"""Number of the format. Format 1 held names of modules and was never released."""

READABLE = (2,)
"""Formats that can be read: all since 0.1.0. A new number needs a reader for each older one.

The fields of registered classes are part of a format: tests load a kept file of each.
"""

Register = Mapping[str, type]
"""Name in the file of each named tuple that a file may hold."""

COMMAND_MODEL = "command model"
"""Name in the file for a model that the command wrote."""

_OF_THE_COMMAND = "it was written by modeshift cluster. Use it with modeshift predict"
_TREE = "tree"
_MOST_TEXT = 1 << 24  # bytes of JSON; as lists and dicts they take up to 50 times as many
_ZIP = b"PK"  # first bytes of an NPZ file


def save(file: IO[bytes], value: Any, register: Register) -> None:
    """Write plain data to an open file.

    Parameters
    ----------
    file : binary file
    value : object
        Plain data; see the docstring of this module.
    register : dict of str to class
    """
    arrays: dict[str, np.ndarray] = {}
    names = {kind: name for name, kind in register.items()}
    tree = {
        "format": FORMAT,
        "modeshift": modeshift.__version__,
        "value": _encode(value, arrays, names),
    }
    text = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **{_TREE: text}, **arrays)


def load(path: str | Path, register: Register, build: Callable[[Any], Any] | None = None) -> Any:
    """Read a file that ``save`` wrote.

    Parameters
    ----------
    path : str or path
    register : dict of str to class
    build : function, default=None
        Makes the result from the plain data. Its errors name the file like all others.

    Raises
    ------
    ValueError
        If the file is damaged, has another format, or is no saved model.
    """
    content = Path(path).read_bytes()
    try:
        if not content.startswith(_ZIP):
            raise ValueError("it is no NPZ file")
        _check_members(content)
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if _TREE not in arrays:
            raise ValueError("it is no saved model")
        text = arrays.pop(_TREE).tobytes()
        if len(text) > _MOST_TEXT:
            raise ValueError("its text is longer than 16 MB, and that of saved models is not")
        tree = json.loads(text)
        _check_format(tree)
        content = _decode(tree["value"], arrays, register)
        return content if build is None else build(content)
    except Exception as error:  # damaged archives raise all kinds of errors
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{path} cannot be loaded: {reason}") from error


def _check_members(content: bytes) -> None:
    """Refuse archives that unpack to more than their size: ``save`` packs nothing."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > len(content):
        raise ValueError("it unpacks to more than its size, and saved models do not")


def _check_format(tree: Any) -> None:
    found = tree["format"]
    if found in READABLE:
        return
    if found == 1:
        raise ValueError(
            f"it was saved by a development version of modeshift ({tree['modeshift']}). Fit the "
            "model again and save it."
        )
    raise ValueError(
        f"its format is {found!r}, and modeshift {modeshift.__version__} reads format "
        f"{' and '.join(map(str, READABLE))}. Install a newer modeshift."
    )


def _encode(value: Any, arrays: dict[str, np.ndarray], names: Mapping[type, str]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays)
    if type(value) in names:
        fields = {key: _encode(item, arrays, names) for key, item in value._asdict().items()}
        return {"named": names[type(value)], "fields": fields}
    if type(value) is tuple:
        return {"tuple": [_encode(item, arrays, names) for item in value]}
    if isinstance(value, list):
        return [_encode(item, arrays, names) for item in value]
    if isinstance(value, dict):
        return {"dict": {key: _encode(item, arrays, names) for key, item in value.items()}}
    raise TypeError(f"a value of type {type(value).__name__} cannot be saved: {value!r}")


def _encode_array(value: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if value.dtype.kind == "O" and value.ndim == 1 and all(isinstance(v, str) for v in value):
        return {"texts": value.tolist()}  # names of features, as scikit-learn keeps them
    if value.dtype.kind not in "biufU":
        raise TypeError(f"an array of type {value.dtype} cannot be saved")
    name = f"array{len(arrays)}"
    arrays[name] = value
    return {"array": name}


def _decode(tree: Any, arrays: dict[str, np.ndarray], register: Register) -> Any:
    if isinstance(tree, list):
        return [_decode(item, arrays, register) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if "float" in tree:
        return float(tree["float"])
    if "array" in tree:
        return arrays[tree["array"]]
    if "texts" in tree:
        return np.array([str(text) for text in tree["texts"]], dtype=object)
    if "tuple" in tree:
        return tuple(_decode(tree["tuple"], arrays, register))
    if "dict" in tree:
        return {key: _decode(item, arrays, register) for key, item in tree["dict"].items()}
    if tree["named"] not in register:
        raise ValueError(
            _OF_THE_COMMAND
            if tree["named"] == COMMAND_MODEL
            else f"it contains {tree['named']!r}, which modeshift {modeshift.__version__} does not "
            "know"
        )
    fields = {key: _decode(item, arrays, register) for key, item in tree["fields"].items()}
    return register[tree["named"]](**fields)
