"""Models made by an attacker: of the right form, with numbers, shapes and types that lie.

Each is loaded and asked, in a process of its own with a limit of memory: labels or one error, no
crash, no hang, and never more memory than a multiple of the file.
"""

import io
import json
import random
import resource
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import modeshift
from load.jobs import ESTIMATORS, points
from modeshift.estimators.saving import REGISTER, to_plain
from modeshift.io.models import save
from soak.workers import Worker

MEMORY = 3 << 30
"""Bytes of address space beyond which a process gets no more: libraries take 2 GB of it."""

SECONDS = 60.0
"""Seconds of a processor after which a model counts as hanging, compiling included."""

N_EACH = 40
"""Models in a round."""

KINDS = (*ESTIMATORS, modeshift.MeanShift(bandwidth=1.0, resolution=2.0))


def run(_: Path, seed: int, n_rounds: int) -> list[str]:
    """Make, load and ask models; return the failures, each with its file."""
    saved = [as_bytes(estimator.fit(points(60))) for estimator in KINDS]
    worker, failures, ends = Worker(ask, lambda _: SECONDS), [], Counter()
    for number in range(n_rounds * N_EACH):
        rng = random.Random(f"{seed} {number}")
        content = changed(rng.choice(saved), rng)
        told, failure = worker.check(content)
        if failure:
            path = Path(tempfile.gettempdir()) / f"hostile-{seed}-{number}.npz"
            path.write_bytes(content)
            failures.append(f"{path}: {failure.strip().splitlines()[-1]}")
            print("  " + failures[-1], flush=True)
        ends.update(told)
    worker.stop()
    told_all = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    print(f"models: {n_rounds * N_EACH}, of them {told_all} (seed {seed})")
    return failures


def as_bytes(estimator: Any) -> bytes:
    """Return the file of a model."""
    file = io.BytesIO()
    save(file, to_plain(estimator), REGISTER)
    return file.getvalue()


def changed(content: bytes, rng: random.Random) -> bytes:
    """Return the file of a model in which one to three arrays or values are others."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    tree = json.loads(arrays.pop("tree").tobytes())
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.5:
            name = rng.choice(sorted(arrays))
            arrays[name] = other_array(arrays[name], rng)
        else:
            holder, key = rng.choice(list(leaves_of(tree["value"])))
            holder[key] = rng.choice(VALUES)
    text = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez(file, tree=text, **arrays)
    return file.getvalue()


VALUES = (
    *(0, -1, 1, 2, 7, 10**6, 10**12, 2**31, 2**63, -(2**63), 1e-320, 0.5, 1e300, True, None),
    *("", "x", "auto", "cosine", [], {"tuple": []}, {"tuple": [1, 2]}, {"dict": {}}),
    *({"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"array": "array0"}, {"texts": ["a"]}),
    *({"array": "array1"}, {"array": "none"}, {"named": "plane", "fields": {}}),
    {"named": "flat", "fields": {"space": {"named": "sphere", "fields": {}}}},
)
"""Values that may stand anywhere in the tree of a model."""


def leaves_of(tree: Any) -> Any:
    """Yield the holder and the key of everything inside plain data."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        yield tree, key
        if isinstance(value, dict | list):
            yield from leaves_of(value)


def other_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return an array with other values, of another shape, or of another type."""
    array = array.copy()
    with np.errstate(all="ignore"):
        way = rng.choice(["value", "value", "all", "cut", "longer", "flat", "deep", "type", "none"])
        extreme = rng.choice(
            [0, -1, 1, 10**9, 2**31, 2**62, -(2**62), 1e308, np.nan, np.inf, 1e-320]
        )
        if way == "value" and array.size and array.dtype.kind in "biuf":
            array.flat[rng.randrange(array.size)] = _of_type(extreme, array.dtype)
        elif way == "all" and array.dtype.kind in "biuf":
            array[...] = _of_type(extreme, array.dtype)
        elif way == "cut":
            return array[: len(array) // 2] if array.ndim else array
        elif way == "longer":
            return np.concatenate([array, array]) if array.ndim else array
        elif way == "flat":
            return array.ravel()
        elif way == "deep":
            return array[np.newaxis]
        elif way == "type":
            return array.astype(rng.choice(["<i8", "<f4", "<f8", "<i4", "?", "<U3", ">f8", "<u8"]))
        elif way == "none":
            return array[:0] if array.ndim else array
    return array


def _of_type(value: float, dtype: np.dtype) -> Any:
    """Return a number as a type can hold it."""
    if dtype.kind == "f":
        return value
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return int(min(max(value, low), high)) if np.isfinite(value) else high


def ask(content: bytes) -> list[str]:
    """Load a model and ask it all that it can answer; return how that ended."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes(content)
        try:
            model = modeshift.load(path)
        except ValueError as error:
            if not str(error).startswith(f"{path} cannot be loaded: "):
                raise
            return ["refused"]
    ends = []
    new = points(20, seed=1)
    for question in ("predict", "membership", "score_samples", "partial_fit"):
        try:
            getattr(model, question)(new)
            ends.append(f"{question} answered")
        except MemoryError:
            raise
        except Exception:
            ends.append(f"{question} failed")
    return ends
