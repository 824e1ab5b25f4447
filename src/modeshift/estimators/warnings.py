"""Warnings about results that a user might take for more than they are."""

import warnings
from typing import Any

import numpy as np

from modeshift.choice.profile import BandwidthProfile
from modeshift.spec import Fit, Spec

_FACTOR = 100.0
"""Ratio of two spreads from which on the smaller one does not matter.

A feature with a hundredth of the spread adds a ten-thousandth to a squared distance.
"""


class NoClustersWarning(UserWarning):
    """The data show no clusters beyond chance."""


def warn_of_one_cluster(profile: BandwidthProfile) -> None:
    """Warn that no clusters were found beyond chance; name the best bandwidth with several.

    Without such a bandwidth, as where all points coincide, there is nothing to warn of.
    """
    curve = profile.chosen
    several = np.flatnonzero(curve.n_clusters > 1)
    if len(several) == 0:
        return
    best = several[np.argmax(curve.score[several])]
    near = "" if curve.n_neighbors is None else f", n_neighbors={curve.n_neighbors}"
    warnings.warn(
        f"The data show no clusters beyond chance (p = {profile.p_value:.2g}): all points are one "
        f"cluster. bandwidth={curve.bandwidths[best]:.4g}{near} gives {curve.n_clusters[best]} "
        "clusters; significance=None chooses a bandwidth without the test.",
        NoClustersWarning,
        stacklevel=5,
    )


def warn_of_no_clusters(fit: Fit, spec: Spec) -> None:
    """Say that every point is a stray."""
    if len(fit.centers) == 0:
        warnings.warn(
            f"All points are strays: no cluster has min_cluster_size={spec.min_cluster_size:g} "
            "points. Take a smaller min_cluster_size, or a larger bandwidth.",
            stacklevel=4,
        )


def warn_of_too_few(fit: Fit, spec: Spec, *, is_chosen: bool) -> None:
    """Warn that the fit has fewer clusters than were asked for."""
    found, wished = len(fit.centers), spec.n_clusters
    if wished is None or not 0 < found < wished:
        return
    if is_chosen:
        text = (
            f"The fit has {found} clusters instead of n_clusters={wished}. The chosen "
            f"bandwidth={spec.bandwidth:.4g} gave {wished} in a trial, on a sample or with another "
            "seed. Take another random_state, or give a smaller bandwidth."
        )
    else:
        text = (
            f"bandwidth={spec.bandwidth!r} gives fewer clusters than n_clusters={wished}, namely "
            f"{found}. Take a smaller bandwidth."
        )
    warnings.warn(text, stacklevel=4)


def warn_of_lost_clusters(consensus: Any, estimator: Any) -> None:
    """Warn that a vote has fewer clusters than each of its runs was asked for."""
    found, wished = len(consensus.cluster_centers_), getattr(estimator, "n_clusters", None)
    if wished is not None and 0 < found < wished:
        warnings.warn(
            f"The vote of {consensus.n_runs} runs has {found} clusters instead of "
            f"n_clusters={wished}: the runs disagree about the others. confidence_ shows where. "
            "Take more runs, or another random_state.",
            stacklevel=4,
        )


def warn_of_different_scales(points: np.ndarray, names: Any, spec: Spec) -> None:
    """Say which features are so much narrower than another one that they do not matter."""
    if spec.has_own_units or spec.feature_scale is not None or points.shape[1] == 1:
        return
    low, high = np.quantile(points, [0.1, 0.9], axis=0)
    spreads = high - low
    widest = int(np.argmax(spreads))
    narrow = np.flatnonzero((spreads > 0) & (spreads * _FACTOR < spreads[widest]))
    if len(narrow) == 0:
        return
    names = [f"column {i}" for i in range(points.shape[1])] if names is None else list(names)
    listed = ", ".join(names[i] for i in narrow[:5]) + (" and others" if len(narrow) > 5 else "")
    warnings.warn(
        f"Distances hardly depend on {listed}: the spread of {names[widest]} is more than "
        f"{_FACTOR:.0f} times larger. Standardise the features, or pass feature_scale, one length "
        "for each feature.",
        stacklevel=4,
    )
