"""The plain data between estimators and engines: Spec goes in, Fit comes back.

An estimator turns its parameters into a :class:`Spec`, an engine turns Spec and data into a
:class:`Fit`, and the estimator publishes the Fit as its attributes.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from modeshift.globe import RADIUS, chords_of, distance_of
from modeshift.plda import PLDAMetric

_TRIAL_SWEEPS = 100  # sweeps of a fit that only serves to choose a bandwidth


@dataclass(frozen=True)
class Climb:
    """Each point climbs alone over the original positions (Algorithm 1 of the paper).

    Attributes
    ----------
    seeding : None, int, "bins" or ndarray of shape (m, d)
        Where climbs start; None: at every point.
    """

    seeding: Any = field(default=None, compare=False)

    def of_every_point(self) -> Self:
        """Return the same schedule, but starting from every point."""
        return type(self)()


@dataclass(frozen=True)
class Wander:
    """One random point, or one batch, moves at a time and stays there (Algorithm 2).

    Attributes
    ----------
    patience : float
        After ``patience * n`` quiet steps in a row all points are tested.
    batch_size : int or None
        Number of points that move at the same time; None: the engine's default.
    verify : bool
        Whether all points are tested after the quiet steps. False ends the run without the test.
    """

    patience: float = 1.0
    batch_size: int | None = None
    verify: bool = True

    def of_every_point(self) -> Self:
        """Return the schedule itself: every point moves."""
        return self


@dataclass(frozen=True)
class Blur:
    """All points move at once and stay there.

    Attributes
    ----------
    stop : {"shift", "entropy"}
    temperature : float or None
        Temperature of learned feature weights; None: features have no weights.
    """

    stop: str = "shift"
    temperature: float | None = None

    def of_every_point(self) -> Self:
        """Return the schedule itself: every point moves."""
        return self


Schedule = Climb | Wander | Blur


@dataclass(frozen=True)
class Spec:
    """Input of an engine: checked parameter values, nothing else.

    Attributes
    ----------
    schedule : Climb, Wander or Blur
    bandwidth : float, (low, high) or None
        As the user gave it. None: it is still to be chosen.
    n_neighbors : int or None
    kernel : str
    metric : str or PLDAMetric
    tol, merge_radius : float
        Fractions of the scale, which is the bandwidth if that is finite.
    max_iter : int
    n_clusters : int or None
        Largest number of clusters: the largest ones stay, all others are strays. None: no limit.
    min_cluster_size : float or None
        None: still to be chosen, with the bandwidth.
    strays : {"noise", "nearest"} or None
        None: still to be chosen.
    feature_scale : tuple of float, or None
        Length by which each feature is divided.
    resolution : float or None
    algorithm : str
        How the CPU finds neighbours, or "fast" for bfloat16 on a GPU.
    n_threads : int
    record : bool
        Whether paths are kept.
    """

    schedule: Schedule
    bandwidth: Any
    n_neighbors: int | None
    kernel: str
    metric: str | PLDAMetric
    tol: float
    merge_radius: float
    max_iter: int
    n_clusters: int | None
    min_cluster_size: float | None
    strays: str | None
    feature_scale: tuple[float, ...] | None
    resolution: float | None
    algorithm: str
    n_threads: int
    record: bool

    @property
    def on_sphere(self) -> bool:
        """Whether points are unit vectors."""
        return self.metric in ("cosine", "haversine")

    @property
    def has_own_units(self) -> bool:
        """Whether coordinates have a unit of their own, so that they must not be scaled."""
        return self.metric != "euclidean"

    @property
    def unit(self) -> float:
        """Length of 1 in the units of the user: the radius of the globe, if they are kilometres."""
        return RADIUS if self.metric == "haversine" else 1.0

    @property
    def radius(self) -> float:
        """The bandwidth, or the higher one of a pair, as a length between points."""
        return float(self.as_length(np.max(self.bandwidth)))

    def as_length(self, bandwidth: Any) -> Any:
        """Return a bandwidth as a length between points.

        Cosine distance with the flat kernel: 1 - cos <= b is |x - y| <= sqrt(2 b) for unit vectors.
        With the Gaussian one: exp(-(1 - cos) / b) is exp(-|x - y|^2 / (2 h^2)) with h = sqrt(b).
        Haversine: a great-circle distance of b km with the flat kernel, and a chord of b km with
        the Gaussian one, both on the unit sphere.
        """
        if self.metric == "haversine":
            return bandwidth / RADIUS if self.kernel == "gaussian" else chords_of(bandwidth)
        if self.metric == "cosine":
            return np.sqrt(bandwidth if self.kernel == "gaussian" else 2.0 * bandwidth)
        return bandwidth

    def bandwidth_for(self, radius: float, dimension: float, n_features: int) -> float:
        """Return the bandwidth that corresponds to the radius of a flat kernel.

        Flat mean-shift climbs the density of the Epanechnikov kernel, whose variance in each
        direction is radius^2 / (dimension + 4). A Gaussian kernel gets the same variance.
        ``dimension`` is that of the data, which may be less than the number of features.
        """
        length = radius * self.shrinkage(n_features)
        if self.kernel == "gaussian":
            length /= np.sqrt(dimension + 4.0)
        if self.metric == "haversine":
            return length * RADIUS if self.kernel == "gaussian" else distance_of(length)
        if self.metric == "cosine":
            share = 1.0 if self.kernel == "gaussian" else 0.5
            return float(min(share * length * length, 2.0))
        return float(length)

    def shrinkage(self, n_features: int) -> float:
        """Return the factor by which distances at the start are shorter than Euclidean ones."""
        learned = isinstance(self.schedule, Blur) and self.schedule.temperature is not None
        return float(np.sqrt(1.0 / n_features)) if learned else 1.0

    def with_bandwidth(self, bandwidth: Any, n_neighbors: int | None) -> Self:
        """Return the same Spec with a bandwidth and a number of neighbours."""
        return replace(self, bandwidth=bandwidth, n_neighbors=n_neighbors)

    def with_small_clusters(self, smallest: float, strays: str) -> Self:
        """Return the same question with a smallest size of clusters, unless it has one."""
        return replace(
            self,
            min_cluster_size=self.min_cluster_size or smallest,
            strays=self.strays or strays,
        )

    def chosen(self) -> dict[str, Any]:
        """Return the parameters that were chosen with the bandwidth."""
        names = ("bandwidth", "n_neighbors", "min_cluster_size", "strays")
        return {name: getattr(self, name) for name in names}

    def for_trial(self, bandwidth: float, n_neighbors: int | None) -> Self:
        """Return the Spec for a trial on a sample: a given bandwidth, and all points climb."""
        return replace(
            self,
            bandwidth=bandwidth,
            n_neighbors=n_neighbors,
            max_iter=min(self.max_iter, _TRIAL_SWEEPS),
            n_clusters=None,
            schedule=self.schedule.of_every_point(),
            resolution=None,
            algorithm="auto" if self.algorithm == "fast" else self.algorithm,
            record=False,
        )

    def for_prediction(self, metric: Any, feature_scale: tuple[float, ...] | None) -> "Spec":
        """Return the Spec of ``predict``: only the fields that the index of a model uses.

        The model says what the metric is and how features are scaled; the parameters may have
        changed since.
        """
        return Spec(
            schedule=Climb(),
            bandwidth=None,
            n_neighbors=None,
            kernel="flat",
            metric=metric,
            tol=0.0,
            merge_radius=0.0,
            max_iter=1,
            n_clusters=None,
            min_cluster_size=1,
            strays="noise",
            feature_scale=feature_scale,
            resolution=None,
            algorithm=self.algorithm,
            n_threads=self.n_threads,
            record=False,
        )


class Fit(NamedTuple):
    """Output of an engine, in the user's kind of array and units.

    Attributes
    ----------
    labels, modes, centers : array
        As ``labels_``, ``modes_`` and ``cluster_centers_`` of the estimators.
    scale : float
        Length that ``tol`` and ``merge_radius`` are fractions of.
    n_iter, n_steps : int
    converged : bool
    model : object
        Data for ``predict``; see :mod:`modeshift.engines.prediction`.
    paths : list of array, or None
    feature_weights : array, or None
    stream : object or None
        With ``resolution``: the sums of the cells, to which batches can be added.
    """

    labels: Any
    modes: Any
    centers: Any
    scale: float
    n_iter: int
    n_steps: int
    converged: bool
    model: Any
    paths: list[Any] | None = None
    feature_weights: np.ndarray | None = None
    stream: Any = None


class Sampled(NamedTuple):
    """Points on which a bandwidth is chosen: all points, or a sample that an engine drew.

    Attributes
    ----------
    points, weights : ndarray
        In the user's units; unit vectors with cosine distance.
    total : float or None
        Total weight of the data; None: total weight of these points.
    width : float or None
        Upper bound of the distance between two points of the data; None: it is measured on these
        points.
    nearest : bool
        Whether the engine supports ``n_neighbors``.
    """

    points: np.ndarray
    weights: np.ndarray
    total: float | None = None
    width: float | None = None
    nearest: bool = True
