"""Fitted estimators in one file without pickle: arrays in an NPZ, all else in JSON inside it.

A file from anybody can be opened: only this package's estimators and named tuples are made of it.
"""

import io
import json
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

import modeshift
from modeshift.base import ModeSeeker

FORMAT = 1
_TREE = "tree"
_LEFT_OUT = {"paths_", "profile_"}  # predict does not need them, and they may be large
_OF_THE_FIT = {"callback", "checkpoint"}  # parameters that matter only while a fit runs


def save(file: IO[bytes], value: Any) -> None:
    """Write an estimator, or a dict, list or tuple that holds some, to an open file.

    Parameters
    ----------
    file : binary file
    value : object
        May hold numbers, text, None, arrays of numbers or text, named tuples of this package and
        its estimators.
    """
    arrays: dict[str, np.ndarray] = {}
    tree = {"format": FORMAT, "modeshift": modeshift.__version__, "value": _encode(value, arrays)}
    text = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **{_TREE: text}, **arrays)


def load(path: str | Path) -> Any:
    """Read what ``save`` wrote.

    Raises
    ------
    ValueError
        When the file is damaged, or something else.
    """
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with np.load(content, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        tree = json.loads(arrays.pop(_TREE).tobytes())
        if tree["format"] != FORMAT:
            raise ValueError(f"its format is {tree['format']!r}, and {FORMAT} can be read here")
        return _decode(tree["value"], arrays)
    except Exception as error:  # damaged archives raise all kinds of them
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{path} is no model that can be read here: {reason}") from error


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufU":
            raise TypeError(f"an array of {value.dtype} cannot be saved")
        name = f"array{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, ModeSeeker):
        parameters = value.get_params(deep=False) | dict.fromkeys(_OF_THE_FIT)
        fitted = {k: v for k, v in vars(value).items() if k.endswith("_") and k not in _LEFT_OUT}
        return {
            "estimator": type(value).__name__,
            "parameters": _encode(parameters, arrays),
            "fitted": _encode(fitted, arrays),
        }
    if hasattr(value, "_fields"):
        kind = type(value)
        return {
            "named": [kind.__module__, kind.__qualname__],
            "fields": _encode(value._asdict(), arrays),
        }
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_encode(item, arrays) for item in value]
    if isinstance(value, dict):
        return {"dict": {key: _encode(item, arrays) for key, item in value.items()}}
    raise TypeError(f"{type(value).__name__} cannot be saved: {value!r}")


def _decode(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(tree, list):
        return [_decode(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if "float" in tree:
        return float(tree["float"])
    if "array" in tree:
        return arrays[tree["array"]]
    if "tuple" in tree:
        return tuple(_decode(tree["tuple"], arrays))
    if "dict" in tree:
        return {key: _decode(item, arrays) for key, item in tree["dict"].items()}
    if "named" in tree:
        return _named(*tree["named"])(**_decode(tree["fields"], arrays))
    estimator = _estimator(tree["estimator"])(**_decode(tree["parameters"], arrays))
    for name, value in _decode(tree["fitted"], arrays).items():
        setattr(estimator, name, value)
    return estimator


def _named(module: str, name: str) -> type:
    """Find a named tuple of this package; nothing else is ever called."""
    if module.split(".")[0] != "modeshift":
        raise ValueError(f"{module} is not a part of modeshift")
    found = getattr(import_module(module), name)
    if not (isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")):
        raise ValueError(f"{module}.{name} is no named tuple")
    return found


def _estimator(name: str) -> type[ModeSeeker]:
    found = getattr(modeshift, name) if name in modeshift.__all__ else None
    if not (isinstance(found, type) and issubclass(found, ModeSeeker)):
        raise ValueError(f"{name!r} is no estimator of modeshift")
    return found
