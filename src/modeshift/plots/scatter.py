"""The clusters of a fitted model as a scatter plot, for data of any dimension and any number."""

from typing import Any

import numpy as np

from modeshift.plots.axes import Axis, chosen_axes, looks_equal, map_axes
from modeshift.plots.fitted import Clustered, clustered
from modeshift.plots.land import draw_map
from modeshift.plots.style import COLOURS, GREY, MARKERS, marker_size, new_figure

_MOST_POINTS = 20_000
_CLUSTERS_IN_LEGEND = 10
_STYLES = len(COLOURS) * len(MARKERS)
# No cluster looks like this: a black ring. A point in its middle stays visible.
_LOOK_OF_CENTERS = {
    "marker": "o",
    "facecolors": "none",
    "edgecolors": "black",
    "linewidths": 1.2,
    "zorder": 3,
}


def clusters(model: Any, X: Any, *, axes: Any = None, title: str = "") -> Any:
    """Draw the clusters of a fitted model.

    Points without a cluster (label -1) are grey, and rings mark the centres. The legend
    lists the ten largest clusters. Of more than 20,000 points a random sample is drawn; the numbers
    in the legend count all points. With ``metric="haversine"`` the picture is a map.

    Parameters
    ----------
    model : fitted clusterer
        With ``labels_`` and, for the circles, ``cluster_centers_``.
    X : array-like of shape (n, d)
        The points of the fit. With one feature the height of a point has no meaning.
    axes : pair of names or indices of features, default=None
        The features to draw. None: both features in 2-D (of places a map), the two principal axes
        above.
    title : str
        Title above the picture. The default is the number of clusters.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from modeshift import MeanShift, datasets, plots
    >>> X, _ = datasets.make_paper_set(3, random_state=0)
    >>> figure = plots.clusters(MeanShift(bandwidth=0.9).fit(X), X)
    """
    data = clustered(model, X)
    is_map = data.chart.metric == "haversine" and axes is None
    drawn_axes: Any
    if is_map:
        drawn_axes, remark = map_axes(data.points, data.chart.feature_scale), ""
    else:
        drawn_axes, remark = chosen_axes(data.points, data.names, axes)
    shown = _sample(len(data.points))
    figure = new_figure(8, 5.5)
    ax = figure.subplots()
    places = _places(drawn_axes, data.points)
    _draw_points(ax, places[shown], data.labels[shown])
    _draw_centers(ax, drawn_axes, data.centers)
    _name_axes(ax, drawn_axes)
    if is_map:
        draw_map(ax, drawn_axes, data.points)
    elif len(drawn_axes) == 2 and looks_equal(*np.ptp(places, axis=0)):
        ax.set_aspect("equal", adjustable="datalim")  # distances look as they were measured
    n_shown = len(shown)
    if n_shown < len(data.points):
        remark += f"{'; ' if remark else ''}{n_shown:,} of {len(data.points):,} points drawn"
    ax.set_title(title or _count(data), loc="left")
    if remark:
        ax.set_title(remark, loc="right", fontsize=9, color="0.4")
    _add_legend(figure, data)
    return figure


def _sample(n: int) -> np.ndarray:
    """Return the numbers of the points to draw."""
    if n <= _MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.RandomState(0).choice(n, _MOST_POINTS, replace=False))


def _places(axes: list[Axis], points: np.ndarray) -> np.ndarray:
    """Return the places of points. Points with one feature get different heights."""
    places = [axis.place(points) for axis in axes]
    if len(places) == 1:
        places.append(np.random.RandomState(0).uniform(-1, 1, len(points)))
    return np.column_stack(places)


def _draw_points(ax: Any, places: np.ndarray, labels: np.ndarray) -> None:
    """Scatter the points by look; noise and large clusters first, so that small ones are seen."""
    styles = np.where(labels < 0, -1, labels % _STYLES)
    for style in np.unique(styles):
        inside = places[styles == style]
        drawn = ax.scatter(inside[:, 0], inside[:, 1], s=marker_size(places), **_look(int(style)))
        drawn.set_snap(False)  # small plus signs and crosses would be rounded to nothing


def _look(label: int) -> dict[str, Any]:
    """Return colour and marker of a cluster: 8 times 8 looks, then they repeat."""
    if label < 0:
        return {"color": GREY, "marker": "o", "linewidths": 0, "zorder": 1}
    colour, turn = label % len(COLOURS), label // len(COLOURS)
    marker = MARKERS[(colour + turn) % len(MARKERS)]
    return {"color": COLOURS[colour], "marker": marker, "linewidths": 0, "zorder": 2}


def _draw_centers(ax: Any, axes: list[Axis], centers: np.ndarray) -> None:
    if len(centers):
        places = [axis.place(centers) for axis in axes]
        heights = places[1] if len(places) == 2 else np.zeros(len(centers))
        size = float(np.clip(1000 / len(centers), 4, 60))
        ax.scatter(places[0], heights, s=size, **_LOOK_OF_CENTERS)


def _name_axes(ax: Any, axes: list[Axis]) -> None:
    ax.set_xlabel(axes[0].name)
    if len(axes) == 2:
        ax.set_ylabel(axes[1].name)
    else:
        ax.set_yticks([])
        ax.set_ylim(-1.3, 1.3)
    ax.spines[["top", "right"]].set_visible(False)


def _count(data: Clustered) -> str:
    n_clusters = int(data.labels.max(initial=-1)) + 1
    return f"{n_clusters:,} cluster{'s' * (n_clusters != 1)} of {len(data.labels):,} points"


def _add_legend(figure: Any, data: Clustered) -> None:
    """List the largest clusters, the rest, and the points in none, with their numbers of points."""
    ax = figure.axes[0]
    sizes = np.bincount(data.labels[data.labels >= 0])
    handles = [
        ax.scatter([], [], s=40, label=f"{label}: {size:,}", **_look(label))
        for label, size in enumerate(sizes[:_CLUSTERS_IN_LEGEND])
    ]
    rest = sizes[_CLUSTERS_IN_LEGEND:]
    if len(rest):
        text = f"{len(rest):,} more: {rest.sum():,}"
        handles.append(ax.scatter([], [], alpha=0, label=text))
    n_noise = len(data.labels) - sizes.sum()
    if n_noise:
        handles.append(ax.scatter([], [], s=40, label=f"none: {n_noise:,}", **_look(-1)))
    if len(data.centers):
        handles.append(ax.scatter([], [], s=60, label="centre", **_LOOK_OF_CENTERS))
    place = {"loc": "outside right upper", "frameon": False}
    figure.legend(handles=handles, title="cluster: points", **place)
