"""The content of the explorer, as plain values: text, numbers, and arrays in base64."""

from typing import Any

import numpy as np

from modeshift.engines.cpu.nearest import nearest_rows
from modeshift.estimators.mean_shift import MeanShift
from modeshift.plots import COLOURS
from modeshift.plots.axes import MOST_UNEQUAL
from modeshift.plots.fitted import as_drawn, chart_of_model
from modeshift.plots.maps import has_land, parallels_and_meridians
from modeshift.report.climb import Climb
from modeshift.report.explorer.levels import level_content, levels_of
from modeshift.report.explorer.packing import packed
from modeshift.report.explorer.view import View, make_map_view, make_view
from modeshift.report.fits import DescribedFit

MOST_POINTS = 200_000
_FEATURES_ON_HOVER = 8
_FEATURES_IN_TABLE = 12
_CLUSTERS_IN_TABLE = 200


def make_explorer(fit: DescribedFit, taken: str) -> dict[str, Any]:
    """Return the content of the explorer.

    Parameters
    ----------
    fit : DescribedFit
        Without a ``profile_`` of the model the bandwidth cannot be slid.
    taken : str
        What the button has done that takes a bandwidth; the line of code follows.
    """
    fitted, table, preparation, summary, climb = fit
    prepared = preparation.apply(table.points)
    clustered, chart = as_drawn(fitted, prepared), chart_of_model(fitted)
    if table.on_globe:
        view = make_map_view(clustered, chart.feature_scale)
    else:
        view = make_view(clustered, preparation)
    shown = _sample(len(clustered))
    n_left_out = len(clustered) - len(shown)
    names = table.columns[:_FEATURES_ON_HOVER]
    centers = fitted.cluster_centers_[:_CLUSTERS_IN_TABLE]
    content: dict[str, Any] = {
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
            "labels": packed(fitted.labels_[shown], np.int32),
            "places": packed(view.quantized(clustered[shown], shown), np.uint16),
            "values": packed(table.points[shown, : len(names)], np.float32),
            "rows": packed(table.rows[shown], np.int32),
            "ids": None if table.id is None else [str(table.id[int(i)]) for i in shown],
            "names": names,
            "more": len(table.columns) - len(names),
        },
        "climb": None,
        "clusters": _clusters(summary),
        "levels": None,
        "taken": taken,
    }
    if climb is not None and len(climb.sweeps) > 0:
        content["climb"] = _climb(view, climb, clustered, shown, fitted, summary["n_runs"])
    profile = getattr(fitted, "profile_", None)
    if profile is not None:
        levels, points = levels_of(fitted, profile), chart.points(prepared, "X")
        content["levels"] = level_content(fitted, levels, points, shown, summary)
    return content


def _map(view: View) -> dict[str, Any] | None:
    """Return land and lines of a map, in 65535ths of the axes; None for other pictures."""
    if view.on_map is None:
        return None
    low = np.array([axis.low for axis in view.axes])
    high = np.array([axis.high for axis in view.axes])
    ends = np.stack([low, high], axis=1)

    def packed_lines(lines: list[np.ndarray]) -> dict[str, Any]:
        points = np.concatenate(lines) if lines else np.empty((0, 2))
        shares = (points - low) / (high - low) * 65535
        stops = np.cumsum([len(line) for line in lines]).tolist()
        return {"points": packed(shares, np.float32), "stops": stops}

    around_pole = view.on_map.pole != 0
    lines = parallels_and_meridians(view.on_map, ends) if around_pole else []
    return {
        "land": packed_lines(view.on_map.land() if has_land(ends) else []),
        "lines": packed_lines([line for _, line in lines]),
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
        "points": packed(number_on_page[points], np.int32),
        "places": packed(places, np.uint16),
        "sweeps": sweeps,
        "moving": moving,
    }


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


def _note(view: View, n_shown: int, n_left_out: int, climb: Climb | None, n_runs: int) -> str:
    parts = [
        "Drag to move, scroll to zoom, double-click to see all. Hover to read a point, click to "
        "see its cluster."
    ]
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
    note = f"The centre is the mode of the cluster; {spread}."
    total = summary["data"]["points"]
    return {"features": heads, "rows": rows, "total": total, "rest": rest, "note": note}
