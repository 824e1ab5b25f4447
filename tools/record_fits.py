"""Record the results of many small fits, and compare them later, bit for bit, with other code.

    python tools/record_fits.py write fits.npz            # with the code as it is
    python tools/record_fits.py compare fits.npz          # with the code as it has become

Only the public interface is used: estimators with keyword parameters, ``fit``, ``predict``, fitted
attributes, warnings and errors. A change that renames parameters adds them to ``RENAMED``, and what
replaces others to ``translated`` and ``make_estimator``; the cases keep their old names, so that
they are found in old files.

Each part runs in a process of its own, or alone with ``--only``: "cpu"; "dask", in this thread; and
"cuda", by Triton's interpreter unless the environment says TRITON_INTERPRET=0. ``write`` replaces
the part in the file and leaves the other parts alone. ``compare`` exits with 1 if labels, steps,
values beyond rounding, or the types of errors or warnings differ; other texts are only shown.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RENAMED: dict[str, str] = {"field": "algorithm", "n_climbers": "seeding"}
"""Parameters and fitted attributes that have another name now: old name -> new name."""

REPLACED = {
    "n_climbers", "weight_temperature", "precision", "n_runs",
    "callback", "checkpoint", "checkpoint_every",
}  # fmt: skip
"""Parameters in whose place there is something else now. Cases with them may be refused no more."""

PARTS = ("cpu", "dask", "cuda")
NEEDED = {"cpu": (), "dask": ("dask",), "cuda": ("torch", "triton")}
ESTIMATORS = ("MeanShift", "StochasticMeanShift", "BlurringMeanShift")
WHOLE = ("labels_", "predicted", "predicted_from_array")
REAL = (
    "modes_", "cluster_centers_", "bandwidth_", "scale_", "confidence_", "feature_weights_",
)  # fmt: skip
FACTS = ("n_neighbors_", "n_iter_", "n_steps_", "converged_", "n_features_in_")
TIME_LIMIT = 60  # seconds for a case
ROUNDING = {4: 1e-4, 8: 1e-9}  # by the size of a number: beyond it is no rounding


# Data


class Data(NamedTuple):
    """Points to fit, new points to predict, and bandwidths at which something is found.

    ``angle`` is the bandwidth for metric="cosine".
    """

    points: Any
    new: Any
    bandwidth: float
    angle: float


def crowds(n, d, *, seed=0, spread=1.0, bandwidth=None, offset=0.0, n_crowds=4):
    """Draw Gaussian crowds of different sizes, and new points, one of them far away."""
    rng = np.random.RandomState(seed)
    centers = rng.uniform(-6.0, 6.0, (n_crowds, d))
    shares = np.arange(1.0, n_crowds + 1.0)
    draw = rng.choice(n_crowds, n + 20, p=shares / shares.sum())
    points = centers[draw] + spread * rng.standard_normal((n + 20, d)) + offset
    points[-1] += 1000.0
    return Data(points[:n], points[n:], bandwidth or 1.2 * spread * np.sqrt(d), 0.05)


def clumps():
    """Make 36 points in three tight clumps and four strays: good for distances and for angles."""
    rng = np.random.RandomState(3)
    angles = 2.0 * np.pi / 3.0 * np.arange(36)
    points = 2.0 * np.column_stack([np.cos(angles), np.sin(angles)]) + 0.03 * rng.randn(36, 2)
    strays = np.array([[3.0, 3.0], [-1.0, -1.4], [0.3, 0.9], [0.35, 0.9]])
    points = np.vstack([points[:20], strays, points[20:]])
    return Data(points, np.vstack([points[::4] + 0.02, [[90.0, 1.0]]]), 0.1, 0.1)


def paper_set():
    """Draw the paper's Set 3."""
    from modeshift.datasets import make_paper_set

    points, _ = make_paper_set(3, random_state=0)
    return Data(points, make_paper_set(3, random_state=1)[0][::6], 0.8, 0.05)


def lattice(d):
    """Draw places of a lattice, most of them more than once; its spacing is the bandwidth."""
    rng = np.random.RandomState(d)
    points = rng.randint(0, 5, (90, d)).astype(float)
    return Data(points, rng.randint(0, 9, (20, d)) / 2.0, 1.0, 0.02)


def duplicates():
    """Draw crowds in which every place occurs about three times."""
    sites = crowds(40, 3, seed=5)
    return sites._replace(points=sites.points[np.random.RandomState(5).randint(40, size=120)])


def directions():
    """Draw rows of 12 numbers that cluster by direction; their lengths differ widely."""
    rng = np.random.RandomState(7)
    points = rng.standard_normal((5, 12))[rng.randint(5, size=140)]
    points += 0.15 * rng.standard_normal(points.shape)
    points *= np.exp(rng.standard_normal((140, 1)))
    return Data(points[:120], points[120:], 2.0, 0.1)


def as_float32(data):
    """Return the same data in single precision."""
    return data._replace(points=data.points.astype(np.float32), new=data.new.astype(np.float32))


def spoiled(value, dtype=float):
    """Return crowds with one entry replaced."""
    data = crowds(30, 2)
    points = data.points.astype(dtype)
    points[3, 1] = value
    return data._replace(points=points)


def other(points):
    """Return data for which nothing is said but the points."""
    return Data(points, np.zeros((3, 2)), 1.0, 0.1)


DATA = {
    "crowds": lambda: crowds(200, 2),
    "set3": paper_set,
    "many": lambda: crowds(600, 3, seed=1),
    "line": lambda: crowds(120, 1, spread=0.5, bandwidth=0.5),
    "eight": lambda: crowds(150, 8, seed=2),
    "forty": lambda: crowds(100, 40, seed=3),
    "lattice1": lambda: lattice(1),
    "lattice2": lambda: lattice(2),
    "lattice3": lambda: lattice(3),
    "duplicates": duplicates,
    "float32": lambda: as_float32(crowds(150, 2)),
    "float32 forty": lambda: as_float32(crowds(80, 40, seed=3)),
    "far": lambda: crowds(150, 2, seed=4, offset=2.0**20),
    "tiny": lambda: crowds(60, 2, spread=1e-3, bandwidth=1e-3),
    "directions": directions,
    "clumps": clumps,
    "few2": lambda: crowds(36, 2, seed=6),
    "few12": lambda: crowds(36, 12, seed=6),
    "few40": lambda: crowds(36, 40, seed=6),
    "few float32": lambda: as_float32(crowds(36, 12, seed=6)),
    "one point": lambda: other(np.ones((1, 2))),
    "all the same": lambda: other(np.ones((40, 2))),
    "whole numbers": lambda: other(np.arange(60).reshape(30, 2) % 7),
    "lists": lambda: other([[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]),
    "NaN": lambda: spoiled(np.nan),
    "infinity": lambda: spoiled(np.inf),
    "None inside": lambda: spoiled(None, object),
    "words": lambda: spoiled("red", object),
    "no points": lambda: other(np.empty((0, 2))),
    "no features": lambda: other(np.empty((3, 0))),
    "one dimension": lambda: other(np.arange(9.0)),
    "three dimensions": lambda: other(np.ones((2, 3, 4))),
    "complex": lambda: other(np.ones((5, 2)) + 1j),
    "strings": lambda: other(np.ones((5, 2)).astype(str)),
    "ragged": lambda: other([[1.0, 2.0], [3.0]]),
    "nothing": lambda: other(None),
    "zero row": lambda: other(np.vstack([np.eye(2), np.zeros((1, 2))])),
    "huge": lambda: other(np.array([[0.0, 1.0], [1e300, 0.0]])),
}


@cache
def make_data(name):
    """Return the data of that name."""
    return DATA[name]()


def draw_weights(n, low, high):
    """Draw weights: real numbers, or whole ones if the limits are."""
    rng = np.random.RandomState(n)
    if isinstance(low, int):
        return rng.randint(low, high, n).astype(float)
    return rng.uniform(low, high, n)


WEIGHTS = {
    "none": lambda n: None,
    "whole": lambda n: draw_weights(n, 1, 5),
    "real": lambda n: draw_weights(n, 0.1, 3.0),
    "zeros": lambda n: draw_weights(n, 0, 2) * draw_weights(n, 0.1, 3.0),
    "huge": lambda n: 1e200 * draw_weights(n, 0.1, 3.0),
    "bools": lambda n: draw_weights(n, 0, 2) > 0,
    "negative": lambda n: np.linspace(-1.5, 1.0, n),
    "NaN": lambda n: np.where(np.arange(n) == 4, np.nan, 1.0),
    "all zero": np.zeros,
    "too few": lambda n: np.ones(n - 1),
    "one number": lambda n: 2.0,
    "column": lambda n: np.ones((n, 1)),
    "words": lambda n: ["red"] * n,
    "complex": lambda n: np.ones(n) + 1j,
}

NEW = {
    "new": lambda new: new,
    "too many features": lambda new: np.hstack([new, new]),
    "too few features": lambda new: new[:, :1],
    "NaN": lambda new: new * np.nan,
    "empty": lambda new: new[:0],
    "one dimension": lambda new: new[0],
    "words": lambda new: [["red", "blue"]],
    "lists": lambda new: new.tolist(),
    "float32": lambda new: new.astype(np.float32),
}


# The forms in which points and weights are passed


def as_frame(points, weights):
    """Put the columns of a table under names."""
    import pandas as pd

    return pd.DataFrame(points, columns=[f"c{j}" for j in range(points.shape[1])]), weights


def as_tensor(points, weights):
    """Make tensors on the device."""
    import torch

    device = "cpu" if os.environ["TRITON_INTERPRET"] == "1" else "cuda"
    points = torch.as_tensor(points, device=device)
    return points, None if weights is None else torch.as_tensor(weights, device=device)


def in_chunks(*cuts, columns=-1, lazy_weights=False):
    """Return what cuts rows at shares of their number; a share twice makes an empty chunk."""

    def cut(points, weights):
        import dask.array as da

        n = len(points)
        sizes = tuple(np.diff([0, *(int(share * n) for share in cuts), n]).tolist())
        whole = da.from_array(points, chunks=points.shape)
        if lazy_weights and weights is not None:
            weights = da.from_array(weights, chunks=-1)
        return whole.rechunk((sizes, columns) if points.ndim == 2 else (sizes,)), weights

    return cut


def as_dask_frame(points, weights):
    """Put points and weights into a table in four parts, whose sizes Dask does not know."""
    import dask.dataframe as dd

    table, _ = as_frame(points, None)
    names = list(table)
    if weights is not None:
        table["w"] = weights
    parts = dd.from_pandas(table, npartitions=4)
    return parts[names], None if weights is None else parts["w"]


def unknown_chunks(points, weights):
    """Make a Dask array whose chunks have unknown sizes."""
    return as_dask_frame(points, weights)[0].to_dask_array(), weights


def as_bag(points, weights):
    """Make a Dask collection that is no table."""
    import dask.bag

    return dask.bag.from_sequence(points.tolist()), weights


FORMS = {
    "array": lambda points, weights: (points, weights),
    "frame": as_frame,
    "fortran": lambda points, weights: (np.asfortranarray(points), weights),
    "tensor": as_tensor,
    "one chunk": in_chunks(),
    "three chunks": in_chunks(0.2, 0.7),
    "threads": in_chunks(0.3, 0.5, 0.6, lazy_weights=True),
    "empty chunks": in_chunks(0.0, 0.4, 0.4, 0.5, 1.0, lazy_weights=True),
    "chunks of columns": in_chunks(0.5, columns=1),
    "dask frame": as_dask_frame,
    "unknown chunks": unknown_chunks,
    "bag": as_bag,
}


# Parameters


CALLBACK, CHECKPOINT, SEEDS, GENERATOR = "@callback", "@checkpoint", "@seeds", "@generator"
ALL = "@all"  # as many as there are points

COMMON_PAIRED = {
    "gaussian": {"kernel": "gaussian"},
    "cosine": {"metric": "cosine"},
    "nearest": {"n_neighbors": 7},
    "infinite": {"bandwidth": np.inf, "n_neighbors": 7},
    "chosen": {"bandwidth": None},
    "lengths": {"tol": 0.05, "merge_radius": 0.2},
    "few sweeps": {"max_iter": 2},
    "noise": {"min_cluster_size": 3},
    "strays": {"min_cluster_size": 3, "strays": "nearest"},
    "resolution": {"resolution": 3.0},
    "tree": {"field": "tree"},
    "threads": {"n_jobs": 2},
    "cuda": {"device": "cuda"},
    "auto": {"device": "auto"},
    "fast": {"precision": "fast"},
    "record": {"record": True},
    "callback": {"callback": CALLBACK},
    "checkpoint": {"checkpoint": CHECKPOINT, "checkpoint_every": 0.0},
}
PAIRED = {
    "MeanShift": {
        **COMMON_PAIRED,
        "bins": {"seeding": "bins"},
        "seeds": {"seeding": SEEDS},
        "climbers": {"n_climbers": 9, "random_state": 0},
    },
    "StochasticMeanShift": {
        **COMMON_PAIRED,
        "pair": {"bandwidth": (0.06, 0.1)},
        "batches": {"batch_size": 7},
        "patience": {"patience": 0.4},
        "runs": {"n_runs": 3},
    },
    "BlurringMeanShift": {
        **COMMON_PAIRED,
        "entropy": {"stop": "entropy"},
        "learned": {"feature_weights": "learned", "weight_temperature": 2.0},
    },
}
"""Options of which every two are tried together, one value for each."""

COMMON_SINGLE = [
    {"kernel": "gaussian"},
    {"metric": "cosine"},
    {"kernel": "gaussian", "metric": "cosine", "bandwidth": 0.01},
    {"n_neighbors": 10},
    {"n_neighbors": 1},
    {"bandwidth": np.inf, "n_neighbors": 10},
    {"bandwidth": None},
    {"bandwidth": None, "kernel": "gaussian"},
    {"bandwidth": None, "metric": "cosine"},
    {"bandwidth": None, "n_neighbors": 10},
    {"bandwidth": 50.0},
    {"bandwidth": 1e-3},
    {"tol": 1e-8},
    {"tol": 0.2},
    {"merge_radius": 0.0},
    {"merge_radius": 2.0},
    {"max_iter": 1},
    {"max_iter": 3},
    {"min_cluster_size": 12},
    {"min_cluster_size": 12, "strays": "nearest"},
    {"min_cluster_size": 1000},
    {"min_cluster_size": 1000, "strays": "nearest"},
    {"resolution": 2},
    {"resolution": 7.5},
    {"field": "tree"},
    {"field": "anchors"},
    {"field": "brute"},
    {"n_jobs": 1},
    {"n_jobs": 2},
    {"n_jobs": -1},
    {"record": True},
    {"record": True, "resolution": 4.0},
    {"callback": CALLBACK},
]
SINGLE = {
    "MeanShift": [
        *COMMON_SINGLE,
        {"seeding": "bins"},
        {"seeding": SEEDS},
        {"seeding": SEEDS, "record": True},
        {"n_climbers": 20, "random_state": 1},
        {"n_climbers": 20, "random_state": GENERATOR},
        {"n_climbers": 5000},
    ],
    "StochasticMeanShift": [
        *COMMON_SINGLE,
        {"bandwidth": (0.5, 0.9)},
        {"bandwidth": (0.5, 0.9), "batch_size": 7},
        {"bandwidth": (0.2, 0.4), "kernel": "gaussian"},
        {"bandwidth": (0.02, 0.05), "metric": "cosine"},
        {"tol": 0.0},
        {"patience": 0.1},
        {"patience": 3.0},
        {"batch_size": 1},
        {"batch_size": 7},
        {"batch_size": ALL},
        {"batch_size": 7, "kernel": "gaussian"},
        {"batch_size": 7, "n_neighbors": 10},
        {"n_runs": 5},
        {"n_runs": 4, "max_iter": 2},
        {"n_runs": 3, "callback": CALLBACK},
        {"random_state": 1},
        {"random_state": GENERATOR},
    ],
    "BlurringMeanShift": [
        *COMMON_SINGLE,
        {"tol": 0.0},
        {"stop": "entropy"},
        {"stop": "entropy", "kernel": "gaussian"},
        {"feature_weights": "learned"},
        {"feature_weights": "learned", "weight_temperature": 0.2},
        {"feature_weights": "learned", "bandwidth": None},
        {"feature_weights": "learned", "record": True},
    ],
}
"""Options that are tried alone, or together with what makes them interesting."""

RESUMED = {
    "MeanShift": [{}, {"record": True}, {"seeding": "bins"}, {"n_climbers": 30, "random_state": 0}],
    "StochasticMeanShift": [
        {}, {"batch_size": 7}, {"bandwidth": (0.5, 0.9)}, {"kernel": "gaussian"},
        {"n_neighbors": 10}, {"record": True}, {"resolution": 5.0},
    ],
    "BlurringMeanShift": [
        {}, {"stop": "entropy"}, {"feature_weights": "learned"}, {"record": True},
    ],
}  # fmt: skip
"""Fits that are interrupted after their second sweep, and go on from a checkpoint."""

BAD_COMMON = [
    {"bandwidth": 0.0}, {"bandwidth": -1.5}, {"bandwidth": np.nan}, {"bandwidth": np.inf},
    {"bandwidth": "wide"}, {"bandwidth": True}, {"bandwidth": 1j}, {"bandwidth": (2.0, 1.0)},
    {"bandwidth": 3.0, "metric": "cosine"}, {"kernel": "nonsense"}, {"kernel": None},
    {"metric": "manhattan"}, {"n_neighbors": 0}, {"n_neighbors": 2.0}, {"n_neighbors": "5"},
    {"tol": -1e-9}, {"tol": 1.0}, {"tol": "3"}, {"merge_radius": -0.1}, {"merge_radius": None},
    {"max_iter": 0}, {"max_iter": 1.5}, {"min_cluster_size": 0}, {"min_cluster_size": 2.0},
    {"strays": "drop"}, {"resolution": 0.0}, {"resolution": "fine"}, {"field": "nonsense"},
    {"n_jobs": 0}, {"n_jobs": 1.5}, {"device": "gpu"}, {"precision": "exactly"}, {"record": 1},
    {"callback": 3}, {"checkpoint": 3}, {"checkpoint_every": -1.0}, {"unknown": 1},
]  # fmt: skip
BAD_OWN = {
    "MeanShift": [
        {"seeding": "grid"}, {"seeding": 3}, {"seeding": np.ones((4, 3))},
        {"seeding": np.full((1, 2), 1e4)}, {"seeding": np.empty((0, 2))}, {"n_climbers": 0},
        {"n_climbers": 5, "random_state": -1},
        {"n_climbers": 5, "checkpoint": CHECKPOINT},
    ],
    "StochasticMeanShift": [
        {"patience": 0}, {"batch_size": 0}, {"batch_size": 1.5}, {"n_runs": 0}, {"n_runs": "3"},
        {"random_state": "three"}, {"bandwidth": (1.0, np.inf), "n_neighbors": 5},
        {"bandwidth": (1.0,)}, {"bandwidth": (0.0, 1.0)},
    ],
    "BlurringMeanShift": [
        {"stop": "never"}, {"feature_weights": "fixed"}, {"weight_temperature": 2.0},
        {"feature_weights": "learned", "weight_temperature": 0.0},
    ],
}  # fmt: skip


# Cases


class Case(NamedTuple):
    """One fit. ``interrupt`` is the sweep after which it is stopped, and begun once more."""

    part: str
    estimator: str
    data: str
    parameters: dict[str, Any] = {}  # noqa: RUF012
    weights: str = "none"
    form: str = "array"
    new: str = "new"
    interrupt: int | None = None

    @property
    def name(self):
        """All that is particular about the case, in one line."""
        words = [self.data, *(f"{key}={value!r}" for key, value in self.parameters.items())]
        for field in ("weights", "form", "new", "interrupt"):
            if getattr(self, field) != self._field_defaults[field]:
                words.append(f"{field}: {getattr(self, field)}")
        return re.sub(r"\s+", " ", f"{self.part}/{self.estimator}/{'; '.join(words)}")


def all_cases():
    """Return all cases, without those that occur twice."""
    makers = (cpu_cases, resumed_cases, bad_cases, paired_cases, dask_cases, cuda_cases)
    return list({case.name: case for maker in makers for case in maker()}.values())


def cpu_cases():
    """Data of every kind, weights of every kind, options alone, and fields with every rule."""
    sound = list(DATA)[: list(DATA).index("NaN")]
    for estimator in ESTIMATORS:
        for data in sound:
            yield Case("cpu", estimator, data)
        for data in ("crowds", "lattice2", "forty", "directions"):
            metric = {"metric": "cosine"} if data == "directions" else {}
            for weights in ("whole", "real", "zeros"):
                yield Case("cpu", estimator, data, metric, weights)
        for weights in ("huge", "bools"):
            yield Case("cpu", estimator, "set3", {}, weights)
        for options in SINGLE[estimator]:
            yield Case("cpu", estimator, "set3", options)
        for form in ("frame", "fortran"):
            yield Case("cpu", estimator, "set3", form=form)
        for new in ("empty", "lists", "float32"):
            yield Case("cpu", estimator, "set3", new=new)
        yield from rule_cases(estimator)


def rule_cases(estimator):
    """Rules of who counts, in several dimensions, with the fields that can answer them."""
    rules = [
        {"kernel": "gaussian"}, {"metric": "cosine"}, {"n_neighbors": 12},
        {"bandwidth": np.inf, "n_neighbors": 12}, {"bandwidth": None}, {"resolution": 2.0},
    ]  # fmt: skip
    for data in ("line", "eight", "forty", "float32"):
        for rule in rules:
            yield Case("cpu", estimator, data, rule)
    for rule in rules[:4]:
        for field in ("tree", "anchors", "brute"):
            yield Case("cpu", estimator, "eight", {**rule, "field": field}, "real")
    for kernel in ("flat", "gaussian"):
        yield Case("cpu", estimator, "directions", {"kernel": kernel, "metric": "cosine"})
    yield Case("cpu", estimator, "many", {"n_jobs": 2, "bandwidth": 1.0})
    yield Case("cpu", estimator, "directions", {"bandwidth": None, "metric": "cosine"})


def resumed_cases():
    """Fits that are interrupted and go on."""
    for estimator, options in RESUMED.items():
        for parameters in options:
            parameters = {**parameters, "checkpoint": CHECKPOINT}
            yield Case("cpu", estimator, "crowds", parameters, "whole", interrupt=2)


def bad_cases():
    """Data, weights, new points and parameters that are refused."""
    bad_data = list(DATA)[list(DATA).index("NaN") :]
    bad_weights = list(WEIGHTS)[list(WEIGHTS).index("negative") :]
    for estimator in ESTIMATORS:
        for data in bad_data:
            options = {"zero row": {"metric": "cosine"}, "huge": {"bandwidth": 1e-300}}
            yield Case("cpu", estimator, data, options.get(data, {}))
        for parameters in BAD_OWN[estimator]:
            yield Case("cpu", estimator, "few2", parameters)
    turns = cycle(ESTIMATORS)
    for weights in bad_weights:
        yield Case("cpu", next(turns), "few2", weights=weights)
    for new in ("too many features", "too few features", "NaN", "one dimension", "words"):
        yield Case("cpu", next(turns), "few2", new=new)
    for parameters in BAD_COMMON:
        yield Case("cpu", next(turns), "few2", parameters)


def paired_cases():
    """Every two options of an estimator, unless both set a parameter, to different values."""
    for estimator, options in PAIRED.items():
        for first, second in combinations(options.values(), 2):
            if any(first[name] != second[name] for name in first.keys() & second.keys()):
                continue
            both = {**first, **second}
            part = "cuda" if both.get("device") == "cuda" else "cpu"
            yield Case(part, estimator, "clumps", both)


def dask_cases():
    """Fits to Dask collections, in cells and in partitions."""
    form = "three chunks"
    for estimator in ESTIMATORS:
        cells, parts = {"resolution": 3.0}, batches(estimator, 9)
        for chunks in list(FORMS)[list(FORMS).index("one chunk") :]:
            yield Case("dask", estimator, "few2", cells, "real", chunks)
            yield Case("dask", estimator, "few2", parts, "none", chunks)
        yield Case("dask", estimator, "few2", cells, "none", "dask frame")
        yield Case("dask", estimator, "few2", parts, "real", "dask frame")
        for options in PAIRED[estimator].values():
            yield Case("dask", estimator, "clumps", {**cells, **options}, form=form)
            yield Case("dask", estimator, "clumps", {**parts, **options}, form=form)
        for data in ("lattice2", "float32", "eight"):
            yield Case("dask", estimator, data, cells, "whole", form)
            yield Case("dask", estimator, data, parts, "whole", form)
    for size in (None, 1, 50, ALL):
        yield Case("dask", "StochasticMeanShift", "set3", {"batch_size": size}, form=form)
    yield from unusual_dask_cases(form)


def batches(estimator, size):
    """Return the parameters that let StochasticMeanShift move points together."""
    return {"batch_size": size} if estimator == "StochasticMeanShift" else {}


def unusual_dask_cases(form):
    """Data, weights and new points that are bad or unusual, in chunks."""
    kinds = [(estimator, cells) for cells in (True, False) for estimator in ESTIMATORS]

    def case(data, options=None, weights="none", new="new"):
        estimator, cells = next(turns)
        own = {"resolution": 3.0} if cells else batches(estimator, 9)
        return Case("dask", estimator, data, {**own, **(options or {})}, weights, form, new)

    for first in (0, 3):  # what is in cells the first time is in partitions the second time
        turns = islice(cycle(kinds), first, None)
        for data in ("NaN", "words", "no points", "one dimension", "complex", "strings"):
            yield case(data)
        for weights in ("zeros", "huge", "negative", "all zero", "too few", "column", "words"):
            yield case("few2", {}, weights)
        for new in ("too many features", "NaN", "one dimension", "float32"):
            yield case("few2", {}, new=new)
        for field in ("anchors", "brute"):
            yield case("few12", {"field": field}, "real")
        yield case("set3", {"bandwidth": None})
        yield case("far", {}, "whole")
        yield case("all the same")
        yield case("zero row", {"metric": "cosine"})
        yield case("few2", {"bandwidth": -1.0})


def cuda_cases():
    """Fits on a GPU, or as if there were one."""
    rules = [
        {}, {"kernel": "gaussian"}, {"metric": "cosine"},
        {"metric": "cosine", "kernel": "gaussian"}, {"precision": "fast"},
    ]  # fmt: skip
    for estimator in ESTIMATORS:
        own = {**batches(estimator, 12), "device": "cuda"}
        for data in ("few2", "few12", "few40"):
            for rule in rules:
                yield Case("cuda", estimator, data, {**own, **rule})
        for form in ("array", "tensor"):
            for data in ("few2", "few float32"):
                yield Case("cuda", estimator, data, own, "real", form)
            yield Case("cuda", estimator, "few2", own, "zeros", form)
            yield Case("cuda", estimator, "few2", {**own, "bandwidth": None}, form=form)
            strays = {"min_cluster_size": 8, "strays": "nearest"}
            yield Case("cuda", estimator, "few2", {**own, **strays}, form=form)
        for data in ("one point", "all the same"):
            yield Case("cuda", estimator, data, own)
        yield Case("cuda", estimator, "few2", own, form="three chunks")
    for size in (None, 1, ALL):
        options = {"device": "cuda", "batch_size": size}
        yield Case("cuda", "StochasticMeanShift", "few2", options)
    yield from bad_cuda_cases()


def bad_cuda_cases():
    """Data, weights and new points that the GPU refuses."""
    turns = cycle(ESTIMATORS)
    own = {"device": "cuda"}
    for form in ("array", "tensor"):
        for data in ("NaN", "no points", "one dimension", "complex"):
            yield Case("cuda", next(turns), data, own, form=form)
        for weights in ("negative", "all zero", "too few"):
            yield Case("cuda", next(turns), "few2", own, weights, form)
        for new in ("too many features", "NaN"):
            yield Case("cuda", next(turns), "few2", own, form=form, new=new)
    yield Case("cuda", next(turns), "zero row", {**own, "metric": "cosine"})
    yield Case("cuda", next(turns), "huge", {**own, "bandwidth": 1e-300})


# Running a case


class Record:
    """What a case has given: facts that go into JSON, and arrays."""

    def __init__(self, case):
        self.case = case
        self.facts = {"case": case.name}
        self.errors, self.warnings, self.arrays = {}, [], {}

    def keep(self, name, value):
        """Keep an attribute or a prediction, and what kind of thing it is."""
        if value is None or name in FACTS:
            self.facts[name] = value.item() if isinstance(value, np.generic) else value
            return
        if hasattr(value, "dask"):
            value, kind = value.compute(), f"Dask, chunks {value.chunks}"
        else:
            kind = type(value).__name__
        values = np.asarray(value)
        self.arrays[name] = values
        self.facts[f"kind of {name}"] = f"{kind}, {values.dtype}, shape {values.shape}"

    def as_json(self):
        """Return all but the arrays."""
        return {"facts": self.facts, "errors": self.errors, "warnings": self.warnings}


class Watcher:
    """A callback that notes what it is told, and may press Ctrl-C."""

    def __init__(self, interrupt=None):
        self.notes = []
        self.interrupt = interrupt

    def __call__(self, progress):
        """Note the numbers."""
        self.notes.append([int(progress.sweep), int(progress.n_steps), int(progress.n_moving),
                           int(progress.count_clusters())])  # fmt: skip
        if self.interrupt is not None and progress.sweep >= self.interrupt:
            raise KeyboardInterrupt


def run_case(case):
    """Fit and predict, and keep whatever comes of it."""
    record = Record(case)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        signal.alarm(TIME_LIMIT)
        attempt(record, "fit", folder, lambda: fit_and_predict(case, record, Path(folder)))
        signal.alarm(0)
    record.warnings = [
        [each.category.__name__, plain_text(str(each.message), folder)] for each in caught
    ]
    return record


def attempt(record, when, folder, function):
    """Call a function and keep its error, if there is one."""
    try:
        function()
    except Exception as error:
        record.errors[when] = [type(error).__name__, plain_text(str(error), folder)]


def plain_text(text, folder):
    """Leave out what changes from run to run: addresses and the temporary folder."""
    return re.sub(r"\b0x[0-9a-f]+", "0x...", text.replace(str(folder), "FOLDER"))


def fit_and_predict(case, record, folder):
    """Fit as the case says, and label new points in the form of X and as an array."""
    data = make_data(case.data)
    weights = WEIGHTS[case.weights](0 if data.points is None else len(data.points))
    X, sample_weight = FORMS[case.form](data.points, weights)
    watcher = Watcher()
    path = folder / "checkpoint.npz"
    model = make_estimator(case, data, watcher, path)
    if case.interrupt is not None:
        interrupt(model, X, sample_weight, case.interrupt, path)
        record.facts["interrupted"] = path.exists()
    model.fit(X, sample_weight=sample_weight)
    keep_fit(record, model)
    record.facts["progress"] = watcher.notes
    record.facts["checkpoint is left"] = path.exists()

    def predict(name, form):
        new = FORMS[form](NEW[case.new](data.new), None)[0]
        record.keep(name, model.predict(new))

    attempt(record, "predict", folder, lambda: predict("predicted", case.form))
    if case.form != "array":
        attempt(record, "predict array", folder, lambda: predict("predicted_from_array", "array"))


def interrupt(model, X, sample_weight, sweep, path):
    """Fit until a callback presses Ctrl-C."""
    from modeshift import Checkpoint

    model.set_callbacks(Watcher(sweep), Checkpoint(path))
    with suppress(KeyboardInterrupt):
        model.fit(X, sample_weight=sample_weight)
    model.set_callbacks(Checkpoint(path))


def make_estimator(case, data, watcher, path):
    """Make the estimator, with a bandwidth and a seed unless the case has its own."""
    import modeshift

    parameters = {"bandwidth": default_bandwidth(data, case.parameters), **case.parameters}
    if case.estimator == "StochasticMeanShift":
        parameters.setdefault("random_state", 0)
    special = {
        CALLBACK: lambda: watcher,
        CHECKPOINT: lambda: str(path),
        SEEDS: lambda: data.points[::10] + 0.01,
        GENERATOR: lambda: np.random.RandomState(5),
        ALL: lambda: len(data.points),
    }
    for name, value in parameters.items():
        if isinstance(value, str) and value in special:
            parameters[name] = special[value]()
    callbacks = take_callbacks(parameters, path)
    runs = {"n_runs": parameters.pop("n_runs")} if "n_runs" in parameters else None
    model = getattr(modeshift, case.estimator)(**translated(parameters, case.part))
    model.set_callbacks(*callbacks)
    if runs is None:
        return model
    return modeshift.Consensus(model, **runs, random_state=model.random_state)


def take_callbacks(parameters, path):
    """Take the old parameters out that are callbacks now, and return these."""
    from modeshift import Checkpoint

    callbacks = [parameters.pop("callback")] if "callback" in parameters else []
    every = (
        {"every": parameters.pop("checkpoint_every")} if "checkpoint_every" in parameters else {}
    )
    if "checkpoint" in parameters or every:
        callbacks.append(Checkpoint(parameters.pop("checkpoint", path), **every))
    return callbacks


def translated(parameters, part):
    """Return parameters by their names of today."""
    precision = parameters.pop("precision", None)
    on_gpu = parameters.get("device") == "cuda" or (
        part == "cuda" and parameters.get("device") == "auto"
    )
    if precision not in (None, "exact", "fast") or (precision == "fast" and on_gpu):
        parameters.setdefault("field", precision)  # on a CPU it changed nothing
    if "weight_temperature" in parameters:
        parameters["feature_weights"] = parameters.pop("weight_temperature")
    return {RENAMED.get(name, name): value for name, value in parameters.items()}


def default_bandwidth(data, parameters):
    """Return a bandwidth that suits kernel and metric."""
    gaussian = parameters.get("kernel") == "gaussian"
    if parameters.get("metric") == "cosine":
        return data.angle / 4.0 if gaussian else data.angle
    return data.bandwidth / 2.0 if gaussian else data.bandwidth


def keep_fit(record, model):
    """Keep the fitted attributes that are there."""
    for name in ("labels_", *REAL, *FACTS):
        if hasattr(model, RENAMED.get(name, name)):
            record.keep(name, getattr(model, RENAMED.get(name, name)))
    paths = getattr(model, RENAMED.get("paths_", "paths_"), None)
    if paths is not None:
        record.facts["lengths of paths_"] = [len(path) for path in paths]
        record.keep("paths_", np.concatenate(paths))


def give_up(*_):
    """End a case that takes too long."""
    raise TimeoutError(f"the case takes more than {TIME_LIMIT} s")


def run_part(part):
    """Run the cases of a part; return records by name."""
    signal.signal(signal.SIGALRM, give_up)
    records, seconds = {}, {}
    for case in all_cases():
        if case.part != part:
            continue
        start = time.perf_counter()
        records[case.name] = run_scheduled(case)
        seconds[case.name] = time.perf_counter() - start
    slowest = sorted(seconds, key=seconds.get, reverse=True)[:3]
    print(f"{part}: {len(records)} cases in {sum(seconds.values()):.0f} s; the slowest:")
    for name in slowest:
        print(f"  {seconds[name]:.1f} s  {name}")
    return records


def run_scheduled(case):
    """Run a case; Dask's work is done by this thread, unless the case is about threads."""
    if find_spec("dask") is None:
        return run_case(case)
    import dask

    scheduler = "threads" if case.form == "threads" else "synchronous"
    with dask.config.set(scheduler=scheduler):
        return run_case(case)


# Files


def load(path):
    """Return recorded cases by name, as JSON has them, and all arrays."""
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    return json.loads(str(arrays.pop("records"))), arrays


def write(path, part):
    """Run a part and put it into the file, instead of what the file has of the part."""
    records, arrays = load(path) if path.exists() else ({}, {})
    records = {name: each for name, each in records.items() if not name.startswith(f"{part}/")}
    arrays = {name: each for name, each in arrays.items() if not name.startswith(f"{part}/")}
    found = run_part(part)
    for name, record in found.items():
        records[name] = record.as_json()
        arrays.update({f"{name}|{key}": values for key, values in record.arrays.items()})
    np.savez_compressed(path, records=np.array(json.dumps(records)), **arrays)
    refused = sum("fit" in record.errors for record in found.values())
    print(f"{part}: {len(found) - refused} fits and {refused} refusals are in {path}")
    return 0


# Comparison


class Verdict(NamedTuple):
    """What comparing a case gave; ``fails`` where the results are not the same."""

    kind: str
    fails: bool = False
    details: tuple[str, ...] = ()


def compare(path, part):
    """Run a part, and print how each case compares with the file."""
    records, arrays = load(path)
    recorded = {name for name in records if name.startswith(f"{part}/")}
    found = run_part(part)
    verdicts = {}
    for name, record in found.items():
        if name in recorded:
            mine = {key: arrays.get(f"{name}|{key}") for key in (*WHOLE, *REAL, "paths_")}
            verdicts[name] = judge(records[name], mine, record)
            refused_no_more = "fit" in records[name]["errors"] and "fit" not in record.errors
            if refused_no_more and REPLACED & set(record.case.parameters):
                verdicts[name] = Verdict("is refused no more")
            if "n_runs" in record.case.parameters and not changed_labels(verdicts[name]):
                verdicts[name] = verdicts[name]._replace(fails=False)  # labels are what counts
        else:
            verdicts[name] = Verdict("not recorded", True)
    verdicts |= {name: Verdict("not run", True) for name in recorded - found.keys()}
    for name, verdict in verdicts.items():
        print("\n      ".join([f"{verdict.kind:22} {name}", *verdict.details]))
    counts = Counter(verdict.kind for verdict in verdicts.values())
    print(f"{part}: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return int(any(verdict.fails for verdict in verdicts.values()))


def changed_labels(verdict):
    """Whether the labels of the fit differ, not only those of new points."""
    return any(detail.startswith("labels_:") for detail in verdict.details)


def judge(old, old_arrays, record):
    """Compare a case with what was recorded of it; the worst difference gives the name."""
    new = json.loads(json.dumps(record.as_json()))
    tests = [
        judge_types("error", list(old["errors"].items()), list(new["errors"].items())),
        judge_whole(old_arrays, record.arrays),
        judge_facts(old["facts"], new["facts"]),
        judge_types("warning", enumerate(old["warnings"]), enumerate(new["warnings"])),
        judge_real(old_arrays, record.arrays),
    ]
    verdicts = sorted((test for test in tests if test), key=lambda each: not each.fails)
    if not verdicts:
        return Verdict("identical")
    details = tuple(detail for verdict in verdicts for detail in verdict.details)
    return Verdict(verdicts[0].kind, verdicts[0].fails, details)


def judge_types(what, old, new):
    """Compare errors or warnings: when, of which type, with which text."""
    old = [(when, kind, rename_words(text)) for when, (kind, text) in old]
    new = [(when, kind, text) for when, (kind, text) in new]
    if old == new:
        return None
    details = (*(f"was {each}" for each in old), *(f"is  {each}" for each in new))
    if [each[:2] for each in old] != [each[:2] for each in new]:
        return Verdict(f"{what} type differs", True, details)
    return Verdict(f"{what} text differs", False, details)


def rename_words(text):
    """Return a recorded text with the names of today."""
    for old, new in RENAMED.items():
        text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, text)
    return text


def judge_whole(old, new):
    """Compare labels."""
    details = [
        f"{name}: {difference(old.get(name), new.get(name))}"
        for name in WHOLE
        if not same(old.get(name), new.get(name))
    ]
    return Verdict("labels differ", True, tuple(details)) if details else None


def difference(old, new):
    """Say in how many places two arrays differ."""
    if old is None or new is None:
        return "was not there" if old is None else "is not there"
    if old.shape != new.shape:
        return f"shape was {old.shape}, is {new.shape}"
    return f"{np.count_nonzero(old != new)} of {old.size} differ"


def judge_facts(old, new):
    """Compare steps, and all else that is exact."""
    details = [
        f"{name}: was {old.get(name)}, is {new.get(name)}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    return Verdict("steps differ", True, tuple(details)) if details else None


def judge_real(old, new):
    """Compare positions and lengths: rounding, or more than that."""
    largest, details = 0.0, []
    for name in (*REAL, "paths_"):
        before, now = old.get(name), new.get(name)
        if same(before, now):
            continue
        if before is None or now is None or before.shape != now.shape:
            largest = np.inf
            details.append(f"{name}: {difference(before, now)}")
            continue
        excess = relative_difference(before, now)
        largest = max(largest, excess / ROUNDING.get(now.dtype.itemsize, ROUNDING[8]))
        details.append(f"{name}: largest relative difference {excess:.2g}")
    if not details:
        return None
    if largest > 1.0:
        return Verdict("values differ", True, tuple(details))
    return Verdict("only rounding differs", False, tuple(details))


def same(old, new):
    """Whether two arrays, or None, are the same to the last bit."""
    if old is None or new is None:
        return old is new
    return old.dtype == new.dtype and old.shape == new.shape and old.tobytes() == new.tobytes()


def relative_difference(old, new):
    """Largest difference over the largest magnitude."""
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        return 0.0 if np.array_equal(old, new, equal_nan=True) else np.inf
    size = max(np.abs(old).max(initial=0.0), np.abs(new).max(initial=0.0))
    return float(np.abs(old - new).max(initial=0.0) / size) if size > 0.0 else 0.0


# The command


def prepare(part):
    """Set the environment that a part needs, before anything imports Triton."""
    if part == "cuda":
        os.environ.setdefault("TRITON_INTERPRET", "1")
    else:
        os.environ["TRITON_INTERPRET"] = "0"
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def main():
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", choices=PARTS, help="run one part, in this process")
    arguments = parser.parse_args()
    if arguments.only is None:
        command = [sys.executable, __file__, arguments.action, str(arguments.file)]
        return max(subprocess.run([*command, "--only", part]).returncode for part in PARTS)
    missing = [name for name in NEEDED[arguments.only] if find_spec(name) is None]
    if missing:
        print(f"{arguments.only}: left out, for want of {' and '.join(missing)}")
        return 0
    prepare(arguments.only)
    action = write if arguments.action == "write" else compare
    return action(arguments.file, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
