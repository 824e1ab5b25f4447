"""The points, labels and centres of a fitted clusterer, as pictures need them."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.chart import Chart
from modeshift.engines.kinds import in_memory
from modeshift.estimators.base import ModeSeeker
from modeshift.estimators.validation import as_places


class Clustered(NamedTuple):
    """Points as they were clustered, and their clusters.

    Attributes
    ----------
    points : ndarray of shape (n, d), float64
    labels : ndarray of shape (n,)
    centers : ndarray of shape (n_clusters, d)
        Empty, if the clusterer has no centres.
    names : list of str
        Names of the features.
    chart : Chart
        How rows became points.
    """

    points: np.ndarray
    labels: np.ndarray
    centers: np.ndarray
    names: list[str]
    chart: Chart


def clustered(model: Any, X: Any) -> Clustered:
    """Return the points X and the clusters that a model found in them."""
    if not hasattr(model, "labels_"):
        raise ValueError(f"{type(model).__name__} is not fitted; call fit(X) first.")
    chart = chart_of_model(model)
    X = as_places(X, chart.metric)
    points, labels = in_memory(X), in_memory(model.labels_)
    if points.ndim != 2 or len(points) != len(labels):
        raise ValueError(
            f"X has shape {points.shape}, but the model was fitted to {len(labels)} points; pass "
            "the X of fit."
        )
    centers = in_memory(getattr(model, "cluster_centers_", np.empty((0, points.shape[1]))))
    points = as_drawn(model, points.astype(np.float64))
    return Clustered(points, labels, centers.astype(np.float64), feature_names(model, X), chart)


def chart_of_model(model: Any) -> Chart:
    """Return how the rows of a model became points; a plain chart for clusterers of others."""
    estimator = getattr(model, "estimator_", model)
    if not isinstance(estimator, ModeSeeker):
        return Chart()
    return Chart(estimator.metric, estimator.feature_scale)


def as_drawn(model: Any, points: np.ndarray) -> np.ndarray:
    """Return points as pictures show them: on the unit sphere with the cosine metric."""
    chart = chart_of_model(model)
    return chart.points(points, "X") if chart.metric == "cosine" else points


def feature_names(model: Any, X: Any) -> list[str]:
    """Return the names of the features: of the fit, of the columns of X, or x0, x1, ..."""
    names = getattr(model, "feature_names_in_", getattr(X, "columns", None))
    if names is None:
        return [f"x{k}" for k in range(X.shape[1] if hasattr(X, "shape") else len(X[0]))]
    return [str(name) for name in names]
