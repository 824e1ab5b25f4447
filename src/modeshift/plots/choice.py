"""Pictures of the choice of a bandwidth: the profile, and the tree of clusters."""

from typing import Any

import numpy as np

from modeshift.plots.style import COLOURS, new_figure, short


def bandwidth_profile(profile: Any, *, title: str = "") -> Any:
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

    Examples
    --------
    >>> from modeshift import MeanShift, datasets, plots
    >>> X, _ = datasets.make_paper_set(1, scale=0.3, random_state=0)
    >>> figure = plots.bandwidth_profile(MeanShift().fit(X).profile_)
    >>> len(figure.axes)
    3
    """
    figure = new_figure(8, 7.5)
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
    axes[1].set_ylabel("clusters of the\nsample beyond dust")
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
    best = f"h = {short(profile.best_bandwidth)}{near}, {profile.n_clusters} clusters of the sample"
    others = [h for h in (*profile.finer, *profile.coarser) if h != profile.best_bandwidth]
    dashed = ", ".join(f"h = {short(h)}: {counts[h]}" for h in others)
    rest = f"\ndashed: {dashed}" if others else ""
    p = f"p = {profile.p_value:.2g}"
    if profile.one_cluster:
        return f"one cluster, {p}; best rejected: {best}{rest}"
    return f"chosen: {best}, {p}{rest}"


def cluster_tree(profile: Any, *, title: str = "") -> Any:
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

    Examples
    --------
    >>> from modeshift import MeanShift, datasets, plots
    >>> X, _ = datasets.make_paper_set(1, scale=0.3, random_state=0)
    >>> figure = plots.cluster_tree(MeanShift().fit(X).profile_)
    >>> figure.axes[0].get_ylabel()
    'bandwidth'
    """
    figure = new_figure(8, 5.5)
    figure.suptitle(title, fontsize=13)
    ax = figure.subplots()
    tree = profile.tree()
    places = tree.places()
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
