"""Choose a bandwidth for an estimator: profile a sample, and make the Spec that follows."""

from dataclasses import replace
from typing import Any

import numpy as np

from modeshift.choice.profile import BandwidthProfile, profile_of
from modeshift.engines.cpu.engine import label
from modeshift.estimators.warnings import warn_of_one_cluster
from modeshift.spec import Climb, Sampled, Spec, Wander

_FINER = 4  # times the bandwidths, if none gives the wished number of clusters
_TOL_OF_TEST = {False: 1e-3, True: 0.01}  # in few and in many dimensions, as the limit was fitted
_TOL_OF_TRIALS, _BATCH_OF_TRIALS = 0.03, 24  # of trials with a number of neighbours


def chosen_spec(spec: Spec, profile: BandwidthProfile, engine: str) -> Spec:
    """Return the spec with the choice of the profile; dust does not count as clusters.

    Partitions cannot look for the nearest cluster of a stray, so strays are noise there.
    """
    if spec.n_clusters is not None:
        bandwidth, n_neighbors, smallest = profile.pick(spec.n_clusters)
    else:
        bandwidth, n_neighbors = profile.bandwidth, profile.n_neighbors
        smallest = profile.smallest_cluster
        if profile.one_cluster:
            warn_of_one_cluster(profile)
    spec = spec.with_bandwidth(bandwidth, n_neighbors or spec.n_neighbors)
    return spec.with_small_clusters(smallest, "noise" if engine == "rounds" else "nearest")


def profile_for(spec: Spec, sampled: Sampled, **settings: Any) -> BandwidthProfile:
    """Choose a bandwidth for a Spec on some points; return the profile.

    If no bandwidth gives the wished number of clusters, four times as many bandwidths are tried.
    """
    profile = _profile_for(spec, sampled, **settings)
    if spec.n_clusters is None or profile.gives(spec.n_clusters):
        return profile
    n_bandwidths = _FINER * len(profile.chosen.bandwidths)
    return _profile_for(spec, sampled, **(settings | {"n_bandwidths": n_bandwidths}))


def _profile_for(spec: Spec, sampled: Sampled, **settings: Any) -> BandwidthProfile:
    flat = replace(spec, schedule=Climb(), kernel="flat")

    def label_at(points: np.ndarray, weights: np.ndarray, bandwidth: float, k: Any) -> np.ndarray:
        trial = spec.for_trial(bandwidth, k)
        return label(trial if k is None else _in_haste(trial, len(points)), points, weights)

    def label_plainly(
        points: np.ndarray, weights: np.ndarray, radius: float, many: bool
    ) -> np.ndarray:
        bandwidth = flat.bandwidth_for(radius, 0.0, points.shape[1])
        trial = replace(flat.for_trial(bandwidth, None), tol=_TOL_OF_TEST[many])
        return label(trial, points, weights)

    return profile_of(
        label_at,
        label_plainly,
        spec.bandwidth_for,
        sampled,
        is_plain=isinstance(spec.schedule, Climb) and spec.kernel == "flat",
        n_neighbors=spec.n_neighbors,
        metric=spec.metric,
        **settings,
    )


def _in_haste(trial: Spec, n_points: int) -> Spec:
    """Return a trial that takes two thirds of the time, for many dimensions.

    Climbs end at 3% of the bandwidth, and of the stochastic schedule a 24th of the points (64 of
    1,500) moves at once.
    """
    schedule = trial.schedule
    if isinstance(schedule, Wander) and schedule.batch_size is None:
        schedule = replace(schedule, batch_size=max(1, n_points // _BATCH_OF_TRIALS))
    return replace(trial, schedule=schedule, tol=max(trial.tol, _TOL_OF_TRIALS))
