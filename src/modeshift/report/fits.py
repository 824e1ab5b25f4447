"""A fit in Python, as the command would describe it: the table, the summary, the climb."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from modeshift.checks import check_weights
from modeshift.estimators.base import ModeSeeker
from modeshift.estimators.consensus import Consensus
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.estimators.validation import as_places
from modeshift.io.prepare import Preparation
from modeshift.io.table import Table
from modeshift.plots.fitted import chart_of_model, feature_names
from modeshift.report.climb import Camera, Climb
from modeshift.report.summary import summarize


class DescribedFit(NamedTuple):
    """A fit, and what the page and the explorer say about it."""

    model: Any
    table: Table
    preparation: Preparation
    summary: dict[str, Any]
    climb: Climb | None


def describe(model: Any, X: Any, sample_weight: Any, camera: Camera | None) -> DescribedFit:
    """Return the description of a fit of arrays in memory.

    Parameters
    ----------
    model : fitted estimator
    X : array-like of shape (n, d)
        The points of the fit.
    sample_weight : array-like of shape (n,) or None
    camera : Camera or None
    """
    _check_model(model)
    table = _as_table(model, X, sample_weight)
    parameters, n_runs = _parameters(model)
    preparation = Preparation(table.columns, None, None)
    summary = summarize(
        command=None,
        name=None,
        sheet=None,
        method=None,
        weight=None if sample_weight is None else "sample_weight",
        table=table,
        preparation=preparation,
        parameters=parameters,
        n_runs=n_runs,
        fitted=model,
        scores=None,
        seconds={},
        advice=None,
    )
    climb = None if camera is None else camera.climb()
    return DescribedFit(model, table, preparation, summary, climb)


def _check_model(model: Any) -> None:
    estimator = getattr(model, "estimator_", None) if isinstance(model, Consensus) else model
    if isinstance(model, ModeSeeker | Consensus):
        check_is_fitted(model)
    if not isinstance(estimator, ModeSeeker):
        raise TypeError(
            "model must be a fitted MeanShift, StochasticMeanShift or BlurringMeanShift, or a "
            f"Consensus of one of them, got {model!r}; plots.clusters draws any clusterer."
        )
    if not isinstance(model.labels_, np.ndarray):
        raise TypeError(
            "The page needs a fit of arrays in memory, and the labels are "
            f"{type(model.labels_).__name__}; fit an array of NumPy, or draw with plots.clusters."
        )


def _as_table(model: Any, X: Any, sample_weight: Any) -> Table:
    """Return the points of a fit in Python as the command would read them from a file."""
    on_globe = chart_of_model(model).metric == "haversine"
    X = as_places(X, "haversine" if on_globe else None)
    points = np.ascontiguousarray(X)
    points = points.astype(np.float32 if points.dtype == np.float32 else np.float64)
    if len(points) != len(model.labels_):
        raise ValueError(
            f"X has {len(points)} points, but the model was fitted to {len(model.labels_)}; pass "
            "the X of fit."
        )
    weight = None if sample_weight is None else check_weights(sample_weight, len(points))
    rows = np.arange(len(points))  # as in X; the command counts the rows of its file from 1
    names = feature_names(model, X)
    if on_globe and names == ["x0", "x1"]:
        names = ["latitude", "longitude"]
    return Table(
        points, names, [], rows, id=None, label=None, weight=weight, n_dropped=0, on_globe=on_globe
    )


def _parameters(model: Any) -> tuple[dict[str, Any], int]:
    """Return the parameters of the estimator, and the number of its runs."""
    if not isinstance(model, Consensus):
        return model.get_params(deep=False), 1
    estimator = StochasticMeanShift() if model.estimator is None else model.estimator
    parameters = estimator.get_params(deep=False) | {"random_state": model.random_state}
    return parameters, model.n_runs
