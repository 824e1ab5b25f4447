"""The content of the page, as plain values: text, numbers, and arrays in base64."""

from base64 import b64encode
from typing import Any

import numpy as np

from modeshift.engines.cpu.nearest import nearest_rows
from modeshift.engines.cpu.sphere import normalised
from modeshift.estimators.mean_shift import MeanShift
from modeshift.plots import COLOURS
from modeshift.report.climb import Climb
from modeshift.report.repeat import python_code
from modeshift.report.view import View, make_view

MOST_POINTS = 200_000
_FEATURES_ON_HOVER = 8
_FEATURES_IN_TABLE = 12
_CLUSTERS_IN_TABLE = 200


def make_content(
    *,
    table: Any,
    preparation: Any,
    fitted: Any,
    summary: dict[str, Any],
    climb: Climb | None,
    profile: bytes | None = None,
) -> dict[str, Any]:
    """Return the content of the page.

    Parameters
    ----------
    table : Table
        The data.
    preparation : Preparation
        Scaling of the data.
    fitted : estimator
    summary : dict
        Content of the JSON summary.
    climb : Climb or None
    profile : bytes or None
        Picture (SVG) of the bandwidths that were tried.
    """
    clustered = _on_sphere(preparation.apply(table.points), fitted)
    view = make_view(clustered, preparation)
    shown = _sample(len(clustered))
    n_left_out = len(clustered) - len(shown)
    names = table.columns[:_FEATURES_ON_HOVER]
    content = {
        "title": f"Clusters of {summary['data']['file']}",
        "lead": _lead(summary),
        "colours": COLOURS,
        "view": {
            "box": view.box.tolist(),
            "equal": view.equal,
            "axes": [
                {"name": name, "scale": scale, "offset": offset}
                for name, (scale, offset) in zip(view.names, view.units, strict=True)
            ],
            "note": _note(view, len(shown), n_left_out, climb, summary["n_runs"]),
            "centers": view.quantized(fitted.cluster_centers_[:_CLUSTERS_IN_TABLE]).tolist(),
            "sweep": "step" if summary["method"] == "deterministic" else "sweep",
        },
        "points": {
            "labels": _packed(fitted.labels_[shown], np.int32),
            "places": _packed(_spread_out(view, clustered[shown]), np.uint16),
            "values": _packed(table.points[shown, : len(names)], np.float32),
            "rows": _packed(table.rows[shown], np.int32),
            "ids": None if table.id is None else [str(table.id[int(i)]) for i in shown],
            "names": names,
            "more": len(table.columns) - len(names),
        },
        "climb": None,
        "moving": [],
        "movingNote": "",
        "profile": None if profile is None else b64encode(profile).decode(),
        "clusters": _clusters(summary),
        "command": summary["command"],
        "python": python_code(summary),
        "facts": _facts(summary),
    }
    if climb is not None and len(climb.sweeps) > 0:
        content |= _climb(view, climb, clustered, shown, fitted, summary["n_runs"])
    return content


def _climb(
    view: View,
    climb: Climb,
    clustered: np.ndarray,
    shown: np.ndarray,
    fitted: Any,
    n_runs: int,
) -> dict[str, Any]:
    """Return the climb, with the data as the first frame."""
    moving: list[int | None]
    number_on_page = np.full(len(clustered), -1)
    number_on_page[shown] = np.arange(len(shown))
    if climb.n == len(clustered):
        points, frames = climb.climbers, climb.frames
        kept = number_on_page[points] >= 0
        points, frames = points[kept], frames[:, kept]
        frames = np.concatenate([clustered[points][np.newaxis], frames])
        sweeps, moving = [0, *climb.sweeps], [None, *climb.moving]
        ends = fitted.modes_[points]
        # The fit converged in the middle of a sweep. The modes of several runs are of another run.
        if n_runs == 1 and not np.array_equal(frames[-1], ends):
            frames = np.concatenate([frames, ends[np.newaxis]])
            sweeps, moving = [*sweeps, fitted.n_iter_], [*moving, None]
    else:  # other starts: each climb is drawn as the point whose mode is nearest to its end
        frames = climb.frames
        points = shown[nearest_rows(fitted.modes_[shown].astype(float), frames[-1].astype(float))]
        sweeps, moving = list(climb.sweeps), list(climb.moving)
    places = np.stack([_spread_out(view, frame, points) for frame in frames])
    return {
        "climb": {
            "points": _packed(number_on_page[points], np.int32),
            "places": _packed(places, np.uint16),
            "sweeps": sweeps,
            "moving": moving,
        },
        "moving": climb.all_moving,
        "movingNote": _moving_note(fitted),
    }


def _moving_note(fitted: Any) -> str:
    fitted = getattr(fitted, "estimator_", fitted)
    if isinstance(fitted, MeanShift):
        return "Climbs that are still going. Climbs that have met count once."
    what = "points" if fitted.resolution is None else "cells of points (see resolution)"
    return f"Number of {what} that moved further than the tolerance."


def _on_sphere(points: np.ndarray, fitted: Any) -> np.ndarray:
    """Return the points as they were clustered: on the unit sphere with the cosine metric."""
    if getattr(fitted, "estimator_", fitted).metric != "cosine":
        return points
    return normalised(points, "X")


def _sample(n: int) -> np.ndarray:
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.RandomState(0).choice(n, MOST_POINTS, replace=False))


def _spread_out(view: View, positions: np.ndarray, numbers: Any = None) -> np.ndarray:
    """Return positions on the page. Points with one feature get different heights."""
    places = view.quantized(positions)
    if positions.shape[1] == 1:
        numbers = np.arange(len(positions)) if numbers is None else numbers
        places[:, 1] = (numbers * 40503) % 65536  # Knuth's multiplicative hash
    return places


def _packed(array: np.ndarray, dtype: Any) -> str:
    little = np.dtype(dtype).newbyteorder("<")
    with np.errstate(over="ignore"):
        return b64encode(np.ascontiguousarray(array, dtype=little).tobytes()).decode()


def _lead(summary: dict[str, Any]) -> str:
    data, n = summary["data"], summary["n_clusters"]
    scaled = ", standardized" if data["standardized"] else ""
    noise = f", {summary['n_noise']:,} points in none" if summary["n_noise"] else ""
    end = "converged" if summary["converged"] else "not converged"
    found = f"{n:,} cluster{'s' * (n != 1)}{noise}"
    return (
        f"{data['points']:,} points, {len(data['features'])} features{scaled}. "
        f"{summary['estimator']} with bandwidth {summary['bandwidth']:.4g} found {found}; "
        f"{end}, {summary['seconds']['fit']:.2f} s."
    )


def _note(view: View, n_shown: int, n_left_out: int, climb: Climb | None, n_runs: int) -> str:
    parts = ["Drag to move, scroll to zoom, double-click to see all; hover to read a point."]
    if view.note:
        parts.append(view.note)
    if n_left_out:
        parts.append(f"A random sample of {n_shown:,} points is drawn; {n_left_out:,} are not.")
    if climb is not None and climb.n > len(climb.climbers):
        parts.append(f"The climb shows a random sample of {len(climb.climbers):,} points.")
    if climb is not None and n_runs > 1:
        parts.append(
            f"The climb is that of the first of {n_runs} runs; the clusters are their vote."
        )
    return " ".join(parts)


def _clusters(summary: dict[str, Any]) -> dict[str, Any]:
    features = summary["data"]["features"][:_FEATURES_IN_TABLE]
    rows, rest = [], ""
    for cluster in summary["clusters"][:_CLUSTERS_IN_TABLE]:
        values = [[cluster["center"][name], cluster["spread"][name]] for name in features]
        rows.append({"label": cluster["label"], "size": cluster["size"], "values": values})
    n_more = len(summary["clusters"]) - len(rows)
    if n_more > 0:
        size = sum(cluster["size"] for cluster in summary["clusters"][_CLUSTERS_IN_TABLE:])
        rest += f"{n_more:,} smaller clusters with {size:,} points are not listed. "
    if len(summary["data"]["features"]) > len(features):
        rest += f"The first {len(features)} features are listed; the JSON summary has all."
    return {"features": features, "rows": rows, "total": summary["data"]["points"], "rest": rest}


def _facts(summary: dict[str, Any]) -> list[list[str]]:
    data = summary["data"]
    facts = {
        "data": data["file"],
        "features": ", ".join(data["features"]),
        "columns left out": ", ".join(data["columns_left_out"]) or "none",
        "rows dropped for missing values": f"{data['dropped_rows']:,}",
        "steps taken": f"{summary['n_steps']:,}",
        "computed on": summary["device"],
        **{name: str(value) for name, value in summary["parameters"].items()},
        **{f"{name}, chosen": str(value) for name, value in (summary["chosen"] or {}).items()},
        **{f"{name}, against the truth": f"{value:.4g}" for name, value in
           (summary["scores"] or {}).items()},
        "versions": ", ".join(f"{name} {version}" for name, version in summary["versions"].items()),
    }  # fmt: skip
    return [[name, value] for name, value in facts.items()]
