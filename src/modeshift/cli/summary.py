"""The result of a fit, as JSON and as a short table."""

import json
import math
import platform
import shlex
from importlib.metadata import version
from typing import Any

import numpy as np

from modeshift import __version__
from modeshift.cli.parameters import option_of
from modeshift.cli.prepare import Preparation, magnitude
from modeshift.cli.scores import spelled_out
from modeshift.io.table import Table
from modeshift.parameters import names_where

_CLUSTERS_SHOWN = 10
_FEATURES_SHOWN = 4


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
    arguments: list[str],
    name: str,
    sheet: str | None,
    method: str,
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
    """Return the content of the JSON summary."""
    standardized = preparation.offset is not None
    set_by_the_command = names_where(in_command=False)
    summary = {
        "command": shlex.join(["modeshift", *arguments]),
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


def as_options(chosen: dict[str, Any]) -> str:
    """Return chosen parameters as options of the command; they repeat the fit exactly."""
    return " ".join(
        f"{option_of(name)} {value}" for name, value in chosen.items() if value is not None
    )


def as_json(summary: Any) -> bytes:
    """Return the summary as JSON. Infinity and NaN, which JSON lacks, become text."""
    return (json.dumps(_plain(summary), indent=2, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def as_table(summary: dict[str, Any]) -> str:
    """Return the summary as lines of text."""
    data, clusters = summary["data"], summary["clusters"]
    features = data["features"]
    lines = [
        f"{_count(data['points'], 'point')}, {_count(len(features), 'feature')}: "
        f"{_listed(features)}{' (standardized)' if data['standardized'] else ''}",
        f"{summary['estimator']}, bandwidth {_short(summary['bandwidth'])}: "
        f"{_count(len(clusters), 'cluster')} after {_iterations(summary)}, "
        f"{summary['seconds']['fit']:.2f} s on {summary['device']}",
    ]
    if summary["chosen"]:
        lines.append(f"chosen: {as_options(summary['chosen'])}")
    if data["columns_left_out"]:
        lines.insert(1, f"columns left out: {_listed(data['columns_left_out'])}")
    if data["dropped_rows"]:
        lines.insert(1, f"dropped for missing values: {_count(data['dropped_rows'], 'row')}")
    if clusters:
        lines += ["", *_cluster_rows(clusters, data["points"], features[:_FEATURES_SHOWN])]
    if summary["n_noise"]:
        lines.append(f"{_count(summary['n_noise'], 'point')} in no cluster (label -1)")
    if summary["scores"]:
        lines += ["", "against the truth:", *spelled_out(summary["scores"])]
    return "\n".join(lines)


def _iterations(summary: dict[str, Any]) -> str:
    what = "step" if summary["method"] == "deterministic" else "sweep"
    end = "converged" if summary["converged"] else "not converged"
    return f"{_count(summary['n_iter'], what)}, {end}"


def _cluster_rows(clusters: list[dict], n: int, features: list[str]) -> list[str]:
    head = ["cluster", "points", "share", *(f"{name} ± spread" for name in features)]
    rows = [
        [
            str(cluster["label"]),
            f"{cluster['size']:,}",
            f"{100 * cluster['size'] / n:.1f} %",
            *(f"{_short(cluster['center'][f])} ± {_short(cluster['spread'][f])}" for f in features),
        ]
        for cluster in clusters[:_CLUSTERS_SHOWN]
    ]
    lines = aligned([head, *rows])
    rest = clusters[_CLUSTERS_SHOWN:]
    if rest:
        size = sum(cluster["size"] for cluster in rest)
        more = "one more cluster" if len(rest) == 1 else f"{len(rest):,} smaller clusters"
        lines.append(f"and {more} with {_count(size, 'point')}")
    return lines


def aligned(rows: list[list[str]]) -> list[str]:
    """Return rows of cells as lines, every column flush right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _short(value: float) -> str:
    return f"{value:.4g}"
