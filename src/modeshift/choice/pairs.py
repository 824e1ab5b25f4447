"""Pairs of places by their distance: what every factor of the score counts."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import kernel

_SLOTS = 4096  # of a table from distances to radii


class Pairs(NamedTuple):
    """Pairs of places, in the order of the first radius that reaches them.

    Attributes
    ----------
    first, second : ndarray of shape (p,)
    radii : ndarray of shape (R,)
        Rising.
    within : ndarray of shape (R,)
        Number of pairs within each radius.
    """

    first: np.ndarray
    second: np.ndarray
    radii: np.ndarray
    within: np.ndarray

    def number_within(self, radius: float) -> int:
        """Return the number of pairs within one of the radii."""
        return int(self.within[np.searchsorted(self.radii, radius)])


def order_pairs(distances: np.ndarray, radii: np.ndarray) -> Pairs:
    """Sort the pairs of places by the first of the rising radii that reaches them."""
    slots = np.searchsorted(radii, np.arange(_SLOTS) * (radii[-1] / _SLOTS))
    bins = np.empty(len(distances) * (len(distances) - 1) // 2, dtype=np.uint16)
    within = np.cumsum(_count_pairs(distances, radii, slots, bins))
    first = np.empty(within[-1], dtype=np.int32)
    second = np.empty(within[-1], dtype=np.int32)
    _place_pairs(len(distances), bins, np.r_[0, within[:-1]], first, second)
    return Pairs(first, second, radii, within)


@kernel
def _count_pairs(distances, radii, slots, bins):
    """Find the radius of each pair, by a table and a short walk, and count."""
    counts = np.zeros(len(radii), np.int64)
    last = radii[-1]
    n_slots = len(slots)
    scale = n_slots / last
    p = 0
    for i in range(len(distances)):
        for j in range(i):
            distance = distances[i, j]
            k = len(radii)
            if distance <= last:
                k = slots[max(0, min(int(distance * scale), n_slots) - 1)]
                while radii[k] < distance:
                    k += 1
                counts[k] += 1
            bins[p] = k
            p += 1
    return counts


@kernel
def _place_pairs(n, bins, starts, first, second):
    free = starts.copy()
    n_radii = len(starts)
    p = 0
    for i in range(n):
        for j in range(i):
            k = bins[p]
            p += 1
            if k < n_radii:
                first[free[k]], second[free[k]] = i, j
                free[k] += 1


def nearest_pairs(pairs: Pairs, distances: np.ndarray, n_neighbors: int) -> Pairs:
    """Return the pairs of which one place is among the ``n_neighbors`` nearest of the other."""
    k = min(n_neighbors, len(distances) - 1)
    reach = np.partition(distances, k, axis=1)[:, k]
    longer = np.maximum(reach[pairs.first], reach[pairs.second])
    near = distances[pairs.first, pairs.second] <= longer
    within = np.r_[0, np.cumsum(near)][pairs.within]
    return Pairs(pairs.first[near], pairs.second[near], pairs.radii, within)


@kernel
def add_counts(first, second, start, stop, weights, counts):
    """Add to each place the weight of its partners in the pairs from ``start`` to ``stop``."""
    for p in range(start, stop):
        counts[first[p]] += weights[second[p]]
        counts[second[p]] += weights[first[p]]


@kernel
def kept_share(first, second, n_pairs, labels, weights):
    """Share of the pairs of observations, among the first ones, that are in one cluster.

    Observations of the same place are a pair too. 1 without pairs.
    """
    same = 0.0
    for i in range(len(weights)):
        same += 0.5 * weights[i] * max(weights[i] - 1.0, 0.0)
    all_pairs = same
    for p in range(n_pairs):
        i, j = first[p], second[p]
        count = weights[i] * weights[j]
        all_pairs += count
        if labels[i] == labels[j]:
            same += count
    return same / all_pairs if all_pairs > 0.0 else 1.0
