"""The points, labels and centres of a fitted clusterer, as pictures need them."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.sphere import normalised
from modeshift.engines.kinds import in_memory


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
    """

    points: np.ndarray
    labels: np.ndarray
    centers: np.ndarray
    names: list[str]


def clustered(model: Any, X: Any) -> Clustered:
    """Return the points X and the clusters that a model found in them."""
    if not hasattr(model, "labels_"):
        raise ValueError(f"{type(model).__name__} is not fitted; call fit(X) first.")
    points, labels = in_memory(X), in_memory(model.labels_)
    if points.ndim != 2 or len(points) != len(labels):
        raise ValueError(
            f"X has shape {points.shape}, but the model was fitted to {len(labels)} points; pass "
            "the X of fit."
        )
    centers = in_memory(getattr(model, "cluster_centers_", np.empty((0, points.shape[1]))))
    points = on_sphere(model, points.astype(np.float64))
    return Clustered(points, labels, centers.astype(np.float64), feature_names(model, X))


def on_sphere(model: Any, points: np.ndarray) -> np.ndarray:
    """Return the points as they were clustered: on the unit sphere with the cosine metric."""
    if getattr(getattr(model, "estimator_", model), "metric", None) != "cosine":
        return points
    return normalised(points, "X")


def feature_names(model: Any, X: Any) -> list[str]:
    """Return the names of the features: of the fit, of the columns of X, or x0, x1, ..."""
    names = getattr(model, "feature_names_in_", getattr(X, "columns", None))
    if names is None:
        return [f"x{k}" for k in range(X.shape[1] if hasattr(X, "shape") else len(X[0]))]
    return [str(name) for name in names]
