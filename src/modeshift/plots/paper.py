"""The paper's panels: classes, paths, modes and clusters of two algorithms side by side."""

from typing import Any

import numpy as np

from modeshift.io.optional import require
from modeshift.plots.style import COLOURS, GREY, MARKERS, marker_size, new_figure


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

    Examples
    --------
    >>> from modeshift import MeanShift, StochasticMeanShift, datasets, plots
    >>> X, y = datasets.make_paper_set(3, random_state=0)
    >>> deterministic = MeanShift(bandwidth=0.9, record=True).fit(X)
    >>> stochastic = StochasticMeanShift(bandwidth=0.9, record=True, random_state=0).fit(X)
    >>> figure = plots.paper_panels(X, y, deterministic, stochastic)
    >>> len(figure.axes)
    8
    """
    figure = new_figure(16, 8.2)
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    figure.suptitle(title, fontsize=14)
    _draw_groups(axes[0, 0], X, np.unique(y, return_inverse=True)[1])
    axes[0, 0].set_title("True classes")
    axes[1, 0].scatter(X[:, 0], X[:, 1], s=marker_size(X), color=GREY, linewidths=0)
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
    axes[1].scatter(X[:, 0], X[:, 1], s=marker_size(X), color="0.85", linewidths=0)
    axes[1].scatter(fitted.modes_[:, 0], fitted.modes_[:, 1], s=14, color="#d55e00", marker="x")
    axes[1].set_title(f"Modes, {name}")
    draw_clusters(axes[2], X, y, fitted.labels_)
    axes[2].set_title(f"Clusters, {name}: {len(fitted.cluster_centers_)}")


def draw_clusters(ax: Any, X: np.ndarray, y: np.ndarray, labels: np.ndarray) -> None:
    """Scatter the clusters. Each looks like its most common class.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from modeshift import MeanShift, datasets, plots
    >>> X, y = datasets.make_paper_set(3, random_state=0)
    >>> ax = Figure().subplots()
    >>> plots.draw_clusters(ax, X, y, MeanShift(bandwidth=0.9).fit_predict(X))
    """
    _draw_groups(ax, X, _groups_like_classes(labels, y))


def draw_paths(ax: Any, paths: list[np.ndarray]) -> None:
    """Draw each path as a line, with a dot at its start.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from modeshift import MeanShift, datasets, plots
    >>> X, _ = datasets.make_paper_set(3, random_state=0)
    >>> ax = Figure().subplots()
    >>> plots.draw_paths(ax, MeanShift(bandwidth=0.9, record=True).fit(X).paths_)
    """
    collections = require("matplotlib.collections", "plots")
    opacity = float(np.clip(60 / len(paths), 0.06, 0.6))
    lines = [path[:, :2] for path in paths]
    ax.add_collection(
        collections.LineCollection(lines, colors="#0072b2", linewidths=0.6, alpha=opacity)
    )
    starts = np.array([path[0, :2] for path in paths])
    ax.scatter(starts[:, 0], starts[:, 1], s=marker_size(starts) / 2, color="0.3", linewidths=0)


def _draw_groups(ax: Any, X: np.ndarray, groups: np.ndarray) -> None:
    """Scatter groups by colour and marker; -1 is grey, small groups have large markers."""
    for group in np.unique(groups):
        inside = X[groups == group]
        stray = group < 0
        ax.scatter(
            inside[:, 0],
            inside[:, 1],
            s=marker_size(X) if len(inside) > 20 else 26,
            color=GREY if stray else COLOURS[group % len(COLOURS)],
            marker="." if stray else MARKERS[group % len(MARKERS)],
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
