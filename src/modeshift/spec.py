"""The plain data between the rooms: what is asked of an engine, and what comes back.

An estimator turns its parameters into a :class:`Spec`, an engine turns Spec and data into a
:class:`Fit`, and the estimator publishes the Fit as its attributes.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

_TRIAL_SWEEPS = 100  # of fits that only serve to choose a bandwidth


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
        """Return the schedule in which every point moves by itself."""
        return type(self)()


@dataclass(frozen=True)
class Wander:
    """One random point, or one batch, moves at a time and stays there (Algorithm 2).

    Attributes
    ----------
    patience : float
        After ``patience * n`` quiet steps in a row all points are tested.
    batch_size : int or None
        Points that move at once; None: what suits the engine.
    verify : bool
        False ends a run after the quiet steps, without the test of all points.
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
        Of learned feature weights; None: distances are not weighted.
    """

    stop: str = "shift"
    temperature: float | None = None

    def of_every_point(self) -> Self:
        """Return the schedule itself: every point moves."""
        return self


Schedule = Climb | Wander | Blur


@dataclass(frozen=True)
class Spec:
    """What is asked of an engine: checked values, nothing else.

    Attributes
    ----------
    schedule : Climb, Wander or Blur
    bandwidth : float, (low, high) or None
        As users give it. None: still to be chosen.
    n_neighbors : int or None
    kernel, metric : str
    tol, merge_radius : float
        Fractions of the scale, which is as a rule the bandwidth.
    max_iter : int
    min_cluster_size : int
    strays : {"noise", "nearest"}
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
    metric: str
    tol: float
    merge_radius: float
    max_iter: int
    min_cluster_size: int
    strays: str
    resolution: float | None
    algorithm: str
    n_threads: int
    record: bool

    @property
    def on_sphere(self) -> bool:
        """Whether points are unit vectors."""
        return self.metric == "cosine"

    @property
    def radius(self) -> float:
        """The bandwidth, or the higher one of a pair, as a length in the units of the user."""
        return float(self.as_length(np.max(self.bandwidth)))

    def as_length(self, bandwidth: Any) -> Any:
        """Return the length that a bandwidth means, in the units of the user.

        Cosine distance with the flat kernel: 1 - cos <= b is |x - y| <= sqrt(2 b) for unit vectors.
        With the Gaussian one: exp(-(1 - cos) / b) is exp(-|x - y|^2 / (2 h^2)) with h = sqrt(b).
        """
        if not self.on_sphere:
            return bandwidth
        return np.sqrt(bandwidth if self.kernel == "gaussian" else 2.0 * bandwidth)

    def bandwidth_for(self, radius: float, dimension: float, n_features: int) -> float:
        """Return the bandwidth that is like a flat ball of the radius, for data of a dimension.

        Flat mean-shift climbs the density of the Epanechnikov kernel, whose variance in each
        direction is radius^2 / (dimension + 4); a Gaussian of the same variance is like it.
        """
        length = radius * self.shrinkage(n_features)
        if self.kernel == "gaussian":
            length /= np.sqrt(dimension + 4.0)
        if not self.on_sphere:
            return float(length)
        share = 1.0 if self.kernel == "gaussian" else 0.5
        return float(min(share * length * length, 2.0))

    def shrinkage(self, n_features: int) -> float:
        """Return the factor by which distances at the start are shorter than Euclidean ones."""
        learned = isinstance(self.schedule, Blur) and self.schedule.temperature is not None
        return float(np.sqrt(1.0 / n_features)) if learned else 1.0

    def with_bandwidth(self, bandwidth: Any, n_neighbors: int | None) -> Self:
        """Return the same question with a bandwidth and a number of neighbours."""
        return replace(self, bandwidth=bandwidth, n_neighbors=n_neighbors)

    def for_trial(self, bandwidth: float, n_neighbors: int | None) -> Self:
        """Return the question for a sample: a bandwidth set, and every point for itself."""
        return replace(
            self,
            bandwidth=bandwidth,
            n_neighbors=n_neighbors,
            max_iter=min(self.max_iter, _TRIAL_SWEEPS),
            schedule=self.schedule.of_every_point(),
            resolution=None,
            record=False,
        )

    def for_prediction(self) -> Self:
        """Return the question of ``predict``: what a climb of new points depends on."""
        return replace(self, schedule=Climb(), resolution=None, record=False)


class Fit(NamedTuple):
    """What an engine hands back, in the user's kind of array and units.

    Attributes
    ----------
    labels, modes, centers : array
        As ``labels_``, ``modes_`` and ``cluster_centers_`` of the estimators.
    scale : float
        Length that ``tol`` and ``merge_radius`` are fractions of.
    n_iter, n_steps : int
    converged : bool
    model : object
        What ``predict`` needs; see :mod:`modeshift.engines.prediction`.
    paths : list of array, or None
    feature_weights : array, or None
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


class Sampled(NamedTuple):
    """Points by which a bandwidth is chosen: all points, or a sample that an engine has drawn.

    Attributes
    ----------
    points, weights : ndarray
        In the user's units; unit vectors with cosine distance.
    total : float or None
        Weight of all the data; None: that of these points.
    width : float or None
        A length that no two of all the points exceed; None: to be measured on these points.
    nearest : bool
        Whether the engine can average the nearest points only.
    """

    points: np.ndarray
    weights: np.ndarray
    total: float | None = None
    width: float | None = None
    nearest: bool = True
