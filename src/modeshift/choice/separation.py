"""How well set apart clusters are: a valley of density between them, and distance.

A cluster is judged against its rivals, the clusters with at least a fifth of its points: a stray
beside it says nothing. Between the centres of two clusters the points within a common radius are
counted along the straight line (on the sphere along the arc). If the lowest count falls short of
the lower end by more than chance makes likely, there is a valley, and its relative depth counts.
"""

from math import log2, sqrt

import numpy as np
from scipy.sparse import csr_array

from modeshift.choice.sample import MANY_DIMENSIONS, Sample
from modeshift.engines.cpu.jit import fast_sums, kernel

_RIVAL = 0.2  # of the points of a cluster that another one must have to be compared
_CORE = 0.25  # of the points of a cluster lie within its radius: its core, not its rim
_FEWEST = 8  # points within the radius, if the cluster has them: enough to count
_RIVALS = 8  # nearest rivals that are looked at: as many as surround a cell of a grid in the plane
_STEPS = 9  # places between two centres where points are counted


def quality(
    sample: Sample, labels: np.ndarray, dimension: float = 0.0, on_sphere: bool = False
) -> float:
    """Chance that two points belong to different set-apart clusters, times how far set apart.

    With p_i the share of points of cluster i and x_i in [0, 1] how well it is set apart (the
    geometric mean of the depth of its shallowest valley and its mean silhouette)::

        sum_i p_i (1 - p_i / q) x_i,    q = sum of p_i over clusters with x_i > 0.

    One cluster, or one giant and strays, gives 0; strays cost their share.

    In many dimensions clusters of few points have no core to count, but silhouettes of data without
    clusters are small there. So what they exceed those by is the quality, if that is more: the same
    sum S with the silhouettes as x_i gives (S - c) / (1 - c), c = :func:`chance_silhouette`.
    """
    masses = np.bincount(labels, weights=sample.weights)  # falling, as clusters are numbered
    kept = int((masses >= 2.0).sum())
    if kept < 2:
        return 0.0
    shares, masses = masses[:kept] / masses.sum(), masses[:kept]
    rivals = _are_rivals(masses)
    depths = valley_depths(sample, labels, masses, rivals, on_sphere)
    many = dimension > MANY_DIMENSIONS
    distant = silhouettes(sample, labels, masses, rivals, (depths > 0) | many)
    best = _different_and_apart(shares, np.sqrt(depths * distant))
    if many:
        chance = chance_silhouette(dimension)
        best = max(best, (_different_and_apart(shares, distant) - chance) / (1.0 - chance))
    return best


def chance_silhouette(dimension: float) -> float:
    """Silhouette that clusters of uniform data reach: 0.7 exp(-dimension / 4).

    Fitted to what was seen from 1 to 64 dimensions (docs/bandwidth.md).
    """
    return 0.7 * float(np.exp(-0.25 * dimension))


def _different_and_apart(shares: np.ndarray, apart: np.ndarray) -> float:
    share_apart = shares[apart > 0].sum()
    if share_apart == 0.0:
        return 0.0
    return float((shares * (1.0 - shares / share_apart) * apart).sum())


def _are_rivals(masses: np.ndarray) -> np.ndarray:
    rivals = masses >= _RIVAL * masses[:, np.newaxis]
    np.fill_diagonal(rivals, False)
    return rivals


def valley_depths(
    sample: Sample, labels: np.ndarray, masses: np.ndarray, rivals: np.ndarray, on_sphere: bool
) -> np.ndarray:
    """Relative depth of the shallowest valley between each cluster and its nearest rivals.

    With r the larger radius of the two cores, N(x) the points within r of x, m the lesser count
    at the two centres and l the least in between::

        depth = max(0, (m - l - 1 - z sqrt(m + l)) / m),    z = 1.5 - log2(J) / 4.

    The 1 is taken off because a centre is fitted to its own points; m + l is the variance of
    m - l if points fall independently. z falls with the number J <= 8 of rivals: the more valleys,
    the less likely chance makes all of them. On a line, where all that chance does lies between the
    centres, J <= 2 and z = 2 - log2(J) / 4. Points that coincide did not fall
    independently: with weights w the sums are of w^2, and the 1 is their mean weight (sum w^2 /
    sum w). 0 without rivals.
    """
    n_clusters = len(masses)
    places = sample.places - (0.0 if on_sphere else sample.places.mean(axis=0))
    members = csr_array(
        (sample.weights, (labels, np.arange(len(labels)))), shape=(labels.max() + 1, len(labels))
    )
    centers = (members @ places)[:n_clusters] / masses[:, np.newaxis]
    if on_sphere:
        lengths = np.linalg.norm(centers, axis=1, keepdims=True)
        centers = np.ldexp(centers / np.where(lengths > 0, lengths, 1.0), -sample.exponent)
    squares = _squares(centers, places)
    gaps = np.where(rivals, _squares(centers, centers), np.inf)
    around, errors = (_RIVALS, 1.5) if places.shape[1] > 1 else (2, 2.0)
    nearest = np.argsort(gaps, axis=1, kind="stable")[:, :around]
    reaches = _core_squares(squares, labels, sample.weights, masses)
    depths = np.ones(n_clusters)
    curvature = float(np.ldexp(1.0, 2 * sample.exponent)) if on_sphere else 0.0
    _find_valleys(squares, sample.weights, gaps, reaches, nearest, errors, curvature, depths)
    return depths


def _squares(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Squared distances between all rows of two arrays."""
    squares = (-2.0 * first) @ second.T
    squares += (first**2).sum(axis=1)[:, np.newaxis]
    squares += (second**2).sum(axis=1)
    return np.maximum(squares, 0.0, out=squares)


def _core_squares(
    squares: np.ndarray, labels: np.ndarray, weights: np.ndarray, masses: np.ndarray
) -> np.ndarray:
    """Squared distance from each centre within which the core of its cluster lies."""
    inside = np.flatnonzero(labels < len(masses))
    owners = labels[inside]
    own = squares[owners, inside]
    order = np.lexsort((own, owners))
    owners, own = owners[order], own[order]
    starts = np.r_[0.0, np.cumsum(masses)[:-1]]
    held = np.cumsum(weights[inside][order]) - starts[owners]
    wanted = np.maximum(np.minimum(masses, _FEWEST), np.ceil(_CORE * masses))
    reached = np.flatnonzero(held >= wanted[owners] * (1 - 1e-9))
    firsts = reached[np.unique(owners[reached], return_index=True)[1]]
    return own[firsts] * (1 + 1e-12)


@kernel
def _find_valleys(squares, weights, gaps, reaches, nearest, errors, curvature, depths):
    weight_squares = weights * weights
    for i in range(nearest.shape[0]):
        n_rivals = 0
        for j in nearest[i]:
            n_rivals += gaps[i, j] < np.inf
        if n_rivals == 0:
            depths[i] = 0.0
            continue
        fewer = errors - 0.25 * log2(n_rivals)
        for j in nearest[i, :n_rivals]:
            depth = _depth(
                squares, weights, weight_squares, gaps[i, j], reaches, i, j, fewer, curvature
            )
            depths[i] = min(depths[i], depth)
            if depths[i] == 0.0:
                break


@kernel
def _depth(squares, weights, weight_squares, gap, reaches, i, j, errors, curvature):
    """Depth of the valley between two centres, less so many standard errors.

    ``curvature`` is 1 / radius^2 of the sphere, or 0.
    """
    reach = max(reaches[i], reaches[j])
    here, there = squares[i], squares[j]
    top = _count(here, there, weights, 0.0, reach)
    top_squares = _count(here, there, weight_squares, 0.0, reach)
    other = _count(here, there, weights, 1.0, reach)
    if other < top:
        top, top_squares = other, _count(here, there, weight_squares, 1.0, reach)
    low, low_squares = top, top_squares
    for step in range(1, _STEPS + 1):
        t = step / (_STEPS + 1.0)
        # |x - p|^2 for p = (1 - t) c + t c' is (1 - t) |x - c|^2 + t |x - c'|^2 - t (1 - t) gap.
        limit = reach + t * (1.0 - t) * gap
        if curvature > 0.0:  # p is put back on the sphere, where |x|^2 = |p|^2 = 1 / curvature
            length = sqrt(max(1.0 - t * (1.0 - t) * gap * curvature, 0.0))
            limit = 2.0 * (1.0 - length * (1.0 - 0.5 * reach * curvature)) / curvature
        count = _count(here, there, weights, t, limit)
        if count < low:
            low, low_squares = count, _count(here, there, weight_squares, t, limit)
    if top <= 0.0:
        return 0.0
    chance = top_squares / top + errors * sqrt(top_squares + low_squares)
    return max(0.0, (top - low - chance) / top)


@fast_sums
def _count(here, there, weights, t, limit):
    """Weight of the points for which a blend of two squared distances is within the limit."""
    total = 0.0
    for k in range(weights.shape[0]):
        total += weights[k] if (1.0 - t) * here[k] + t * there[k] <= limit else 0.0
    return total


def silhouettes(
    sample: Sample, labels: np.ndarray, masses: np.ndarray, rivals: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Mean over each cluster of (b - a) / max(a, b), or 0 if that is negative (Rousseeuw 1987).

    a is the mean distance to the other points of the cluster, b the least mean distance to those
    of a rival. Points that coincide with one are no evidence for its cluster: they do not count in
    a, and without others the value is 0. 0 without rivals, and for clusters that are not wanted.
    """
    labelled = np.append(wanted, False)[np.minimum(labels, len(masses))]
    rows = np.flatnonzero(labelled)
    owners = labels[rows]
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(masses) + 1))
    sums = np.empty((len(rows), len(masses)))
    _sum_distances(sample.distances, rows, order, starts, sample.weights[order], sums)
    weights = sample.weights[rows]
    others = masses[owners] - weights
    alone = others < 0.5 * sample.weights.min()
    own = sums[np.arange(len(rows)), owners] / np.where(alone, 1.0, others)
    sums /= masses
    sums[~rivals[owners]] = np.inf
    other = sums.min(axis=1, initial=np.inf)
    larger = np.maximum(own, other)
    fair = np.isfinite(other) & (larger > 0.0) & ~alone
    values = np.where(fair, other - own, 0.0) / np.where(fair, larger, 1.0)
    totals = np.bincount(owners, weights=weights * values, minlength=len(masses))
    return np.maximum(totals / masses, 0.0)


@fast_sums
def _sum_distances(distances, rows, order, starts, weights, sums):
    """Add up the distances from each of the rows to the points of each cluster.

    The points of cluster c are ``order[starts[c] : starts[c + 1]]``, with weights in that order.
    """
    for i in range(rows.shape[0]):
        row = distances[rows[i]]
        for c in range(sums.shape[1]):
            total = 0.0
            for j in range(starts[c], starts[c + 1]):
                total += weights[j] * row[order[j]]
            sums[i, c] = total
