"""How deep the valleys of density between clusters are."""

import numpy as np

from modeshift.choice.pairs import Pairs
from modeshift.engines.cpu.jit import kernel

CORE = 0.25
"""Share of the neighbours within the radius at which density is counted.

Within the whole radius valleys are filled: half of it loses 0.03 of the adjusted Rand index for
``MeanShift``. A ninth of the neighbours has too few points: 0.02 to 0.05.
"""
_ERRORS = 1.5  # standard errors that chance is given; with 1.0 the index is 0.01 less


def beyond_chance(count: np.ndarray | float) -> np.ndarray | float:
    """Take one point and 1.5 standard errors off a count; never below 0."""
    return np.maximum(0.0, count - 1.0 - _ERRORS * np.sqrt(count))


def valley_depth(
    labels: np.ndarray, shares: np.ndarray, counts: np.ndarray, pairs: Pairs, n_core: int
) -> float:
    """Return the chance that two points are in different clusters, times the depth between them.

    N(x) is the number of points within the core radius of x. The peak of a cluster is its largest
    N. Its pass is the largest, over the pairs of points within the core radius of which one is in
    the cluster and one is not, of the lesser N of the two. With p_i the share of cluster i::

        x_i = max(0, (peak - pass - 1 - 1.5 sqrt(peak + pass)) / peak)
        depth = sum_i p_i (1 - p_i / q) x_i,    q = sum of p_i over clusters with x_i > 0.

    The 1 is taken off because a peak is chosen for its points. peak + pass is the variance of
    peak - pass. A pass follows the points instead of a straight line, so clusters may have any
    shape. One cluster, or one giant and strays, gives 0.

    Parameters
    ----------
    labels : ndarray of shape (m,)
    shares : ndarray of shape (k,)
        Of the weight in each cluster.
    counts : ndarray of shape (m,)
        N at each point.
    pairs : Pairs
    n_core : int
        Number of pairs within the core radius.
    """
    peaks, passes = np.zeros(len(shares)), np.zeros(len(shares))
    np.maximum.at(peaks, labels, counts)
    _find_passes(pairs.first, pairs.second, n_core, labels, counts, passes)
    chance = 1.0 + _ERRORS * np.sqrt(peaks + passes)
    depths = np.maximum(0.0, (peaks - passes - chance) / peaks)
    return different_and_apart(shares, depths)


def different_and_apart(shares: np.ndarray, apart: np.ndarray) -> float:
    """Return the chance that two points are in different clusters, times how far set apart.

    ``sum_i p_i (1 - p_i / q) x_i`` with q the sum of p_i over clusters with x_i > 0.
    """
    share_apart = shares[apart > 0].sum()
    if share_apart == 0.0:
        return 0.0
    return float((shares * (1.0 - shares / share_apart) * apart).sum())


@kernel
def _find_passes(first, second, n_pairs, labels, counts, passes):
    for p in range(n_pairs):
        a, b = labels[first[p]], labels[second[p]]
        if a != b:
            height = min(counts[first[p]], counts[second[p]])
            passes[a] = max(passes[a], height)
            passes[b] = max(passes[b], height)
