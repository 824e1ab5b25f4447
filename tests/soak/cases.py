"""Random cases: data of all kinds, an estimator, options that may or may not go together.

A case is a dict of plain values, so that it can be printed into a script and made smaller value by
value. Everything random in it comes from its seed.
"""

import numpy as np

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

ESTIMATORS = {
    "MeanShift": MeanShift,
    "StochasticMeanShift": StochasticMeanShift,
    "BlurringMeanShift": BlurringMeanShift,
}

SHAPES = ("blobs", "uniform", "line", "ring", "heavy tails", "lattice", "equal", "two places")
"""Shapes of the data. Of the last three many distances are equal."""

CHANGES = ("duplicates", "quantised", "offset", "far outlier", "tiny", "huge", "minus zero")
"""What may be done to the data besides."""

COMMON = {
    "kernel": ["gaussian"],
    "metric": ["cosine"],
    "n_neighbors": [1, 3, 10, 1000],
    "tol": [0.0, 1e-6, 0.05, 1.0],
    "merge_radius": [0.0, 0.05, 1.5],
    "max_iter": [1, 2, 20],
    "min_cluster_size": [2, 5, 1e9],
    "strays": ["nearest", "noise"],
    "resolution": [1.0, 4.0, 64.0],
    "algorithm": ["tree", "anchors", "brute"],
    "feature_scale": ["drawn"],
    "n_clusters": [1, 2, 3],
    "significance": [None, 0.3],
}
"""Values that the options of all estimators may take; most of them are left out in most cases."""

OWN = {
    "MeanShift": {"seeding": ["bins", 1, 5]},
    "StochasticMeanShift": {"batch_size": [1, 3, 1000], "patience": [0.1, 2.5]},
    "BlurringMeanShift": {"stop": ["entropy"], "feature_weights": ["learned", 0.1]},
}

ENGINES = ("cpu",) * 16 + ("dask",) * 2 + ("cuda",)


def draw_case(seed):
    """Draw a case."""
    rng = np.random.default_rng([20261119, seed])
    name = str(rng.choice(list(ESTIMATORS)))
    engine = str(rng.choice(ENGINES))
    largest = {"cpu": 90, "dask": 60, "cuda": 100}[engine]
    possible = {**COMMON, **OWN[name]}
    chosen = [option for option in possible if rng.random() < 0.13]
    return {
        "seed": int(seed),
        "estimator": name,
        "engine": engine,
        "n": int(rng.integers(1, largest) if rng.random() < 0.9 else rng.integers(1, 4)),
        "d": int(rng.choice([1, 2, 2, 2, 3, 4, 6, 12, 33])),
        "shape": str(rng.choice(SHAPES)),
        "changes": [change for change in CHANGES if rng.random() < 0.08],
        "dtype": str(rng.choice(["float64", "float64", "float32", "int64"])),
        "frame": str(rng.choice(["array", "array", "array", "pandas", "polars", "fortran"])),
        "weights": str(rng.choice(["none", "none", "whole", "real", "zeros", "extreme"])),
        "bandwidth": str(rng.choice(["middle", "middle", "small", "large", "pair", "none", "inf"])),
        "options": {option: _pick(rng, possible[option]) for option in chosen},
    }


def _pick(rng, values):
    return values[rng.integers(len(values))]


def points_of(case):
    """Return the points of a case, as float64."""
    n, d = case["n"], case["d"]
    rng = np.random.default_rng([1, case["seed"]])
    X = _SHAPES[case["shape"]](rng, n, d)
    with np.errstate(over="ignore"):  # what is huge is clipped
        for change in case["changes"]:
            X = _CHANGES[change](rng, X)
    if case["dtype"] == "int64":
        X = np.clip(np.round(X), -(2.0**53), 2.0**53)
    if case["dtype"] == "float32":
        X = np.clip(X, -1e38, 1e38).astype(np.float32).astype(float)
    return X


def bandwidth_of(case, X):
    """Return the bandwidth of a case: a share of the typical distance between its points."""
    kind = case["bandwidth"]
    if kind in ("none", "inf"):
        return None if kind == "none" else np.inf
    if case["options"].get("metric") == "cosine":
        h = 0.2
    else:
        others = X[np.random.default_rng([2, case["seed"]]).permutation(len(X))]
        lengths = [float(np.hypot.reduce(row)) for row in X / 2 - others / 2]
        h = 0.6 * max(np.median(lengths), 1e-3 * max(lengths)) or 1.0
        if case["options"].get("feature_scale"):
            h = 1.0
    h *= {"small": 0.05, "large": 3.0}.get(kind, 1.0)
    if case["options"].get("metric") == "cosine":
        h = min(h, 2.0)
    if kind == "pair" and case["estimator"] == "StochasticMeanShift":
        return (0.5 * h, h)
    return h


def weights_of(case):
    """Return the weights of a case, or None."""
    rng = np.random.default_rng([3, case["seed"]])
    n, kind = case["n"], case["weights"]
    if kind == "none":
        return None
    if kind == "whole":
        return rng.integers(1, 5, n).astype(float)
    weights = rng.uniform(0.1, 3.0, n)
    if kind == "zeros":
        weights[rng.random(n) < 0.4] = 0.0
        weights[rng.integers(n)] = 1.0
    if kind == "extreme":
        weights *= 10.0 ** rng.integers(-12, 12, n)
    return weights


def estimator_of(case, X, **more):
    """Return the estimator of a case, unfitted."""
    options = dict(case["options"])
    if "feature_scale" in options:
        spread = np.ptp(X, axis=0) / 2
        options["feature_scale"] = np.where(spread > 0, spread, 1.0)
    estimator_class = ESTIMATORS[case["estimator"]]
    if estimator_class is not BlurringMeanShift:
        options["random_state"] = case["seed"] % 2**32
    options = {"max_iter": 60, **options, **more}
    return estimator_class(**{"bandwidth": bandwidth_of(case, X), **options})


def given_to_fit(case, X):
    """Return the data as the user of this case has them: of a type, in an array or a frame."""
    X = X.astype(case["dtype"])
    names = [f"feature {k}" for k in range(case["d"])]
    if case["frame"] == "pandas":
        import pandas as pd

        return pd.DataFrame(X, columns=names)
    if case["frame"] == "polars":
        import polars as pl

        return pl.DataFrame(X, schema=names)
    return np.asfortranarray(X) if case["frame"] == "fortran" else X


# ----------------------------------------------------------------- shapes


def _blobs(rng, n, d):
    centers = rng.uniform(0, 12, (rng.integers(1, 6), d))
    return centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, d))


def _line(rng, n, d):
    return np.linspace(0, 5, n)[:, np.newaxis] * rng.normal(size=d)


def _ring(rng, n, d):
    directions = rng.normal(size=(n, d))
    return 3 * directions / np.linalg.norm(directions, axis=1, keepdims=True)


_SHAPES = {
    "blobs": _blobs,
    "uniform": lambda rng, n, d: rng.uniform(0, 6, (n, d)),
    "line": _line,
    "ring": _ring,
    "heavy tails": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "lattice": lambda rng, n, d: rng.integers(0, 4, (n, d)).astype(float),
    "equal": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "two places": lambda rng, n, d: rng.normal(size=(2, d))[rng.integers(2, size=n)],
}


def _with_outlier(rng, X):
    X = X.copy()
    X[rng.integers(len(X))] *= 10.0 ** rng.integers(2, 300)
    return np.clip(X, -1e300, 1e300)


_CHANGES = {
    "duplicates": lambda rng, X: X[rng.integers(len(X) // 2 + 1, size=len(X))],
    "quantised": lambda rng, X: np.round(X, 1),
    "offset": lambda rng, X: X + rng.choice([-1.0, 1.0], X.shape[1]) * 10.0 ** rng.integers(1, 300),
    "far outlier": _with_outlier,
    "tiny": lambda rng, X: X * 10.0 ** -rng.integers(1, 300),
    "huge": lambda rng, X: np.clip(X * 10.0 ** rng.integers(1, 299), -1e300, 1e300),
    "minus zero": lambda rng, X: np.where(np.abs(X) < 0.5, -0.0, X),
}
