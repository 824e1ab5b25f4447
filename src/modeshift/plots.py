"""Pictures of data, paths, modes and clusters. Needs the extra ``modeshift[plots]``."""

from typing import Any

import numpy as np

from modeshift.io.optional import require

# Okabe & Ito's colours: distinct for any colour vision, and by lightness in greyscale.
# Each colour has its own marker.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000", "#f0e442"]
_MARKERS = ["o", "^", "s", "D", "v", "P", "X", "*"]
_GREY = "0.55"


def paper_panels(
    X: np.ndarray, y: np.ndarray, deterministic: Any, stochastic: Any, *, title: str = ""
) -> Any:
    """Draw the paper's eight panels for one set, over its first two features.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points, d >= 2.
    y : ndarray of shape (n,)
        True class of each point.
    deterministic, stochastic : fitted estimators
        Both fitted with ``record=True``, and without ``seeding``.
    title : str
        Title above the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = require("matplotlib.figure", "plots").Figure(figsize=(16, 8.2), layout="constrained")
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    figure.suptitle(title, fontsize=14)
    _draw_groups(axes[0, 0], X, np.unique(y, return_inverse=True)[1])
    axes[0, 0].set_title("True classes")
    axes[1, 0].scatter(X[:, 0], X[:, 1], s=_size(X), color=_GREY, linewidths=0)
    axes[1, 0].set_title("Data")
    for row, (name, fitted) in zip(
        axes, [("deterministic", deterministic), ("stochastic", stochastic)], strict=True
    ):
        _draw_column(row[1:], name, X, y, fitted)
    for ax in axes[-1]:
        ax.set_xlabel("$x_1$")
    for ax in axes[:, 0]:
        ax.set_ylabel("$x_2$")
    for ax in axes.flat:
        ax.set_aspect("equal")
    return figure


def _draw_column(axes: Any, name: str, X: np.ndarray, y: np.ndarray, fitted: Any) -> None:
    """Draw paths, modes and clusters of one algorithm, from left to right."""
    draw_paths(axes[0], fitted.paths_)
    axes[0].set_title(f"Paths, {name}")
    axes[1].scatter(X[:, 0], X[:, 1], s=_size(X), color="0.85", linewidths=0)
    axes[1].scatter(fitted.modes_[:, 0], fitted.modes_[:, 1], s=14, color="#d55e00", marker="x")
    axes[1].set_title(f"Modes, {name}")
    draw_clusters(axes[2], X, y, fitted.labels_)
    axes[2].set_title(f"Clusters, {name}: {len(fitted.cluster_centers_)}")


def draw_clusters(ax: Any, X: np.ndarray, y: np.ndarray, labels: np.ndarray) -> None:
    """Scatter the clusters. Each looks like its most common class."""
    _draw_groups(ax, X, _groups_like_classes(labels, y))


def draw_bandwidth_profile(profile: Any, *, title: str = "") -> Any:
    """Draw a bandwidth profile: score, number of clusters and share of strays over h.

    A line through all panels marks the chosen bandwidth; dashed lines mark finer and coarser ones.

    Parameters
    ----------
    profile : BandwidthProfile
        Result of :func:`modeshift.bandwidth_profile`.
    title : str
        Title above the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = require("matplotlib.figure", "plots").Figure(figsize=(8, 7.5), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 2))
    figure.suptitle(title, fontsize=13)
    curve = profile.chosen
    h, highest = curve.bandwidths, max(curve.score.max() for curve in profile.curves) or 1.0
    for other in profile.curves:
        if other is not curve:
            axes[0].plot(other.bandwidths, other.score / highest, color="0.8", linewidth=1)
    axes[0].plot(h, curve.quality, color=COLOURS[4], linewidth=1, label="set apart")
    axes[0].plot(h, curve.persistence, color=COLOURS[1], linewidth=1, label="persistence")
    axes[0].plot(h, curve.score / highest, color=COLOURS[0], linewidth=2.5, label="score / highest")
    axes[0].set_ylim(0, 1.25)  # room for the legend
    axes[0].set_yticks(np.linspace(0, 1, 6))
    axes[0].set_ylabel("from 0 to 1")
    axes[0].legend(loc="upper left", frameon=False, ncols=3)
    axes[1].step(h, curve.n_clusters, where="mid", color=COLOURS[0])
    axes[1].set_yscale("log")
    axes[1].set_ylabel("clusters beyond dust")
    axes[2].plot(h, curve.share_small, color=COLOURS[5])
    axes[2].set_ylim(0, 1.05)
    axes[2].set_ylabel("share of points\nthat are dust")
    axes[2].set_xlabel("bandwidth")
    axes[2].set_xscale("log")
    for ax in axes:
        for other in (*profile.finer, *profile.coarser):
            if other != profile.best_bandwidth:
                ax.axvline(other, color="0.4", linewidth=1, linestyle="--")
        ax.axvline(profile.best_bandwidth, color="0.2", linewidth=1.5)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_title(_name_choice(profile), fontsize=11, loc="left")
    return figure


def _name_choice(profile: Any) -> str:
    curve = profile.chosen
    counts = dict(zip(curve.bandwidths.tolist(), curve.n_clusters.tolist(), strict=True))
    near = "" if curve.n_neighbors is None else f", n_neighbors = {curve.n_neighbors}"
    best = f"h = {profile.best_bandwidth:.3g}{near}, {profile.n_clusters} clusters"
    others = [h for h in (*profile.finer, *profile.coarser) if h != profile.best_bandwidth]
    dashed = ", ".join(f"h = {h:.3g}: {counts[h]}" for h in others)
    rest = f" (dashed: {dashed})" if others else ""
    p = f"p = {profile.p_value:.2g}"
    if profile.one_cluster:
        return f"one cluster, {p}; best rejected: {best}{rest}"
    return f"chosen: {best}, {p}{rest}"


def draw_cluster_tree(profile: Any, *, title: str = "") -> Any:
    """Draw the tree of clusters over the bandwidth: a dendrogram over log h.

    Each cluster is a vertical line over the bandwidths at which it lives, as thick as its share of
    the points. Where it splits, a horizontal line joins its children. The dashed line is the best
    bandwidth.

    Parameters
    ----------
    profile : BandwidthProfile
    title : str
        Stands above the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = require("matplotlib.figure", "plots").Figure(figsize=(8, 5.5), layout="constrained")
    figure.suptitle(title, fontsize=13)
    ax = figure.subplots()
    tree = profile.tree()
    places = _places_in_tree(tree)
    half_step = (
        np.sqrt(tree.bandwidths[1] / tree.bandwidths[0]) if len(tree.bandwidths) > 1 else 1.1
    )
    for cluster, x in enumerate(places):
        children = tree.children(cluster)
        # A line goes on to its children; a leaf, which may live at one bandwidth only, half a step.
        low = max((tree.high[child] for child in children), default=tree.low[cluster] / half_step)
        width = 1.0 + 5.0 * tree.share[cluster]
        colour = COLOURS[cluster % len(COLOURS)]
        ax.plot([x, x], [low, tree.high[cluster]], color=colour, linewidth=width)
        if children:
            ends = [places[child] for child in children]
            ax.plot([min(*ends, x), max(*ends, x)], [low, low], color="0.5", linewidth=1)
    ax.axhline(profile.best_bandwidth, color="0.2", linewidth=1, linestyle="--")
    ax.set_yscale("log")
    ax.set_ylabel("bandwidth")
    ax.set_xticks([])
    ax.set_xlabel("clusters")
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    return figure


def _places_in_tree(tree: Any) -> np.ndarray:
    """Return the place of each cluster from left to right: its children's mean, leaves in a row."""
    places = np.zeros(len(tree.parent))
    leaves = 0
    order = list(reversed(tree.children(-1)))
    visited = []
    while order:
        cluster = order.pop()
        visited.append(cluster)
        children = tree.children(cluster)
        order.extend(reversed(children))
        if not children:
            places[cluster] = leaves
            leaves += 1
    for cluster in reversed(visited):  # children come after their parent
        children = tree.children(cluster)
        if children:
            places[cluster] = np.mean(places[children])
    return places


def draw_paths(ax: Any, paths: list[np.ndarray]) -> None:
    """Draw each path as a line, with a dot at its start."""
    collections = require("matplotlib.collections", "plots")
    opacity = float(np.clip(60 / len(paths), 0.06, 0.6))
    lines = [path[:, :2] for path in paths]
    ax.add_collection(
        collections.LineCollection(lines, colors="#0072b2", linewidths=0.6, alpha=opacity)
    )
    starts = np.array([path[0, :2] for path in paths])
    ax.scatter(starts[:, 0], starts[:, 1], s=_size(starts) / 2, color="0.3", linewidths=0)


def _draw_groups(ax: Any, X: np.ndarray, groups: np.ndarray) -> None:
    """Scatter groups by colour and marker; -1 is grey, small groups have large markers."""
    for group in np.unique(groups):
        inside = X[groups == group]
        stray = group < 0
        ax.scatter(
            inside[:, 0],
            inside[:, 1],
            s=_size(X) if len(inside) > 20 else 26,
            color=_GREY if stray else COLOURS[group % len(COLOURS)],
            marker="." if stray else _MARKERS[group % len(_MARKERS)],
            linewidths=0,
        )


def _groups_like_classes(labels: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a group for each point, so that the largest cluster of a class looks like the class.

    Other clusters get further colours, while there are any; the smallest ones are -1.
    """
    _, classes = np.unique(y, return_inverse=True)
    n_classes = classes.max() + 1
    groups = np.full(labels.max() + 1, -1)
    spare = iter(range(n_classes, len(COLOURS)))
    for cluster in range(len(groups)):  # by falling size
        commonest = np.bincount(classes[labels == cluster]).argmax()
        groups[cluster] = commonest if commonest not in groups else next(spare, -1)
    return np.where(labels >= 0, groups[labels], -1)


def _size(X: np.ndarray) -> float:
    """Return a marker area that keeps dense sets legible."""
    return float(np.clip(4000 / len(X), 3, 26))
