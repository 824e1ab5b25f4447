"""The automatic rule: fit the estimator to a sample over a range of bandwidths, and judge.

score(h) = quality(h) * sqrt(agreement(h)), smoothed: clusters must be set apart
(``separation.py``) and must still be the same at the next smaller and larger h. The h of the
highest score is chosen, and one cluster where no score is above what data without clusters reach.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from modeshift.choice.agreement import neighbour_agreement
from modeshift.choice.sample import MANY_DIMENSIONS, Sample, draw_sample, pair_quantiles
from modeshift.choice.separation import quality
from modeshift.spec import Sampled

_LARGEST = 0.6  # quantile of the pairwise distances at which the range of h ends
_SMALLEST = 2.0**-100  # of the extent of the data: no h is less
_FEW_NEIGHBOURS = 4  # at the start of the range, in few dimensions: cores of 8 points are counted
_RADII, _RADII_IN_MANY = 20, 13  # in few dimensions and in many, where there is less of a range
_WHOLE = 0.95  # share of the points in one cluster at which larger h are not tried
_NEIGHBOURS = (5, 40)  # tried in many dimensions, of the points of the sample
_CLEARLY = 1.05  # times the score of plain radii that a number of neighbours must exceed
_FEW = 5  # neighbours in the sample, at least, where those of all the data are few
_SMALL = 0.01  # share of the points below which a cluster is small
_WORTH = 0.5  # of the chosen score that an alternative must have
_DIP = 0.97  # of its own score that must be undercut between it and the others


Label = Callable[[np.ndarray, np.ndarray, float, int | None], np.ndarray]
"""Labels points, by their weights, a bandwidth and a number of neighbours."""


class Curve(NamedTuple):
    """What one kind of neighbourhood gives over the bandwidths of a profile.

    Attributes
    ----------
    n_neighbors : int or None
        As it would be for all the data.
    bandwidths : ndarray of shape (H,)
        Rising, up to the first one at which 95% of the points are one cluster.
    labels : ndarray of shape (H, m)
        Clusters of the sample at each bandwidth: the hierarchy.
    n_clusters : ndarray of shape (H,)
    share_small : ndarray of shape (H,)
        Share of the points that are in clusters of less than 1% of the points.
    agreement : ndarray of shape (H,)
        Mean adjusted Rand index with the labels at the next smaller and larger bandwidth.
    quality : ndarray of shape (H,)
        How well the clusters are set apart, from 0 to 1.
    score : ndarray of shape (H,)
        Quality times the square root of agreement, smoothed.
    """

    n_neighbors: int | None
    bandwidths: np.ndarray
    labels: np.ndarray
    n_clusters: np.ndarray
    share_small: np.ndarray
    agreement: np.ndarray
    quality: np.ndarray
    score: np.ndarray

    @property
    def best(self) -> int:
        """Position of the highest score."""
        return int(np.argmax(self.score))

    def peaks(self) -> list[int]:
        """Positions of the best score and of other peaks, half as high or more, beyond a dip."""
        found = [self.best]
        for i in np.argsort(-self.score, kind="stable"):
            dips = [self.score[min(i, j) : max(i, j) + 1].min() for j in found]
            worth = self.score[i] >= _WORTH * self.score[self.best]
            if worth and max(dips) < _DIP * self.score[i]:
                found.append(int(i))
        return sorted(found)


class BandwidthProfile(NamedTuple):
    """What an estimator gives over a range of bandwidths, and which one to take.

    Attributes
    ----------
    bandwidth : float
        The choice.
    n_neighbors : int or None
        The choice; None: all points within the bandwidth count.
    one_cluster : bool
        Whether no score is above the threshold, so that the choice makes one cluster.
    threshold : float
        Score that data of one cluster may reach by chance.
    finer, coarser : tuple of float
        Other bandwidths of the chosen curve that a user might prefer, less and larger: the score
        has a peak there of at least half the highest one.
    chosen : Curve
        Over the bandwidths, for the chosen kind of neighbourhood.
    curves : tuple of Curve
        For all kinds of neighbourhoods that were looked at.
    dimension : float
        Correlation dimension: by which power of the radius the number of neighbours grows.
    rows : ndarray of shape (m,)
        Which points of X the labels are for.
    """

    bandwidth: float
    n_neighbors: int | None
    one_cluster: bool
    threshold: float
    finer: tuple[float, ...]
    coarser: tuple[float, ...]
    chosen: Curve
    curves: tuple[Curve, ...]
    dimension: float
    rows: np.ndarray


def profile_of(
    label: Label,
    bandwidth_for: Callable[[float, float], float],
    sampled: Sampled,
    *,
    n_neighbors: int | None = None,
    on_sphere: bool = False,
    n_bandwidths: int | None = None,
    n_samples: int = 1500,
    random_state: np.random.RandomState | None = None,
    plain: bool = False,
) -> BandwidthProfile:
    """Profile what a labelling gives over a range of bandwidths, and choose one.

    Parameters
    ----------
    label : function of points, weights, bandwidth and number of neighbours
        Returns the clusters of the points; 0 is the largest.
    bandwidth_for : function of radius and dimension
        Returns the bandwidth that is like a flat ball of the radius, for data of a dimension.
    sampled : Sampled
        The points.
    n_neighbors : int or None
        The number of neighbours that is asked for; None: it may be chosen.
    on_sphere : bool
        Whether points are unit vectors.
    n_bandwidths, n_samples : int
        As in :func:`modeshift.bandwidth_profile`.
    random_state : RandomState or None
        Draws the sample; None is seed 0.
    plain : bool
        Leaves the number of neighbours as it is.
    """
    rng = np.random.RandomState(0) if random_state is None else random_state
    points, weights = sampled.points, sampled.weights
    sample = draw_sample(points, weights, n_samples, rng)
    if sampled.total is not None:
        sample = sample._replace(total=sampled.total)
    radii, dimension = radii_between(sample, n_bandwidths)
    if len(radii) == 0:
        return _nothing_to_choose(bandwidth_for(1.0, 0.0), n_neighbors, sample)
    widths = np.array([bandwidth_for(length, dimension) for length in sample.in_user_units(radii)])
    curve = partial(_curve, label, sample, widths, dimension, on_sphere)
    best = curve(n_neighbors)
    curves = [best]
    many = dimension > MANY_DIMENSIONS and sampled.nearest
    if n_neighbors is None and many and not plain:
        share = thinning(sample.share, dimension)
        curves += [curve(round(k / share)) for k in _NEIGHBOURS if k < sample.weights.sum()]
        other = max(curves, key=lambda curve: curve.score.max())  # the first of equals
        if other.score.max() > _CLEARLY * best.score.max():
            best = other
    threshold = chance_score(sample)
    if best.score.max() <= threshold:
        width = _width_for_all(points, weights) if sampled.width is None else sampled.width
        return BandwidthProfile(
            bandwidth_for(width, dimension), n_neighbors, True, threshold, (), (), curves[0],
            tuple(curves), dimension, sample.rows,
        )  # fmt: skip
    peaks = best.peaks()
    return BandwidthProfile(
        bandwidth=float(best.bandwidths[best.best]),
        n_neighbors=best.n_neighbors,
        one_cluster=False,
        threshold=threshold,
        finer=tuple(float(best.bandwidths[i]) for i in peaks if i < best.best),
        coarser=tuple(float(best.bandwidths[i]) for i in peaks if i > best.best),
        chosen=best,
        curves=tuple(curves),
        dimension=dimension,
        rows=sample.rows,
    )


def chance_score(sample: Sample) -> float:
    """Return the score up to which there is one cluster: 0.015 + 3 / n, at most 0.05.

    Uniform, Gaussian and heavy-tailed data exceed it in less than one case of ten
    (docs/bandwidth.md). n is the number of points that are independent: those that coincide are
    not, so with weights it is (sum w)^2 / sum w^2.
    """
    return float(min(0.015 + 3.0 * (sample.weights**2).sum() / sample.weights.sum() ** 2, 0.05))


def radii_between(sample: Sample, n_radii: int | None = None) -> tuple[np.ndarray, float]:
    """Radii in a geometric series, and the correlation dimension.

    The series starts where a point has about four neighbours, at the quantile 4 / m of the pairwise
    distances, in many dimensions where it has one, and ends where it has most of them. The
    dimension is log(N' / N) / log(r' / r) between one and most, with N the number of pairs within
    r.
    """
    one = min(1.0 / sample.weights.sum(), 0.5 * _LARGEST)
    few = min(_FEW_NEIGHBOURS * one, 0.5 * _LARGEST)
    quantiles = np.maximum(pair_quantiles(sample, (one, few, _LARGEST)), _SMALLEST)
    if len(quantiles) == 0 or quantiles[0] == quantiles[2]:
        return quantiles[:1], 0.0
    dimension = float(np.log(_LARGEST / one) / np.log(quantiles[2] / quantiles[0]))
    many = dimension > MANY_DIMENSIONS
    start = quantiles[0] if many else quantiles[1]
    n_radii = n_radii or (_RADII_IN_MANY if many else _RADII)
    return np.geomspace(start, quantiles[2], n_radii), dimension


def _curve(
    label: Label,
    sample: Sample,
    widths: np.ndarray,
    dimension: float,
    on_sphere: bool,
    n_neighbors: Any,
) -> Curve:
    """Label at each bandwidth and judge the labels."""
    weights = sample.weights
    k = n_neighbors
    if k is not None:
        k = min(k, max(_FEW, round(k * thinning(sample.share, dimension))))
    runs = []
    for width in widths:
        runs.append(label(sample.points, weights, width, k))
        if weights[runs[-1] == 0].sum() >= _WHOLE * weights.sum():
            break
    labels = np.array(runs)
    qualities = np.array([quality(sample, row, dimension, on_sphere) for row in labels])
    together = neighbour_agreement(labels, weights)
    sizes = [np.bincount(row, weights=weights) / weights.sum() for row in labels]
    return Curve(
        n_neighbors=n_neighbors,
        bandwidths=widths[: len(runs)],
        labels=labels,
        n_clusters=np.array([len(shares) for shares in sizes]),
        share_small=np.array([shares[shares < _SMALL].sum() for shares in sizes]),
        agreement=together,
        quality=qualities,
        score=_smoothed(qualities * np.sqrt(together)),
    )


def thinning(share: float, dimension: float) -> float:
    """By what a number of neighbours is to be multiplied for a sample of a share of the data.

    n points estimate the gradient of a density best with a radius ~ n^(-1 / (d + 6)) (Chacon &
    Duong 2013), in which there are ~ n^(6 / (d + 6)) of them.
    """
    return float(share ** (6.0 / (dimension + 6.0)))


def _smoothed(values: np.ndarray) -> np.ndarray:
    """Weighted mean (1, 2, 1) / 4 of each value and those beside it."""
    return np.convolve(np.pad(values, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")


def _width_for_all(points: np.ndarray, weights: np.ndarray) -> float:
    """A length that no two points of positive weight exceed."""
    heavy = points[weights > 0]
    exponent = int(np.frexp(np.abs(heavy).max())[1])
    places = np.ldexp(heavy, -exponent, dtype=np.float64)
    farthest = np.linalg.norm(places - places.mean(axis=0), axis=1).max()
    with np.errstate(over="ignore"):
        return float(min(np.ldexp(2.0 * farthest, exponent), np.finfo(np.float64).max)) or 1.0


def _nothing_to_choose(width: float, n_neighbors: int | None, sample: Sample) -> BandwidthProfile:
    """All points coincide: any bandwidth makes one cluster."""
    ones, zeros = np.ones(1), np.zeros(1)
    labels = np.zeros((1, len(sample.rows)), dtype=np.int64)
    curve = Curve(
        n_neighbors, np.array([width]), labels, np.ones(1, dtype=np.int64),
        zeros, ones, zeros, zeros,
    )  # fmt: skip
    return BandwidthProfile(
        width, n_neighbors, True, chance_score(sample), (), (), curve, (curve,), 0.0, sample.rows
    )
