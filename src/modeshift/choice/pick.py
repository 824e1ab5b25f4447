"""The bandwidth of a profile that gives a wished number of clusters."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from modeshift.choice.curve import Curve, dust_limit

_GAP = 3.0  # a cluster is this many times as large as the largest stray


class Pick(NamedTuple):
    """A bandwidth of a profile, with all that a fit needs to repeat its clusters.

    Attributes
    ----------
    bandwidth : float
    n_neighbors : int or None
    smallest_cluster : float
        Weight below which a cluster is dust, in units of all the data.
    """

    bandwidth: float
    n_neighbors: int | None
    smallest_cluster: float


def pick_with(
    n_clusters: int, curves: Sequence[Curve], weights: np.ndarray, total: float
) -> Pick | None:
    """Return the bandwidth that gives a number of clusters; None if none does.

    It gives k clusters if k are beyond dust. Where no bandwidth does, it is enough that the k-th
    largest cluster is three times as large as the next one: in few data every outlier is larger
    than dust. Of several bandwidths the one whose clusters persist most, the first of equals.
    ``total`` is the weight of all the data, in units of the user.
    """
    places = _places(curves, lambda curve, i: curve.n_clusters[i] == n_clusters)
    if not places:
        places = _places(
            curves, lambda curve, i: _gap(curve.labels[i], weights, n_clusters) >= _GAP
        )
    if not places:
        return None
    curve, i = max(places, key=lambda place: place[0].persistence[place[1]])
    smallest = dust_limit(curve.labels[i], weights) * total / weights.sum()
    return Pick(float(curve.bandwidths[i]), curve.n_neighbors, smallest)


def numbers_near(n_clusters: int, curves: Sequence[Curve]) -> list[int]:
    """Return the numbers of clusters beyond dust nearest to a wished one, rising, at most eight."""
    known = {int(count) for curve in curves for count in curve.n_clusters}
    return sorted(sorted(known, key=lambda count: abs(count - n_clusters))[:8])


def _places(curves: Sequence[Curve], fits: Callable[[Curve, int], bool]) -> list[tuple[Curve, int]]:
    return [(curve, i) for curve in curves for i in range(len(curve.labels)) if fits(curve, i)]


def _gap(labels: np.ndarray, weights: np.ndarray, k: int) -> float:
    """Return how many times the k-th largest cluster is as large as the next one.

    It is 0 if there is no next one, or if the k-th is dust itself.
    """
    sizes = np.sort(np.bincount(labels, weights=weights))[::-1]
    if len(sizes) <= k or sizes[k - 1] < dust_limit(labels, weights):
        return 0.0
    return float(sizes[k - 1] / sizes[k])
