"""The file of a checkpoint: the state of a fit, from which a later fit continues.

It holds all arrays and numbers that the loop of a schedule changes, with the sums inside a field.
So the later fit ends bit for bit like a fit that was never stopped. Nothing in it is pickled.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import modeshift
from modeshift.io.whole_file import whole_file

_MARK = "fingerprint"


class CheckpointFile:
    """The checkpoint file of one fit.

    Parameters
    ----------
    path : str or path
    every : float
        Seconds between two saves.
    mark : str
        Fingerprint of data and parameters. A file with a different mark is refused.
    """

    def __init__(self, path: Any, every: float, mark: str) -> None:
        self.path = Path(path)
        self.every = every
        self.mark = mark

    def load(self) -> dict[str, np.ndarray] | None:
        """Return the arrays in the file; None if there is no file."""
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            mark = str(arrays.pop(_MARK))
        except FileNotFoundError:
            return None
        except Exception as error:  # damaged archives raise all kinds of errors
            raise ValueError(
                f"Checkpoint({str(self.path)!r}) cannot be read ({error}); delete the file, or use "
                "another path."
            ) from error
        if mark != self.mark:
            raise ValueError(
                f"Checkpoint({str(self.path)!r}) was written for other data, other parameters or "
                "another version of modeshift; delete the file, or use another path."
            )
        return arrays

    def save(self, arrays: dict[str, np.ndarray]) -> None:
        """Write the file. It appears only when it is complete."""
        with whole_file(self.path) as file:
            np.savez(file, allow_pickle=False, **{_MARK: np.array(self.mark)}, **arrays)

    def remove(self) -> None:
        """Delete the file: the fit is done."""
        self.path.unlink(missing_ok=True)


def fingerprint(*parts: Any) -> str:
    """Return a digest of arrays, and of other values by their ``repr``."""
    digest = sha256(modeshift.__version__.encode())
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.shape, part.dtype)).encode())
            digest.update(np.ascontiguousarray(part).data)
        elif isinstance(part, tuple):
            digest.update(fingerprint(*part).encode())
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()


def pack(**objects: Any) -> dict[str, np.ndarray]:
    """Return the arrays and numbers of some objects, by name."""
    return {
        f"{name}.{key}": value for name, thing in objects.items() for key, value in _leaves(thing)
    }


def unpack(arrays: dict[str, np.ndarray], **objects: Any) -> None:
    """Put the values that ``pack`` returned back into the objects."""
    for name, thing in objects.items():
        _restore(thing, name, arrays)


def _leaves(thing: Any) -> Any:
    if isinstance(thing, np.random.RandomState):
        _, key, *rest = thing.get_state()
        yield from [("key", key), ("rest", np.array(rest, dtype=np.float64))]
        return
    for name, value in _parts(thing):
        if _is_array(value):
            yield name, _on_host(value)
        elif isinstance(value, bool | int | float):
            yield name, np.array(value)
        elif isinstance(value, list):
            yield name, np.concatenate([_on_host(part) for part in value])
        elif hasattr(value, "_fields"):
            yield from ((f"{name}.{key}", leaf) for key, leaf in _leaves(value))


def _restore(thing: Any, prefix: str, arrays: dict[str, np.ndarray]) -> None:
    if isinstance(thing, np.random.RandomState):
        position, has_gauss, gauss = arrays[f"{prefix}.rest"].tolist()
        thing.set_state(
            ("MT19937", arrays[f"{prefix}.key"], int(position), int(has_gauss), float(gauss))
        )
        return
    for name, value in _parts(thing):
        key = f"{prefix}.{name}"
        if _is_array(value) and hasattr(thing, "_fields"):
            value[...] = _like(value, arrays[key])  # in place: compiled code holds this array
        elif _is_array(value):
            setattr(thing, name, _like(value, arrays[key]))
        elif hasattr(value, "_fields"):
            _restore(value, key, arrays)
        elif isinstance(value, list):
            setattr(thing, name, [_like(value[0], arrays[key])])
        elif isinstance(value, bool | int | float) and not hasattr(thing, "_fields"):
            setattr(thing, name, type(value)(arrays[key]))


def _is_array(value: Any) -> bool:
    """Return whether a value is an array or a tensor of PyTorch."""
    return isinstance(value, np.ndarray) or hasattr(value, "new_tensor")


def _on_host(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else value.cpu().numpy()


def _like(value: Any, saved: np.ndarray) -> Any:
    """Return saved numbers as an array, or as a tensor of the same type and on the same device."""
    return saved if isinstance(value, np.ndarray) else value.new_tensor(saved)


def _parts(thing: Any) -> Any:
    """Return the names and values of the attributes of an object."""
    if thing is None:
        return ()
    return (thing._asdict() if hasattr(thing, "_fields") else vars(thing)).items()
