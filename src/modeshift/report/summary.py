"""A fit in plain values: versions, data, parameters, clusters."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from modeshift import __version__
from modeshift.engines.cpu.chart import Chart
from modeshift.estimators.base import cells_of
from modeshift.globe import distances, to_places
from modeshift.io.prepare import Preparation, magnitude
from modeshift.io.table import Table
from modeshift.parameters import names_where


def versions() -> dict[str, str]:
    """Return the versions of the packages that the result depends on."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "modeshift": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def describe_clusters(
    table: Table, preparation: Preparation, fitted: Any, labels: np.ndarray
) -> list[dict[str, Any]]:
    """Return size, centre and spread of each cluster, in the units of the data.

    The centre is the mode of the cluster. The spread is the standard deviation of its points around
    their mean; on the globe it is one number in kilometres (``"km"``).
    """
    n_clusters = len(fitted.cluster_centers_)
    weights = np.ones(len(labels)) if table.weight is None else table.weight
    inside = labels >= 0
    members = Members(labels[inside], weights[inside], n_clusters)
    if table.on_globe:
        chart = Chart("haversine", getattr(fitted, "estimator_", fitted).feature_scale)
        names = ["km"]
        spreads = members.spreads_on_globe(chart.points(table.points[inside], "X"))
    else:
        names = table.columns
        exponent = magnitude(table.points)
        points = np.ldexp(table.points[inside].astype(np.float64), -exponent)
        spreads = np.ldexp(members.spreads(points), exponent)
    counts = np.bincount(members.labels, minlength=n_clusters)
    masses = np.bincount(members.labels, members.weights, n_clusters)
    centers = preparation.undo(fitted.cluster_centers_.astype(np.float64))
    return [
        {
            "label": k,
            "size": int(counts[k]),
            "weight": float(masses[k]),
            "center": dict(zip(table.columns, centers[k].tolist(), strict=True)),
            "spread": dict(zip(names, spreads[k].tolist(), strict=True)),
        }
        for k in range(n_clusters)
    ]


class Members:
    """The points that are in a cluster.

    In a cluster without weight all points count alike.

    Attributes
    ----------
    labels, weights : ndarray of shape (n,)
    """

    def __init__(self, labels: np.ndarray, weights: np.ndarray, n_clusters: int) -> None:
        self.labels, self.weights, self._n = labels, weights, n_clusters
        masses = np.bincount(labels, weights, n_clusters)
        self._shares = np.where(masses[labels] > 0, weights, 1.0)
        self._sums = np.bincount(labels, self._shares, n_clusters)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of each column of values, cluster by cluster."""
        columns = [np.bincount(self.labels, self._shares * each, self._n) for each in values.T]
        return np.column_stack(columns) / self._sums[:, np.newaxis]

    def spreads(self, points: np.ndarray) -> np.ndarray:
        """Return the standard deviations around the means."""
        return np.sqrt(self.means((points - self.means(points)[self.labels]) ** 2))

    def spreads_on_globe(self, vectors: np.ndarray) -> np.ndarray:
        """Return the root mean square distances from the mean places, in kilometres."""
        middles = to_places(self.means(vectors))
        found = distances(to_places(vectors), middles[self.labels])
        return np.sqrt(self.means(found[:, np.newaxis] ** 2))


def summarize(
    *,
    command: str | None,
    name: str | None,
    sheet: str | None,
    method: str | None,
    weight: str | None,
    table: Table,
    preparation: Preparation,
    parameters: dict[str, Any],
    n_runs: int,
    fitted: Any,
    scores: dict[str, float] | None,
    seconds: dict[str, float],
    advice: str | None,
) -> dict[str, Any]:
    """Return a fit in plain values: the content of the JSON summary, and of most of the page.

    Parameters
    ----------
    command, name, sheet, method : str or None
        The command line, the data file, --sheet and --method; None for a fit in Python.
    weight : str or None
        Name of the weights.
    table : Table
    preparation : Preparation
    parameters : dict
        Parameters of the estimator.
    n_runs : int
    fitted : estimator
    scores : dict or None
        Scores against true classes.
    seconds : dict
        Seconds that each part of the work took, as far as they are known.
    advice : str or None
        A faster way to the clusters.
    """
    standardized = preparation.offset is not None
    data: dict[str, Any] = {
        "file": name,
        "sheet": sheet,
        "points": len(table.points),
        "dropped_rows": table.n_dropped,
        "features": table.columns,
        "columns_left_out": table.unused,
        "weight": weight,
        "standardized": standardized,
        "on_globe": table.on_globe,
    }
    if standardized:
        data["offset"], data["scale"] = preparation[1:]
    return {
        "command": command,
        "versions": versions(),
        "data": data,
        "method": method,
        **_facts(fitted, parameters),
        "n_runs": n_runs,
        "n_noise": int((fitted.labels_ < 0).sum()),
        "clusters": describe_clusters(table, preparation, fitted, fitted.labels_),
        "scores": scores,
        "seconds": _rounded(seconds),
        "advice": advice,
    }


def _facts(fitted: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a fit, and what it found."""
    set_by_the_command = names_where(in_command=False)
    return {
        "estimator": type(getattr(fitted, "estimator_", fitted)).__name__,
        "parameters": {
            name: value for name, value in parameters.items() if name not in set_by_the_command
        },
        "chosen": getattr(fitted, "chosen_", None),
        "device": fitted.engine_,
        "bandwidth": fitted.bandwidth_,
        "converged": fitted.converged_,
        "n_iter": fitted.n_iter_,
        "n_steps": fitted.n_steps_,
        "n_clusters": len(fitted.cluster_centers_),
    }


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {step: round(value, 6) for step, value in seconds.items()}


def summarize_stream(
    *,
    command: str,
    name: str,
    method: str,
    weight: str | None,
    half_life: float | None,
    columns: list[str],
    unused: list[str],
    n_dropped: int,
    on_globe: bool,
    fitted: Any,
    seconds: dict[str, float],
) -> dict[str, Any]:
    """Return a fit of batches in plain values: clusters are described by their cells.

    The size of a cluster is its number of points, or None if points have weights; then only
    ``"weight"`` is known. Parameters are those of :func:`summarize`.
    """
    cells = cells_of(fitted)
    counts = weight is None and half_life is None
    table = Table(
        cells.points, columns, unused, np.arange(1, len(cells.points) + 1), id=None, label=None,
        weight=cells.weights, n_dropped=n_dropped, on_globe=on_globe,
    )  # fmt: skip
    clusters = describe_clusters(table, Preparation(columns, None, None), fitted, cells.labels)
    for cluster in clusters:
        cluster["size"] = round(cluster["weight"]) if counts else None
    noise = float(cells.weights[cells.labels < 0].sum())
    return {
        "command": command,
        "versions": versions(),
        "data": {
            "file": name,
            "points": fitted.n_samples_seen_,
            "cells": len(cells.points),
            "dropped_rows": n_dropped,
            "features": columns,
            "columns_left_out": unused,
            "weight": weight,
            "half_life": half_life,
            "standardized": False,
            "on_globe": on_globe,
        },
        "method": method,
        **_facts(fitted, fitted.get_params(deep=False)),
        "n_noise": round(noise) if counts else noise,
        "clusters": clusters,
        "scores": None,
        "seconds": _rounded(seconds),
    }
