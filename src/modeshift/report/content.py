"""The content of the page, as plain values: text, numbers, and arrays in base64."""

from base64 import b64encode
from typing import Any

import numpy as np

from modeshift.engines.cpu.nearest import nearest_rows
from modeshift.estimators.mean_shift import MeanShift
from modeshift.plots import COLOURS
from modeshift.plots.axes import MOST_UNEQUAL
from modeshift.plots.fitted import as_drawn, chart_of_model
from modeshift.plots.maps import has_land, parallels_and_meridians
from modeshift.report.climb import Climb
from modeshift.report.repeat import python_code
from modeshift.report.view import View, make_map_view, make_view

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
    clustered = as_drawn(fitted, preparation.apply(table.points))
    if table.on_globe:
        view = make_map_view(clustered, chart_of_model(fitted).feature_scale)
    else:
        view = make_view(clustered, preparation)
    shown = _sample(len(clustered))
    n_left_out = len(clustered) - len(shown)
    names = table.columns[:_FEATURES_ON_HOVER]
    centers = fitted.cluster_centers_[:_CLUSTERS_IN_TABLE]
    content = {
        "title": _title(summary),
        "lead": _lead(summary),
        "colours": COLOURS,
        "view": {
            "axes": [
                {
                    "name": axis.name,
                    "low": axis.low,
                    "high": axis.high,
                    "scale": axis.scale,
                    "offset": axis.offset,
                }
                for axis in view.axes
            ],
            "mostUnequal": MOST_UNEQUAL,
            "map": _map(view),
            "note": _note(view, len(shown), n_left_out, climb, summary["n_runs"]),
            "centers": _places_of_centers(view, centers),
            "sweep": "step" if isinstance(_estimator(fitted), MeanShift) else "sweep",
        },
        "points": {
            "labels": _packed(fitted.labels_[shown], np.int32),
            "places": _packed(view.quantized(clustered[shown], shown), np.uint16),
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
        "profileNote": _profile_note(fitted, summary),
        "clusters": _clusters(summary),
        "command": summary["command"],
        "python": python_code(summary),
        "facts": _facts(summary),
    }
    if climb is not None and len(climb.sweeps) > 0:
        content |= _climb(view, climb, clustered, shown, fitted, summary["n_runs"])
    return content


def _map(view: View) -> dict[str, Any] | None:
    """Return land and lines of a map, in 65535ths of the axes; None for other pictures."""
    if view.on_map is None:
        return None
    low = np.array([axis.low for axis in view.axes])
    high = np.array([axis.high for axis in view.axes])
    ends = np.stack([low, high], axis=1)

    def packed(lines: list[np.ndarray]) -> dict[str, Any]:
        points = np.concatenate(lines) if lines else np.empty((0, 2))
        shares = (points - low) / (high - low) * 65535
        stops = np.cumsum([len(line) for line in lines]).tolist()
        return {"points": _packed(shares, np.float32), "stops": stops}

    around_pole = view.on_map.pole != 0
    lines = parallels_and_meridians(view.on_map, ends) if around_pole else []
    return {
        "land": packed(view.on_map.land() if has_land(ends) else []),
        "lines": packed([line for _, line in lines]),
        "names": [name for name, _ in lines],
        "period": view.on_map.period / (high - low)[0] * 65535,
    }


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
    places = np.stack([view.quantized(frame, points) for frame in frames], axis=1)
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
    fitted = _estimator(fitted)
    if isinstance(fitted, MeanShift):
        return "Climbs that are still going. Climbs that have met count once."
    what = "points" if fitted.resolution is None else "cells of points (see resolution)"
    return f"Number of {what} that moved further than the tolerance."


def _estimator(fitted: Any) -> Any:
    """Return the estimator, or of a Consensus one of its runs."""
    return getattr(fitted, "estimator_", fitted)


def _places_of_centers(view: View, centers: np.ndarray) -> list[list[int]]:
    """Return the place of each centre on every axis; one feature: all at half height."""
    places = view.quantized(centers, np.zeros(len(centers), dtype=int))
    for axis, along in zip(view.axes, places, strict=True):
        if axis.axis is None:
            along[:] = 65535 // 2
    return places.T.tolist()


def _sample(n: int) -> np.ndarray:
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.RandomState(0).choice(n, MOST_POINTS, replace=False))


def _packed(array: np.ndarray, dtype: Any) -> str:
    little = np.dtype(dtype).newbyteorder("<")
    with np.errstate(over="ignore"):
        return b64encode(np.ascontiguousarray(array, dtype=little).tobytes()).decode()


def _title(summary: dict[str, Any]) -> str:
    data = summary["data"]
    return f"Clusters of {data['file'] or _count(data['points'], 'point')}"


def _lead(summary: dict[str, Any]) -> str:
    data, seconds = summary["data"], summary["seconds"]
    scaled = ", standardized" if data["standardized"] else ""
    noise = f", {_count(summary['n_noise'], 'point')} in none" if summary["n_noise"] else ""
    end = "converged" if summary["converged"] else "not converged"
    time = f", {seconds['fit']:.2f} s" if "fit" in seconds else ""
    return (
        f"{_count(data['points'], 'point')}, {_count(len(data['features']), 'feature')}{scaled}. "
        f"{summary['estimator']} with bandwidth {summary['bandwidth']:.4g}"
        f"{' km' if data['on_globe'] else ''} found "
        f"{_count(summary['n_clusters'], 'cluster')} among all points{noise}; {end}{time}."
    )


def _profile_note(fitted: Any, summary: dict[str, Any]) -> str:
    """Return which points the picture of the choice counts clusters of."""
    profile = getattr(fitted, "profile_", None)
    if profile is None:
        return ""
    n, n_sampled = summary["data"]["points"], len(np.unique(profile.rows))
    of = "all points" if n_sampled == n else f"a sample of {n_sampled:,} of the {n:,} points"
    return (
        f"The picture counts the clusters of {of}, without very small ones (dust). The fit of all "
        f"points found {_count(summary['n_clusters'], 'cluster')}."
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
            f"The climb is that of the last of {n_runs} runs; the clusters are their vote."
        )
    return " ".join(parts)


def _clusters(summary: dict[str, Any]) -> dict[str, Any]:
    features = summary["data"]["features"][:_FEATURES_IN_TABLE]
    on_globe = summary["data"]["on_globe"]
    rows, rest = [], ""
    for cluster in summary["clusters"][:_CLUSTERS_IN_TABLE]:
        spread = cluster["spread"]
        values = [[cluster["center"][name], spread.get(name)] for name in features]
        values += [[float(f"{spread['km']:.3g}"), None]] if on_globe else []
        rows.append({"label": cluster["label"], "size": cluster["size"], "values": values})
    n_more = len(summary["clusters"]) - len(rows)
    if n_more > 0:
        size = sum(cluster["size"] for cluster in summary["clusters"][_CLUSTERS_IN_TABLE:])
        rest += f"{n_more:,} smaller clusters with {size:,} points are not listed. "
    if len(summary["data"]["features"]) > len(features):
        rest += f"The first {len(features)} features are listed; the JSON summary has all."
    heads = [*features, "spread, km"] if on_globe else features
    spread = (
        "the spread is the root mean square distance of its points from their mean"
        if on_globe
        else "± is the standard deviation of its points"
    )
    note = (
        f"Choose a row to see only that cluster. The centre is the mode of the cluster; {spread}."
    )
    total = summary["data"]["points"]
    return {"features": heads, "rows": rows, "total": total, "rest": rest, "note": note}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _facts(summary: dict[str, Any]) -> list[list[str]]:
    data = summary["data"]
    file = {
        "data": data["file"],
        "columns left out": ", ".join(data["columns_left_out"]) or "none",
        "rows dropped for missing values": f"{data['dropped_rows']:,}",
    }
    facts = {
        **({} if data["file"] is None else file),
        "features": ", ".join(data["features"]),
        "steps taken": f"{summary['n_steps']:,}",
        "computed on": summary["device"],
        **{name: str(value) for name, value in summary["parameters"].items()},
        **{f"{name}, chosen": str(value) for name, value in (summary["chosen"] or {}).items()},
        **{f"{name}, against the truth": f"{value:.4g}" for name, value in
           (summary["scores"] or {}).items()},
        "versions": ", ".join(f"{name} {version}" for name, version in summary["versions"].items()),
    }  # fmt: skip
    return [[name, value] for name, value in facts.items()]
