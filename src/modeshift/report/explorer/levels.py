"""The bandwidths that a reader can slide through: those of the profile, and that of the fit.

Nothing is fitted for them. The profile has labels of a sample at each bandwidth, and every point
takes those of the nearest point of the sample.
"""

from typing import Any, NamedTuple

import numpy as np

from modeshift.choice.curve import dust_limit
from modeshift.choice.profile import BandwidthProfile
from modeshift.engines.cpu.nearest import nearest_rows
from modeshift.plots.style import short
from modeshift.report.explorer.packing import packed
from modeshift.report.repeat import model_code

_NONE = -1  # label of points in very small clusters


class Levels(NamedTuple):
    """The steps of the slider, from fine to coarse.

    Attributes
    ----------
    profile : BandwidthProfile
        Its ``chosen`` curve is the one that the fit belongs to.
    bandwidths : ndarray of shape (L,)
        Those of the curve, and that of the fit where the curve does not have it.
    fit : int
        The level of the fit.
    of_curve : ndarray of shape (H,)
        The level of each bandwidth of the curve.
    """

    profile: BandwidthProfile
    bandwidths: np.ndarray
    fit: int
    of_curve: np.ndarray

    def nearest_on_curve(self) -> np.ndarray:
        """Return for each level the bandwidth of the curve that is nearest, by its number."""
        steps = np.arange(len(self.bandwidths))
        return np.abs(steps[:, np.newaxis] - self.of_curve).argmin(axis=1)


def levels_of(fitted: Any, profile: BandwidthProfile) -> Levels:
    """Return the levels of a fit and a profile."""
    width = float(fitted.bandwidth_)
    if hasattr(fitted, "chosen_"):  # with n_clusters it may be of another curve than the best
        wanted = fitted.chosen_["n_neighbors"]
        alike = [curve for curve in profile.curves if curve.n_neighbors == wanted]
        profile = profile._replace(chosen=next(iter(alike), profile.chosen))
    on_curve = profile.chosen.bandwidths
    place = int(np.searchsorted(on_curve, width))
    for near in (place - 1, place):
        if 0 <= near < len(on_curve) and np.isclose(on_curve[near], width, rtol=1e-9, atol=0.0):
            return Levels(profile, on_curve, near, np.arange(len(on_curve)))
    steps = np.arange(len(on_curve))
    return Levels(profile, np.insert(on_curve, place, width), place, steps + (steps >= place))


def level_parameters(
    fitted: Any, levels: Levels, parameters: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return for each level the parameters that change the estimator of the fit to it.

    What the fit chose with the bandwidth has at each level the value that it would have chosen
    there. What the user had set stays.

    Parameters
    ----------
    fitted : estimator
    levels : Levels
    parameters : dict
        Parameters of the estimator before the fit.
    """
    profile, curve = levels.profile, levels.profile.chosen
    chosen = getattr(fitted, "chosen_", {})
    left_open = {name for name in ("n_neighbors", *chosen) if parameters.get(name) is None}
    found = []
    for level, number in enumerate(levels.nearest_on_curve()):
        smallest = dust_limit(curve.labels[number], profile.weights)
        values = {
            "n_neighbors": curve.n_neighbors,
            "min_cluster_size": smallest * profile.total / float(profile.weights.sum()),
            "strays": chosen.get("strays"),
        }
        values |= chosen if level == levels.fit else {}
        values = {name: value for name, value in values.items() if name in left_open}
        values["bandwidth"] = float(levels.bandwidths[level])
        if parameters.get("n_clusters") is not None:
            values["n_clusters"] = None
        found.append(values)
    return found


def level_content(
    fitted: Any,
    levels: Levels,
    points: np.ndarray,
    shown: np.ndarray,
    summary: dict[str, Any],
) -> dict[str, Any]:
    """Return the levels as plain values.

    Parameters
    ----------
    fitted : estimator
    levels : Levels
    points : ndarray of shape (n, d)
        All points, between which distances are Euclidean.
    shown : ndarray of shape (m,)
        Numbers of the points that are drawn.
    summary : dict
        Content of the JSON summary.
    """
    profile = levels.profile
    labels = np.stack([_without_dust(row, profile.weights) for row in profile.chosen.labels])
    return {
        "steps": _steps(fitted, levels, summary),
        "fit": levels.fit,
        "marked": _marked(levels),
        "labels": packed(labels, np.int16),
        "nearest": packed(nearest_rows(points[profile.rows], points[shown]), np.uint16),
        "sampled": len(profile.rows),
        "tree": _tree(fitted, levels, labels),
        "note": _note(profile, len(points)),
    }


def _steps(fitted: Any, levels: Levels, summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return name, number of clusters, scores and line of code of each level."""
    curve = levels.profile.chosen
    unit = " km" if summary["data"]["on_globe"] else ""
    highest = max(each.score.max() for each in levels.profile.curves) or 1.0
    row_of = {int(level): number for number, level in enumerate(levels.of_curve)}
    steps = []
    for level, values in enumerate(level_parameters(fitted, levels, summary["parameters"])):
        row = row_of.get(level)
        count = summary["n_clusters"] if level == levels.fit else int(curve.n_clusters[row])
        width = values["bandwidth"]
        name = f"h = {short(width)}{unit}"
        given = {"parameters": summary["parameters"] | values, "chosen": None}
        step = {
            "bandwidth": width if np.isfinite(width) else None,
            "name": name,
            "text": f"{name}, {count:,} cluster{'' if count == 1 else 's'}",
            "code": f"model = {model_code(summary | given)}",
            "row": row,
        }
        if row is not None:
            step |= {
                "score": float(curve.score[row] / highest),
                "apart": float(curve.quality[row]),
                "persistence": float(curve.persistence[row]),
                "small": float(curve.share_small[row]),
            }
        steps.append(step)
    return steps


def _without_dust(labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the labels without very small clusters. These are the last ones."""
    small = np.bincount(labels, weights=weights) < dust_limit(labels, weights)
    return np.where(small[labels], _NONE, labels)


def _marked(levels: Levels) -> list[int]:
    """Return the levels of the best bandwidth, of its alternatives and of the fit."""
    profile = levels.profile
    named = [profile.best_bandwidth, *profile.finer, *profile.coarser]
    found = np.flatnonzero(np.isin(levels.bandwidths, named))
    return sorted({levels.fit, *found.tolist()})


def _tree(fitted: Any, levels: Levels, labels: np.ndarray) -> dict[str, Any]:
    """Return the tree of clusters, and which of them each level cuts."""
    profile, tree = levels.profile, levels.profile.tree()

    def level_at(widths: np.ndarray) -> list[int]:
        return levels.of_curve[np.searchsorted(tree.bandwidths, widths)].tolist()

    cuts = []
    for level, number in enumerate(levels.nearest_on_curve()):
        seen = fitted.labels_[profile.rows] if level == levels.fit else labels[number]
        cuts.append(_cut(tree.members[number], seen))
    return {
        "parent": tree.parent.tolist(),
        "low": level_at(tree.low),
        "high": level_at(tree.high),
        "share": tree.share.tolist(),
        "place": tree.places().tolist(),
        "cuts": cuts,
    }


def _cut(members: np.ndarray, labels: np.ndarray) -> list[tuple[int, int]]:
    """Return the clusters of the tree at a level, each with the label of most of its points."""
    known = members >= 0
    return [
        (int(node), int(np.bincount(labels[known & (members == node)] + 1).argmax()) - 1)
        for node in np.unique(members[known])
    ]


def _note(profile: BandwidthProfile, n: int) -> str:
    sampled = len(np.unique(profile.rows))
    of = "all points" if sampled == n else f"a sample of {sampled:,} of the {n:,} points"
    rest = "" if sampled == n else "Each other point is drawn like the nearest of the sample. "
    then = ", so the choice is one cluster" if profile.one_cluster else ""
    return (
        "Good clusters are separated by valleys of density, and hardly change with the bandwidth. "
        "Data without clusters show as much evidence of clusters with chance "
        f"p = {profile.p_value:.2g}{then}. Bandwidths beside that of the fit were tried on {of}. "
        f"{rest}There, points of very small clusters (dust) are grey."
    )
