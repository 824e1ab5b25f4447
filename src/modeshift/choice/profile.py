"""The automatic rule: label a sample over a range of bandwidths, judge, choose and test.

Two questions are kept apart. Which bandwidth: the one of the highest score (``score.py``). Whether
there are clusters at all: a test against data without clusters (``evidence.py``).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from modeshift.choice.axes import on_leading_axes
from modeshift.choice.curve import Curve, count_beyond_dust, curve_of, dust_limit
from modeshift.choice.evidence import evidence_limit, evidence_of, p_value_of, roundness
from modeshift.choice.factors import Factors, Ground, factors_of, ground_of
from modeshift.choice.pick import Pick, numbers_near, pick_with
from modeshift.choice.radii import MANY_DIMENSIONS, radii_between, rows_to_measure
from modeshift.choice.rounding import undo_rounding
from modeshift.choice.sample import Sample, draw_sample
from modeshift.choice.tree import ClusterTree, tree_of
from modeshift.spec import Sampled

_WHOLE = 0.95  # share of the points in one cluster at which larger radii are not tried
_NEIGHBOURS = (5, 40)  # tried in many dimensions, of the points of the sample
_FEW = 5  # neighbours in the sample, at least, where those of all the data are few


Label = Callable[[np.ndarray, np.ndarray, float, int | None], np.ndarray]
"""Labels points, by their weights, a bandwidth and a number of neighbours."""
LabelPlainly = Callable[[np.ndarray, np.ndarray, float, bool], np.ndarray]
"""Labels points as ``MeanShift`` does, by their weights, the radius of a flat ball, and whether
there are many dimensions."""
BandwidthFor = Callable[[float, float, int], float]
"""Returns the bandwidth like a flat ball, by its radius, the dimension and the features."""


class BandwidthProfile(NamedTuple):
    """What an estimator gives over a range of bandwidths, and which one to take.

    Attributes
    ----------
    bandwidth : float
        The choice.
    n_neighbors : int or None
        The choice; None: all points within the bandwidth count.
    one_cluster : bool
        Whether the choice makes one cluster, because there are no clusters beyond chance.
    p_value : float
        Chance that data without clusters show as much evidence of clusters.
    n_clusters : int
        Number of clusters of the sample beyond dust at ``best_bandwidth``.
    best_bandwidth : float
        The bandwidth of the highest score, also where ``one_cluster`` rejects it.
    widest_bandwidth : float
        A bandwidth that no two points are further apart than.
    finer, coarser : tuple of float
        Other bandwidths of the chosen curve that a user might prefer, below and above
        ``bandwidth``. With ``one_cluster`` they include ``best_bandwidth``.
    smallest_cluster : float
        Weight below which a cluster is dust at ``best_bandwidth``, in units of all the data.
    chosen : Curve
        Over the bandwidths, for the chosen kind of neighbourhood.
    curves : tuple of Curve
        For all kinds of neighbourhoods that were looked at.
    dimension : float
        Correlation dimension: by which power of the radius the number of neighbours grows.
    rows : ndarray of shape (m,)
        Which points of X the labels are for. Where data are rounded a row may stand several times.
    weights : ndarray of shape (m,)
        How often each of them counts.
    total : float
        Weight of all the data, in units of the user.

    Examples
    --------
    >>> from modeshift import MeanShift, datasets
    >>> X, _ = datasets.make_paper_set(1, scale=0.3, random_state=0)
    >>> profile = MeanShift().fit(X).profile_
    >>> profile.n_clusters, profile.one_cluster
    (3, False)
    >>> len(profile.labels_at(profile.bandwidth))
    225
    """

    bandwidth: float
    n_neighbors: int | None
    one_cluster: bool
    p_value: float
    n_clusters: int
    best_bandwidth: float
    widest_bandwidth: float
    finer: tuple[float, ...]
    coarser: tuple[float, ...]
    smallest_cluster: float
    chosen: Curve
    curves: tuple[Curve, ...]
    dimension: float
    rows: np.ndarray
    weights: np.ndarray
    total: float

    def __repr__(self) -> str:
        near = "" if self.n_neighbors is None else f", n_neighbors={self.n_neighbors}"
        best = f", best_bandwidth={self.best_bandwidth:.6g}" if self.one_cluster else ""
        return (
            f"BandwidthProfile(bandwidth={self.bandwidth:.6g}{near}, "
            f"one_cluster={self.one_cluster}, p_value={self.p_value:.2g}{best}, "
            f"n_clusters={self.n_clusters})"
        )

    def labels_at(self, bandwidth: float) -> np.ndarray:
        """Return the labels of the sample at the tried bandwidth that is nearest, in log h.

        They are for the points ``rows`` of X, of the chosen kind of neighbourhood.
        """
        if not bandwidth > 0:
            raise ValueError(f"bandwidth must be positive, got {bandwidth!r}.")
        gaps = np.abs(np.log(self.chosen.bandwidths) - np.log(bandwidth))
        return self.chosen.labels[int(np.argmin(gaps))]

    def tree(self) -> ClusterTree:
        """Return which clusters split into which, and over which bandwidths they live.

        Clusters below ``smallest_cluster`` are left out.
        """
        smallest = self.smallest_cluster * self.weights.sum() / self.total
        return tree_of(self.chosen.bandwidths, self.chosen.labels, self.weights, smallest)

    def gives(self, n_clusters: int) -> bool:
        """Return whether :meth:`pick` finds a bandwidth for a number of clusters."""
        return n_clusters == 1 or self._found(n_clusters) is not None

    def _found(self, n_clusters: int) -> Pick | None:
        return pick_with(n_clusters, self.curves, self.weights, self.total)

    def pick(self, n_clusters: int) -> Pick:
        """Return the bandwidth that gives a number of clusters beyond dust.

        Of several, the one whose clusters persist most over the bandwidths.

        Raises
        ------
        ValueError
            If no bandwidth of the profile gives that number.

        Examples
        --------
        >>> from modeshift import MeanShift, datasets
        >>> X, _ = datasets.make_paper_set(1, scale=0.3, random_state=0)
        >>> profile = MeanShift().fit(X).profile_
        >>> round(profile.pick(3).bandwidth, 2)
        0.94
        """
        found = self._found(n_clusters)
        if found is None and n_clusters == 1:
            found = Pick(self.widest_bandwidth, None, 0.0)
        if found is None:
            known = ", ".join(map(str, numbers_near(n_clusters, self.curves)))
            raise ValueError(
                f"No bandwidth gives n_clusters={n_clusters}. The nearest numbers of clusters that "
                f"bandwidths give: {known}."
            )
        return found


class _Trial(NamedTuple):
    """What is labelled: the sample, in many dimensions on fewer axes."""

    sample: Sample
    ground: Ground
    full_radii: np.ndarray
    full_dimension: float

    @property
    def radii_of_users(self) -> np.ndarray:
        return self.sample.in_user_units(self.ground.radii)


def profile_of(
    label: Label,
    label_plainly: LabelPlainly,
    bandwidth_for: BandwidthFor,
    sampled: Sampled,
    *,
    is_plain: bool = False,
    n_neighbors: int | None = None,
    metric: Any = "euclidean",
    n_bandwidths: int | None = None,
    n_samples: int = 1500,
    random_state: np.random.RandomState | None = None,
    plain: bool = False,
    level: float | None = 0.05,
    progress: Callable[[int, int], None] | None = None,
) -> BandwidthProfile:
    """Profile what a labelling gives over a range of bandwidths, and choose one.

    Parameters
    ----------
    label : function of points, weights, bandwidth and number of neighbours
        Returns the clusters of the points; 0 is the largest.
    label_plainly : function of points, weights, radius, and whether there are many dimensions
        Returns the clusters of ``MeanShift`` with the flat kernel, for the test of clusters at all.
    bandwidth_for : function of radius, dimension and number of features
        Returns the bandwidth that is like a flat ball of the radius.
    sampled : Sampled
        The points.
    is_plain : bool
        Whether ``label`` without a number of neighbours labels plainly. Its labels are then tested.
    n_neighbors : int or None
        The number of neighbours that is asked for; None: it may be chosen.
    metric : {"euclidean", "cosine", "haversine"} or PLDAMetric
        With "cosine" and "haversine" points are unit vectors.
    n_bandwidths, n_samples : int
        As in :func:`modeshift.bandwidth_profile`.
    random_state : RandomState or None
        Draws the sample; None is seed 0.
    plain : bool
        Leaves the number of neighbours as it is.
    level : float or None
        Level of significance of the decision "one cluster"; None turns the decision off.
    progress : function of two ints, or None
        Called after every fit with the number of fits that are done and that of all.
    """
    rng = np.random.RandomState(0) if random_state is None else random_state
    sample = draw_sample(sampled.points, sampled.weights, n_samples, rng)
    total = _sum_of(sampled.weights) if sampled.total is None else sampled.total
    if sampled.total is not None:
        sample = sample._replace(total=sampled.total)
    sample, step = undo_rounding(sample, n_samples, metric)
    trial = _prepare(sample, step, n_bandwidths, metric in ("cosine", "haversine"))
    n_features = sampled.points.shape[1]
    if trial is None:
        return _nothing_to_choose(bandwidth_for(1.0, 0.0, n_features), n_neighbors, sample, total)
    ground = trial.ground
    kinds = [n_neighbors]
    if n_neighbors is None and ground.many and sampled.nearest and not plain:
        share = thinning(sample.share, ground.dimension)
        kinds = [round(k / share) for k in _NEIGHBOURS if k < ground.weights.sum()] or kinds
    tested_before = is_plain and kinds == [None]
    report = _Progress(progress, len(kinds) + (not tested_before))
    lengths = sample.in_user_units(trial.full_radii)
    widths = np.array([bandwidth_for(r, trial.full_dimension, n_features) for r in lengths])
    curves = []
    for kind in kinds:
        labels, factors = _judge(label, bandwidth_for, trial, kind, report)
        curves.append(curve_of(kind, widths, labels, factors, ground))
    best = max(curves, key=lambda curve: curve.score.max())  # the first of equals
    if not tested_before:
        factors = _judge_plainly(label_plainly, trial, report)
    p_value = _p_value(factors, trial)
    one_cluster = level is not None and p_value > level
    bandwidth, k = float(best.bandwidths[best.best]), best.n_neighbors
    others = {float(best.bandwidths[i]) for i in best.alternatives()}
    width = sampled.width or _width_for_all(sampled.points, sampled.weights)
    widest = bandwidth_for(width, trial.full_dimension, n_features)
    if one_cluster:
        others.add(bandwidth)
        bandwidth, k = widest, n_neighbors
    labels = best.labels[best.best]
    return BandwidthProfile(
        bandwidth=bandwidth,
        n_neighbors=k,
        one_cluster=one_cluster,
        p_value=p_value,
        n_clusters=count_beyond_dust(labels, sample.weights),
        best_bandwidth=float(best.bandwidths[best.best]),
        widest_bandwidth=widest,
        finer=tuple(sorted(h for h in others if h < bandwidth)),
        coarser=tuple(sorted(h for h in others if h > bandwidth)),
        smallest_cluster=dust_limit(labels, sample.weights) * total / sample.weights.sum(),
        chosen=best,
        curves=tuple(curves),
        dimension=trial.full_dimension,
        rows=sample.rows,
        weights=sample.weights,
        total=total,
    )


class _Progress:
    """Counts the fits of several series of fits."""

    def __init__(self, tell: Callable[[int, int], None] | None, n_series: int) -> None:
        self._tell, self._n_series, self._series = tell, n_series, 0

    def step(self, done: int, n_radii: int) -> None:
        """Count ``done`` fits of a series; a series that ends early counts as whole."""
        if self._tell is not None:
            self._tell(self._series * n_radii + done, self._n_series * n_radii)
        if done == n_radii:
            self._series += 1


def _prepare(
    sample: Sample, step: float, n_bandwidths: int | None, on_sphere: bool
) -> _Trial | None:
    """Measure distances and choose radii; None if all points coincide."""
    some = rows_to_measure(len(sample.weights))
    rows = cdist(sample.places[some], sample.places)
    radii, dimension = radii_between(rows, some, sample.weights, n_radii=n_bandwidths, least=step)
    if len(radii) == 0:
        return None
    many = dimension > MANY_DIMENSIONS
    fewer = on_leading_axes(sample, on_sphere) if many else sample
    if fewer is sample:
        distances = rows if len(some) == len(sample.weights) else cdist(*2 * [sample.places])
        ground = ground_of(distances, sample.weights, radii, dimension, many)
        return _Trial(sample, ground, radii, dimension)
    distances = cdist(fewer.places, fewer.places)
    trial_radii, trial_dimension = radii_between(
        distances[some], some, fewer.weights, n_radii=len(radii), least=step, many=True
    )
    if len(trial_radii) != len(radii):  # the leading axes hold none of the structure
        return None
    ground = ground_of(distances, fewer.weights, trial_radii, trial_dimension, many)
    return _Trial(fewer, ground, radii, dimension)


def _judge(
    label: Label,
    bandwidth_for: BandwidthFor,
    trial: _Trial,
    n_neighbors: int | None,
    report: _Progress,
) -> tuple[np.ndarray, Factors]:
    """Label at each radius, as the estimator would, and judge the labels."""
    ground, k = trial.ground, n_neighbors
    if k is not None:
        k = min(k, max(_FEW, round(k * thinning(trial.sample.share, ground.dimension))))
    points = trial.sample.points

    def label_within(radius: float) -> np.ndarray:
        width = bandwidth_for(radius, ground.dimension, points.shape[1])
        return label(points, ground.weights, width, k)

    labels = _label_over(label_within, trial, report)
    return labels, factors_of(labels, ground, k)


def _judge_plainly(label_plainly: LabelPlainly, trial: _Trial, report: _Progress) -> Factors:
    """Label at each radius as ``MeanShift`` does, and judge the labels."""
    points, weights = trial.sample.points, trial.ground.weights
    many = trial.ground.many
    labels = _label_over(lambda radius: label_plainly(points, weights, radius, many), trial, report)
    return factors_of(labels, trial.ground)


def _label_over(
    label_within: Callable[[float], np.ndarray], trial: _Trial, report: _Progress
) -> np.ndarray:
    """Return the labels at rising radii, until 95% of the points are one cluster."""
    weights, radii = trial.ground.weights, trial.radii_of_users
    runs: list[np.ndarray] = []
    for radius in radii:
        runs.append(label_within(float(radius)))
        whole = weights[runs[-1] == 0].sum() >= _WHOLE * weights.sum()
        report.step(len(radii) if whole else len(runs), len(radii))
        if whole:
            break
    return np.array(runs)


def _p_value(factors: Factors, trial: _Trial) -> float:
    weights, ground = trial.ground.weights, trial.ground
    shape = 0.0 if ground.many else roundness(trial.sample.places, weights)
    limit = evidence_limit(weights.sum(), ground.dimension, shape)
    return p_value_of(evidence_of(factors), limit)


def thinning(share: float, dimension: float) -> float:
    """By what a number of neighbours is to be multiplied for a sample of a share of the data.

    n points estimate the gradient of a density best with a radius ~ n^(-1 / (d + 6)) (Chacon &
    Duong 2013), in which there are ~ n^(6 / (d + 6)) of them.
    """
    return float(share ** (6.0 / (dimension + 6.0)))


def _width_for_all(points: np.ndarray, weights: np.ndarray) -> float:
    """A length that no two points of positive weight exceed."""
    heavy = points[weights > 0]
    exponent = int(np.frexp(np.abs(heavy).max())[1])
    places = np.ldexp(heavy, -exponent, dtype=np.float64)
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    farthest = np.linalg.norm(places - middle, axis=1).max()
    with np.errstate(over="ignore"):
        return float(min(np.ldexp(2.0 * farthest, exponent), np.finfo(np.float64).max)) or 1.0


def _sum_of(weights: np.ndarray) -> float:
    """Return the sum of weights, at most the largest float."""
    with np.errstate(over="ignore"):
        return float(min(weights.sum(), np.finfo(np.float64).max))


def _nothing_to_choose(
    width: float, n_neighbors: int | None, sample: Sample, total: float
) -> BandwidthProfile:
    """All points coincide: any bandwidth makes one cluster."""
    ones, zeros = np.ones(1), np.zeros(1)
    labels = np.zeros((1, len(sample.rows)), dtype=np.int64)
    curve = Curve(
        n_neighbors, np.array([width]), labels, np.ones(1, dtype=np.int64), zeros, ones, zeros,
        zeros, np.ones((1, 1)),
    )  # fmt: skip
    return BandwidthProfile(
        width, n_neighbors, True, 1.0, 1, width, width, (), (), total / 20.0, curve, (curve,), 0.0,
        sample.rows, sample.weights, total,
    )  # fmt: skip
