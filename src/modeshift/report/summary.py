"""A fit in plain values: versions, data, parameters, clusters."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from modeshift import __version__
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
    their mean.
    """
    exponent = magnitude(table.points)
    points, labels = np.ldexp(table.points.astype(np.float64), -exponent), fitted.labels_
    n_clusters = len(fitted.cluster_centers_)
    weights = np.ones(len(points)) if table.weight is None else table.weight
    inside = labels >= 0
    labels, points, weights = labels[inside], points[inside], weights[inside]
    counts = np.bincount(labels, minlength=n_clusters)
    masses = np.bincount(labels, weights, n_clusters)
    shares = np.where(
        masses[labels] > 0, weights, 1.0
    )  # in a cluster without weight all points count 1
    sums = np.bincount(labels, shares, n_clusters)

    def means(values: np.ndarray) -> np.ndarray:
        columns = [np.bincount(labels, shares * column, n_clusters) for column in values.T]
        return np.column_stack(columns) / sums[:, np.newaxis]

    spreads = np.ldexp(np.sqrt(means((points - means(points)[labels]) ** 2)), exponent)
    centers = preparation.undo(fitted.cluster_centers_.astype(np.float64))
    return [
        {
            "label": k,
            "size": int(counts[k]),
            "weight": float(masses[k]),
            "center": dict(zip(table.columns, centers[k].tolist(), strict=True)),
            "spread": dict(zip(table.columns, spreads[k].tolist(), strict=True)),
        }
        for k in range(n_clusters)
    ]


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
