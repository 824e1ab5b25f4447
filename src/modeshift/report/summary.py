"""A fit in plain values: versions, data, parameters, clusters."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from modeshift import __version__
from modeshift.engines.cpu.chart import Chart
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


def describe_clusters(table: Table, preparation: Preparation, fitted: Any) -> list[dict[str, Any]]:
    """Return size, centre and spread of each cluster, in the units of the data.

    The centre is the mode of the cluster. The spread is the standard deviation of its points around
    their mean; on the globe it is one number in kilometres (``"km"``).
    """
    labels, n_clusters = fitted.labels_, len(fitted.cluster_centers_)
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
    set_by_the_command = names_where(in_command=False)
    summary = {
        "command": command,
        "versions": versions(),
        "data": {
            "file": name,
            "sheet": sheet,
            "points": len(table.points),
            "dropped_rows": table.n_dropped,
            "features": table.columns,
            "columns_left_out": table.unused,
            "weight": weight,
            "standardized": standardized,
            "on_globe": table.on_globe,
        },
        "method": method,
        "estimator": type(getattr(fitted, "estimator_", fitted)).__name__,
        "parameters": {
            name: value for name, value in parameters.items() if name not in set_by_the_command
        },
        "chosen": getattr(fitted, "chosen_", None),
        "n_runs": n_runs,
        "device": fitted.engine_,
        "bandwidth": fitted.bandwidth_,
        "converged": fitted.converged_,
        "n_iter": fitted.n_iter_,
        "n_steps": fitted.n_steps_,
        "n_clusters": len(fitted.cluster_centers_),
        "n_noise": int((fitted.labels_ < 0).sum()),
        "clusters": describe_clusters(table, preparation, fitted),
        "scores": scores,
        "seconds": {step: round(value, 6) for step, value in seconds.items()},
        "advice": advice,
    }
    if standardized:
        summary["data"]["offset"], summary["data"]["scale"] = preparation[1:]
    return summary
