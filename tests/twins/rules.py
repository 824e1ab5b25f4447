"""The slow, obvious twin of a neighbourhood: who counts near a place, how much, and how far is far.

A rule says how the mean near x is taken. Its lengths are Euclidean distances, chords of the unit
sphere where `sphere` is set, and sqrt(sum_l w_l (p_l - x_l)^2) where `feature_weights` w are given.
"""

import math
from collections import namedtuple

import numpy as np

TRUNCATION = 6.0  # a Gaussian ends at this many bandwidths

Rule = namedtuple("Rule", "kernel n_neighbors sphere feature_weights")
PLAIN = Rule(kernel="flat", n_neighbors=None, sphere=False, feature_weights=None)


def squared_distances(points, x, rule):
    """Squared distance of x from each point."""
    squares = (points - x) ** 2
    if rule.feature_weights is not None:
        squares = squares * rule.feature_weights
    return np.sum(squares, axis=1)


def length(v, rule):
    return math.sqrt(squared_distances(v[np.newaxis], 0.0, rule)[0])


def radius(bandwidth, rule):
    """The bandwidth as a length.

    On the sphere |p - q|^2 = 2 (1 - cos): the flat ball 1 - cos <= b has the chord sqrt(2 b), and
    exp(-(1 - cos) / b) is the Gaussian of the chord sqrt(b).
    """
    if not rule.sphere:
        return bandwidth
    return math.sqrt(bandwidth if rule.kernel == "gaussian" else 2 * bandwidth)


def pulls(points, weights, x, h, rule):
    """Weight of each point in the mean near x.

    Flat: w_i within h of x, border included. Gaussian: w_i exp(-d_i^2 / (2 h^2)) within 6 h. With
    n_neighbors = k the nearest count, ties to the lower index, until their w_i add up to k; the
    last one counts with the part that is needed.
    """
    squares = squared_distances(points, x, rule)
    reach = TRUNCATION * h if rule.kernel == "gaussian" else h
    result = np.where(squares <= reach * reach, weights, 0.0)
    if rule.n_neighbors is not None:
        wanted = rule.n_neighbors
        for i in np.argsort(squares, kind="stable"):
            result[i] = min(result[i], wanted)
            wanted -= result[i]
    if rule.kernel == "gaussian":
        result = result * np.exp(-squares / (2 * h * h))
    return result


def on_sphere(X):
    """Rows of length 1. The first division keeps squares from overflow."""
    X = X / np.max(np.abs(X), axis=1, keepdims=True)
    return X / np.sqrt(np.sum(X**2, axis=1, keepdims=True))


def put_back(mean, x):
    """The mean, put back on the sphere; x itself where the mean has no direction."""
    size = math.sqrt(np.sum(mean**2))
    return x.copy() if size < 1e-12 else mean / size


def scale_of_nearest(X, k, rule=PLAIN, times=1):
    """Median over the points of the distance to their k-th nearest one, themselves included.

    Each point counts as many times as `times` says.
    """
    X = np.repeat(on_sphere(X) if rule.sphere else X, times, axis=0)
    kth = [np.sort(squared_distances(X, x, rule))[min(k, len(X)) - 1] for x in X]
    return float(np.median(np.sqrt(kth)))


def learned_weights(start, now, weights, temperature):
    """w_l = exp(-D_l / lam) / sum exp(-D_l' / lam), D_l = mean of (x_il(now) - x_il(start))^2."""
    displacement = weights @ (now - start) ** 2 / np.sum(weights)
    w = np.exp(-(displacement - displacement.min()) / temperature)
    return w / np.sum(w)


def entropy(updates):
    """Entropy of the histogram of update lengths over [0, max] with 0.9 n bins."""
    n = len(updates)
    n_bins = max(1, int(0.9 * n))
    counts = [0] * n_bins
    for update in updates:
        share = update / max(updates) if max(updates) > 0 else 0.0
        counts[min(int(share * n_bins), n_bins - 1)] += 1
    return -sum(count / n * math.log(count / n) for count in counts if count > 0)
