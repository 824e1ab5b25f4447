"""The summary of a fit, as JSON and as a short table."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from modeshift.cli.parameters import option_of
from modeshift.cli.scores import spelled_out
from modeshift.cli.screen import shown

_CLUSTERS_SHOWN = 10
_FEATURES_SHOWN = 4


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
        f"{summary['estimator']}, bandwidth {_short(summary['bandwidth'])}"
        f"{' km' if data['on_globe'] else ''}: "
        f"{_count(len(clusters), 'cluster')} after {_iterations(summary)}, "
        f"{summary['seconds']['fit']:.2f} s on {summary['device']}",
    ]
    if summary["chosen"]:
        lines.append(f"chosen: {as_options(summary['chosen'])}")
    if "cells" in data:
        aged = "" if data["half_life"] is None else f", half-life {data['half_life']:,g} rows"
        lines.append(f"kept as {_count(data['cells'], 'cell')}{aged}")
    if data["columns_left_out"]:
        lines.insert(1, f"columns left out: {_listed(data['columns_left_out'])}")
    if data["dropped_rows"]:
        lines.insert(1, f"dropped for missing values: {_count(data['dropped_rows'], 'row')}")
    if clusters:
        lines += ["", *_cluster_rows(clusters, data["points"], features[:_FEATURES_SHOWN])]
    if summary["n_noise"]:
        noise = summary["n_noise"]
        held = _count(noise, "point") if isinstance(noise, int) else f"a weight of {noise:,.6g}"
        lines.append(f"{held} in no cluster (label -1)")
    if summary["scores"]:
        lines += ["", "against the truth:", *spelled_out(summary["scores"])]
    return "\n".join(lines)


def print_result(
    summary: dict[str, Any], places: dict[str, Path | None], notes: list[str], screen: Any
) -> None:
    """Print the table of a fit and the files that were written, and notes to standard error."""
    print(shown(as_table(summary)), end="\n\n", file=screen)
    for option, place in places.items():
        if place is not None:
            print(shown(f"{option[2:]}: {place}"), file=screen)
    for note in notes:
        print(shown(f"modeshift: {note}"), file=sys.stderr)


def _iterations(summary: dict[str, Any]) -> str:
    what = "step" if summary["method"] == "deterministic" else "sweep"
    end = "converged" if summary["converged"] else "not converged"
    return f"{_count(summary['n_iter'], what)}, {end}"


def _cluster_rows(clusters: list[dict], n: int, features: list[str]) -> list[str]:
    of_features = clusters[0]["spread"].keys() >= set(features)  # else it is one length
    sizes = [cluster["weight" if cluster["size"] is None else "size"] for cluster in clusters]
    total = sum(sizes) if clusters[0]["size"] is None else n
    head = ["cluster", "weight" if clusters[0]["size"] is None else "points", "share"]
    head += [f"{name} ± spread" if of_features else name for name in features]
    head += [] if of_features else [f"spread, {unit}" for unit in clusters[0]["spread"]]
    rows = [
        [
            str(cluster["label"]),
            f"{size:,}" if isinstance(size, int) else f"{size:,.6g}",
            f"{100 * size / total:.1f} %",
            *_places(cluster, features, of_features),
        ]
        for cluster, size in zip(clusters[:_CLUSTERS_SHOWN], sizes, strict=False)
    ]
    lines = aligned([head, *rows])
    rest = clusters[_CLUSTERS_SHOWN:]
    if rest:
        size = sum(sizes[_CLUSTERS_SHOWN:])
        more = "one more cluster" if len(rest) == 1 else f"{len(rest):,} smaller clusters"
        held = _count(size, "point") if isinstance(size, int) else f"a weight of {size:,.6g}"
        lines.append(f"and {more} with {held}")
    return lines


def _places(cluster: dict, features: list[str], of_features: bool) -> list[str]:
    """Return the cells of centre and spread."""
    center, spread = cluster["center"], cluster["spread"]
    if of_features:
        return [f"{_short(center[name])} ± {_short(spread[name])}" for name in features]
    return [f"{center[name]:.2f}" for name in features] + [_short(s) for s in spread.values()]


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
