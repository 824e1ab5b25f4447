"""Checks of fitted data from a file. Compiled code trusts them: it would read beyond an array.

A file of ``save`` passes. One that was made to do harm gets a ValueError before anything is
computed with it.
"""

from math import inf
from typing import Any

import numpy as np

from modeshift.engines.cpu.cell_sums import Tally
from modeshift.engines.cpu.exact_sums import BASE, PLACES, WEIGHTLESS
from modeshift.engines.cpu.stream import Clock, Saved
from modeshift.engines.prediction import Grid, Model
from modeshift.engines.problem import Problem, Units
from modeshift.engines.rule import Flat, Gaussian, Globe, Latent, Nearest, Plane, Sphere
from modeshift.plda import PLDAMetric

_LARGEST_EXPONENT = 2200
"""Exponents of two of the units of floats are smaller."""

_HIGHEST_TOP = 40
"""Highest place of a digit of a float; see ``exact_sums.py``. A stream that ages adds its age."""


def check_fitted(fitted: dict[str, Any]) -> None:
    """Raise ValueError if compiled code cannot trust the fitted attributes of an estimator."""
    model, stream = fitted.get("_model_"), fitted.get("_stream_")
    n_features = fitted.get("n_features_in_")
    if model is not None:
        _require(isinstance(model, Model), "the model")
        d = _check_problem(model.problem, n_features)
        _check_labels(model)
        _check_grid(model.grid, d, len(model.problem.points))
    if stream is not None:
        _require(isinstance(stream, Saved), "the stream")
        _check_stream(stream, n_features)


def _require(fits: Any, what: str) -> None:
    if not fits:
        raise ValueError(f"{what} in it cannot be")


def _check_problem(problem: Any, n_features: Any) -> int:
    """Check points, weights, lengths and the rule; return the number of coordinates."""
    _require(isinstance(problem, Problem), "the model")
    points, weights = problem.points, problem.weights
    _require(_is_array(points, "f8", (None, None)) and np.isfinite(points).all(), "points")
    n, d = points.shape
    _require(n > 0 and _is_array(weights, "f8", (n,)), "weights")
    _require(np.isfinite(weights).all() and (weights >= 0).all() and weights.any(), "weights")
    _require(_is_length(problem.radius) and _is_length(problem.scale, finite=True), "the bandwidth")
    for exponent in (problem.exponent, problem.weight_exponent):
        _require(_is_whole(exponent, -_LARGEST_EXPONENT, _LARGEST_EXPONENT), "units")
    factors = problem.factors
    _require(
        factors is None or (_is_array(factors, "f8", (d,)) and np.isfinite(factors).all()),
        "feature weights",
    )
    _check_rule(problem.rule, n, d, n_features)
    return d


def _check_rule(rule: Any, n: int, d: int, n_features: Any) -> None:
    _require(isinstance(rule, Flat | Gaussian | Nearest), "the rule")
    if isinstance(rule, Nearest):
        _require(isinstance(rule.ball, Flat | Gaussian), "k")
        _check_space(rule.ball.space, d, n_features)
        _require(_is_length(rule.k) and _is_whole(rule.room, 1, n), "k")
    _check_space(rule.space, d, n_features)


def _check_space(space: Any, d: int, n_features: Any) -> None:
    """Check that points of so many features have d coordinates."""
    if isinstance(space, Latent):
        _require(isinstance(space.metric, PLDAMetric), "the PLDA")
        again = Latent.of(PLDAMetric.of(*space.metric))
        _require(len(again.shares) == d and len(again.metric.center) == n_features, "the PLDA")
        shapes = [[np.asarray(part).shape for part in each[1:]] for each in (space, again)]
        _require(shapes[0] == shapes[1], "the PLDA")
        return
    _require(isinstance(space, Plane | Sphere), "the space of the points")
    expected = 3 if isinstance(space, Globe) else n_features
    _require(_is_whole(d, 1, inf) and d == expected, "the number of features")


def _check_labels(model: Model) -> None:
    n = len(model.problem.points)
    _require(_is_whole(model.n_clusters, 0, n), "the number of clusters")
    _require(_is_array(model.labels, "i8", (n,)), "labels")
    _require(((model.labels >= -1) & (model.labels < model.n_clusters)).all(), "labels")
    scale = model.feature_scale
    _require(
        scale is None or (isinstance(scale, tuple) and all(map(_is_length, scale))),
        "feature_scale",
    )


def _check_grid(grid: Any, d: int, n: int) -> None:
    if grid is not None:
        _require(isinstance(grid, Grid) and _is_length(grid.side, finite=True), "cells")
        _require(_is_array(grid.keys, "f8", (n, d)) and _is_array(grid.firsts, "i8", (n,)), "cells")


def _check_stream(stream: Saved, n_features: Any) -> None:
    tally, clock, units = stream.tally, stream.clock, stream.units
    _require(isinstance(tally, Tally) and _is_array(tally.keys, "f8", (None, None)), "cells")
    m, d = tally.keys.shape
    _require(_is_array(tally.firsts, "i8", (m,)) and _is_array(tally.tops, "i8", (m,)), "cells")
    _require(_is_array(tally.digits, "i8", (m, d + 1, PLACES)), "sums")
    metric = stream.origin.get("metric") if isinstance(stream.origin, dict) else None
    _check_space(Globe() if metric == "haversine" else Plane(), d, n_features)
    _require(isinstance(units, Units) and isinstance(clock, Clock), "the stream")
    for exponent in units:
        _require(_is_whole(exponent, -_LARGEST_EXPONENT, _LARGEST_EXPONENT), "units")
    _require(_is_length(stream.side, finite=True), "cells")
    _require(stream.dtype in ("float32", "float64") and _is_whole(stream.n_seen, 0, 2**62), "rows")
    _require(clock.half_life is None or _is_length(clock.half_life), "half_life")
    _require(_is_whole(clock.rows, 0, 2**62) and _is_number(clock.start), "the age")
    _require(0 <= clock.start < 1e12 and clock.age < 1e12, "the age")
    highest = _HIGHEST_TOP + clock.age // BASE
    _require(((tally.tops >= WEIGHTLESS) & (tally.tops <= highest)).all(), "sums")
    lasts = stream.lasts
    _require(lasts is None or _is_array(lasts, "f8", (m,)), "the age")


def _is_array(value: Any, dtype: str, shape: tuple[int | None, ...]) -> bool:
    """Return whether a value is an array of this type and shape; None is any length."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.dtype(dtype)
        and value.ndim == len(shape)
        and all(wanted in (None, found) for wanted, found in zip(shape, value.shape, strict=True))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_length(value: Any, finite: bool = False) -> bool:
    return _is_number(value) and value > 0 and (value < inf or not finite)


def _is_whole(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
