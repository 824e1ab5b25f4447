"""What the three estimators share: validate, run a schedule, merge, label, predict."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from modeshift.checkpoint import Checkpoint, fingerprint
from modeshift.choice.profile import profile_of
from modeshift.chunked import (
    fit_chunked,
    is_chunked,
    predict_chunked,
    predict_from_partitions,
)
from modeshift.clusters import cluster_centers, join_strays, label_components, number_by_first
from modeshift.components import connected_components
from modeshift.compress import Cells, compress
from modeshift.device import DEVICES, PRECISIONS, choose_device, is_tensor
from modeshift.fields import FIELDS, Field, make_field
from modeshift.fields.rule import Flat, Gaussian, Plane, Rule, Sphere, nearest
from modeshift.nearest import nearest_rows
from modeshift.scale import nearest_scale
from modeshift.schedules.deterministic import climb
from modeshift.schedules.outcome import Outcome
from modeshift.sphere import chord, normalised, put_back
from modeshift.units import Problem, Units, choose_units, from_units, to_units
from modeshift.validation import (
    check_bandwidth,
    check_choice,
    check_flag,
    check_jobs,
    check_points,
    check_real,
    check_weights,
    check_whole,
    refuse,
)
from modeshift.watch import UNWATCHED, Progress, Watch

_KERNELS = ("flat", "gaussian")
_METRICS = ("euclidean", "cosine")
_TRIAL_SWEEPS = 100  # of fits that only serve to choose a bandwidth


class Fitted(NamedTuple):
    """What ``predict`` needs: the field that new points climb over, and the ends that have labels.

    Both are in the units of the problem, and the ends as distances are measured.
    """

    problem: Problem
    ends: np.ndarray
    labels: np.ndarray


class Clustering(NamedTuple):
    """Which points are one cluster, and the run that tells where they ended.

    Attributes
    ----------
    outcome : Outcome
    components : ndarray of shape (n,)
        Numbered by first appearance.
    confidence : ndarray of shape (n,), or None
        Share of the runs that agree, where there were several.
    """

    outcome: Outcome
    components: np.ndarray
    confidence: np.ndarray | None = None


class ModeSeeker(ClusterMixin, BaseEstimator):
    """Base of the mean-shift estimators. A subclass says which schedule runs."""

    bandwidth: Any
    kernel: str
    metric: str
    n_neighbors: int | None
    tol: float
    merge_radius: float
    max_iter: int
    min_cluster_size: int
    strays: str
    resolution: float | None
    field: str
    n_jobs: int | None
    device: str
    precision: str
    record: bool
    callback: Callable[[Progress], object] | None
    checkpoint: Any
    checkpoint_every: float

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array or dataframe
            The points. float32 is kept, all else becomes float64. With Dask ``labels_`` and
            ``modes_`` are lazy Dask arrays with the chunks of X; see docs/scale.md.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Weight of each point in every mean. A point of weight 0 climbs but attracts nobody.

        Returns
        -------
        self
        """
        self._forget()
        try:
            if is_chunked(X):
                fit_chunked(self, X, sample_weight)
            else:
                self._fit(X, sample_weight)
            if not self.converged_:
                warnings.warn(
                    f"{type(self).__name__} did not converge within max_iter={self.max_iter}; "
                    "the labels are those reached so far. Raise max_iter or tol.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        except BaseException:  # Ctrl-C too: fitted or not, never halfway
            self._forget()
            raise
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Label new points: each climbs over the fitted field and joins the mode nearest its end.

        A point with nobody within the bandwidth takes the label of the nearest cluster centre.

        Parameters
        ----------
        X : array-like of shape (m, d), or Dask array or dataframe
            New points.

        Returns
        -------
        ndarray of shape (m,), or lazy Dask array with the chunks of X
            Labels; -1 where the mode belongs to no cluster (see ``min_cluster_size``, ``strays``).
        """
        check_is_fitted(self)
        self._check_parameters()
        if is_chunked(X):
            return predict_chunked(self, X)
        device = choose_device(self, X)
        if device is not None and isinstance(self._fitted_, Fitted):
            from modeshift.gpu.fit import predict_on

            return predict_on(self, X, device)
        X = check_points(self, X, reset=False)
        if not isinstance(self._fitted_, Fitted):
            return predict_from_partitions(self, X)
        return self._predict(X)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        """Label points that were checked."""
        problem, ends, labels = self._fitted_
        if is_tensor(ends):
            raise ValueError(
                "this estimator was fitted to a tensor on a GPU, where its modes are; predict with "
                "device='cuda' too, or fit it to an array."
            )
        starts = self._placed(X, "X", problem)
        climbs = climb(
            self._make_field(problem),
            starts,
            radius=problem.radius,
            tol=float(self.tol) * problem.scale,
            max_iter=self.max_iter,
        )
        predicted = labels[nearest_rows(ends, climbs.outcome.ends, self._n_threads)]
        if climbs.lonely.any():
            predicted[climbs.lonely] = self._nearest_center(starts[climbs.lonely])
        return predicted

    def _cluster(self, problem: Problem, bandwidth: Any, watch: Watch) -> Clustering:
        """Run the schedule and join the points that ended together."""
        outcome = self._run(problem, bandwidth, watch)
        return Clustering(outcome, self._merge(problem, outcome))

    def _merge(self, problem: Problem, outcome: Outcome) -> np.ndarray:
        ends = problem._replace(factors=outcome.factors).measured(outcome.ends)
        return connected_components(ends, float(self.merge_radius) * problem.scale)

    @abstractmethod
    def _run(self, problem: Problem, bandwidth: Any, watch: Watch) -> Outcome:
        """Run the schedule; the outcome has one end for each point."""

    @abstractmethod
    def _run_on_device(self, arranged: Any, field: Any, report: Callable[..., None]) -> Any:
        """Run the schedule over a field on a GPU; see :mod:`modeshift.gpu.schedules`."""

    @abstractmethod
    def _field_positions(self, problem: Problem, ends: np.ndarray) -> np.ndarray:
        """Return the positions over which new points climb."""

    def _fit(self, X: Any, sample_weight: Any) -> None:
        self._check_parameters()
        device = choose_device(self, X)
        if device is None:
            self._fit_here(X, sample_weight)
        else:
            from modeshift.gpu.fit import fit_on

            fit_on(self, X, sample_weight, device)

    def _fit_here(self, X: Any, sample_weight: Any) -> None:
        """Fit on the CPU."""
        X = check_points(self, X, reset=True)
        weights = check_weights(sample_weight, len(X))
        bandwidth, problem = self._pose(X, weights)
        cells = None
        if self.resolution is not None:
            side = problem.radius / float(self.resolution)
            cells = compress(problem.points, problem.weights, side)
            problem = problem._replace(points=self._cell_points(cells, side), weights=cells.weights)
        self._solve(problem, cells, bandwidth, X.dtype)

    def _cell_points(self, cells: Cells, side: float) -> np.ndarray:
        """Return what stands for the cells: their means, on the sphere if the points are there."""
        if not self._on_sphere:
            return cells.points
        return put_back(cells.points, normalised(cells.keys * side, "cells"))

    def _solve(
        self, problem: Problem, cells: Cells | None, bandwidth: Any, dtype: np.dtype
    ) -> None:
        """Cluster the points or cells of a problem, and set what a fit sets."""
        watch = Watch(
            self._reporter(problem, cells, dtype), self._make_checkpoint(problem, bandwidth)
        )
        with watch.keeping():
            clustering = self._cluster(problem, bandwidth, watch)
            self._set_fitted(problem, cells, bandwidth, clustering, dtype)

    def _set_fitted(
        self,
        problem: Problem,
        cells: Cells | None,
        bandwidth: Any,
        clustering: Clustering,
        dtype: np.dtype,
    ) -> None:
        """Label the points, and set what a fit sets."""
        outcome, components, confidence = clustering
        problem = problem._replace(factors=outcome.factors)
        ends = problem.measured(outcome.ends)
        firsts = np.arange(len(ends)) if cells is None else cells.firsts
        components = number_by_first(components, firsts)
        labels = label_components(components, problem.weights, self._min_size(problem))
        kept = labels >= 0
        if self.strays == "nearest":
            labels = join_strays(labels, ends, problem.weights, firsts, self._n_threads)

        self._fitted_ = Fitted(
            problem._replace(points=self._field_positions(problem, outcome.ends)), ends, labels
        )
        modes = from_units(outcome.ends, problem, dtype)
        self.labels_ = labels if cells is None else cells.spread(labels)
        self.modes_ = modes if cells is None else cells.spread(modes)
        self.cluster_centers_ = from_units(
            self._centers(outcome.ends, np.where(kept, labels, -1), problem.weights),
            problem,
            dtype,
        )
        self._set_facts(problem, bandwidth, outcome)
        if confidence is not None:
            self.confidence_ = confidence if cells is None else cells.spread(confidence)
        if outcome.paths is not None:
            self.paths_ = [from_units(path, problem, dtype) for path in outcome.paths]

    def _set_facts(self, problem: Problem, bandwidth: Any, outcome: Any) -> None:
        """Set the numbers of a fit."""
        self.bandwidth_ = float(np.max(bandwidth))
        self.scale_ = float(np.ldexp(problem.scale, problem.exponent))
        self.n_iter_ = outcome.n_iter
        self.n_steps_ = outcome.n_steps
        self.converged_ = outcome.converged

    def _reporter(
        self, problem: Problem, cells: Cells | None, dtype: np.dtype
    ) -> Callable[..., None] | None:
        """Return what tells the callback about a sweep, in the units of the user."""
        callback = self.callback
        if callback is None:
            return None
        length = float(self.merge_radius) * problem.scale

        def report(positions: np.ndarray, factors: np.ndarray | None, **numbers: int) -> None:
            def count_clusters() -> int:
                measured = problem._replace(factors=factors).measured(positions)
                return int(connected_components(measured, length).max()) + 1

            shown = from_units(positions, problem, dtype)
            if cells is not None and len(positions) == len(cells.points):
                shown = cells.spread(shown)
            callback(
                Progress(
                    max_iter=self.max_iter,
                    positions=shown,
                    count_clusters=count_clusters,
                    **numbers,
                )
            )

        return report

    def _make_checkpoint(self, problem: Problem, bandwidth: Any) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        parameters = self.get_params(deep=False)
        random_state = parameters.pop("random_state", None)
        for name in ("n_jobs", "callback", "checkpoint", "checkpoint_every"):  # change no result
            del parameters[name]
        mark = fingerprint(
            type(self).__name__,
            *(part for item in sorted(parameters.items()) for part in item),
            random_state if isinstance(random_state, Integral) else None,
            problem.points,
            problem.weights,
            bandwidth,
        )
        return Checkpoint(self.checkpoint, float(self.checkpoint_every), mark)

    def _pose(self, X: np.ndarray, weights: np.ndarray) -> tuple[Any, Problem]:
        """Return the bandwidth, as users give it, and the problem in its units."""
        points = normalised(X, "X") if self._on_sphere else X
        bandwidth = self._choose_bandwidth(points, weights)
        radius = scale = float(self._as_length(np.max(bandwidth)))
        if radius == np.inf:
            assert self.n_neighbors_ is not None
            scale = nearest_scale(points, weights, self.n_neighbors_, self._n_threads)
            scale *= self._shrinkage(X.shape[1])
        units = choose_units(points, weights, scale)
        if self._on_sphere:
            units = units._replace(length=0)
        points, weights = to_units(points, units.length), np.ldexp(weights, -units.weight)
        return bandwidth, self._problem(points, weights, radius, scale, units)

    def _problem(
        self, points: np.ndarray, weights: np.ndarray, radius: float, scale: float, units: Units
    ) -> Problem:
        """State the problem; points and weights are in its units already, lengths are not."""
        return Problem(
            points=points,
            weights=weights,
            radius=float(np.ldexp(radius, -units.length)),
            scale=float(np.ldexp(scale, -units.length)),
            exponent=units.length,
            weight_exponent=units.weight,
            rule=self._rule(weights, units),
        )

    def _rule(self, weights: np.ndarray, units: Units) -> Rule:
        space = Sphere() if self._on_sphere else Plane()
        ball = Gaussian(space) if self.kernel == "gaussian" else Flat(space)
        if self.n_neighbors_ is None:
            return ball
        return nearest(ball, float(np.ldexp(float(self.n_neighbors_), -units.weight)), weights)

    def _placed(self, positions: np.ndarray, name: str, problem: Problem) -> np.ndarray:
        """Bring positions that users give to where distances are measured."""
        if isinstance(problem.rule.space, Sphere):
            positions = normalised(positions, name)
        return problem.measured(to_units(positions, problem.exponent))

    def _centers(self, ends: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        centers = cluster_centers(ends, labels, weights)
        if not self._on_sphere:
            return centers
        firsts = np.unique(labels[labels >= 0], return_index=True)[1]
        return put_back(centers, ends[labels >= 0][firsts])

    @property
    def _on_sphere(self) -> bool:
        return self.metric == "cosine"

    def _as_length(self, bandwidth: Any) -> Any:
        """Return the length that a bandwidth means, in the units of the user."""
        return chord(bandwidth, self.kernel) if self._on_sphere else bandwidth

    def _check_parameters(self) -> None:
        check_real("tol", self.tol, low=0.0, high=1.0)
        check_real("merge_radius", self.merge_radius, low=0.0)
        check_whole("max_iter", self.max_iter, low=1)
        check_whole("min_cluster_size", self.min_cluster_size, low=1)
        check_choice("strays", self.strays, ("noise", "nearest"))
        if self.resolution is not None:
            check_real("resolution", self.resolution, low=0.0, low_allowed=False)
        check_choice("kernel", self.kernel, _KERNELS)
        check_choice("metric", self.metric, _METRICS)
        if self.n_neighbors is not None:
            check_whole("n_neighbors", self.n_neighbors, low=1)
        check_choice("field", self.field, ("auto", *FIELDS))
        check_flag("record", self.record)
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function or None, got {self.callback!r}.")
        if not isinstance(self.checkpoint, str | PathLike | None):
            raise TypeError(f"checkpoint must be a path or None, got {self.checkpoint!r}.")
        check_real("checkpoint_every", self.checkpoint_every, low=0.0)
        check_jobs(self.n_jobs)
        check_choice("device", self.device, DEVICES)
        check_choice("precision", self.precision, PRECISIONS)

    def _choose_bandwidth(
        self, points: np.ndarray, weights: np.ndarray, plain: bool = False
    ) -> Any:
        """Return the bandwidth, as users give it; set ``n_neighbors_``, and how it was chosen.

        ``plain`` chooses no number of neighbours.
        """
        self.n_neighbors_ = self.n_neighbors
        if self.bandwidth is None:
            self.profile_ = profile_of(self, points, weights, plain=plain)
            self.n_neighbors_ = self.profile_.n_neighbors
            return self.profile_.bandwidth
        bandwidth = self._check_bandwidth(
            cosine=self._on_sphere, infinite=self.n_neighbors is not None
        )
        if np.max(bandwidth) == np.inf:
            self._check_infinite()
        return bandwidth

    def _bandwidth_for(self, radius: float, dimension: float, n_features: int) -> float:
        """Return the bandwidth that is like a flat ball of the radius, for data of a dimension.

        Flat mean-shift climbs the density of the Epanechnikov kernel, whose variance in each
        direction is radius^2 / (dimension + 4); a Gaussian of the same variance is like it.
        """
        length = radius * self._shrinkage(n_features)
        if self.kernel == "gaussian":
            length /= np.sqrt(dimension + 4.0)
        if not self._on_sphere:
            return float(length)
        share = 1.0 if self.kernel == "gaussian" else 0.5
        return float(min(share * length * length, 2.0))

    def _trial(self, bandwidth: float, n_neighbors: int | None) -> Self:
        """Return the same estimator for a sample: a bandwidth set, and every point for itself."""
        settings = {
            "bandwidth": bandwidth,
            "n_neighbors": n_neighbors,
            "max_iter": min(self.max_iter, _TRIAL_SWEEPS),
            "min_cluster_size": 1,
            "resolution": None,
            "record": False,
            "seeding": None,
            "n_climbers": None,
            "random_state": 0,
            "n_runs": 1,
            "callback": None,
            "checkpoint": None,
            "device": "cpu",
        }
        known = self.get_params(deep=False)
        return type(self)(**{name: settings.get(name, value) for name, value in known.items()})

    def _label(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Label points that are known to be sound: what a fit does, without what it sets."""
        bandwidth, problem = self._pose(points, weights)
        components = self._cluster(problem, bandwidth, UNWATCHED).components
        return label_components(components, problem.weights)

    def _shrinkage(self, n_features: int) -> float:
        """Return by what distances at the start are shorter than Euclidean ones."""
        return 1.0

    def _check_bandwidth(self, **limits: bool) -> Any:
        return check_bandwidth(self.bandwidth, **limits)

    def _check_infinite(self) -> None:
        """Refuse what needs a length where the bandwidth is infinite."""
        if self.kernel == "gaussian":
            refuse(
                "bandwidth=inf", "kernel='gaussian'",
                "all points would weigh alike. Give a finite bandwidth or take kernel='flat'.",
            )  # fmt: skip
        if self.resolution is not None:
            refuse(
                "bandwidth=inf", f"resolution={self.resolution!r}",
                "cells are a fraction of the bandwidth. Give a finite one or resolution=None.",
            )  # fmt: skip

    def _make_field(self, problem: Problem) -> Field:
        return make_field(
            problem.measured(problem.points), problem.weights, problem.radius,
            self.field, self._n_threads, problem.rule,
        )  # fmt: skip

    @property
    def _n_threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _min_size(self, problem: Problem) -> float:
        """Weight, in the units of the problem, below which a cluster is noise; 1 keeps all."""
        if self.min_cluster_size == 1:
            return 0.0
        return float(np.ldexp(float(self.min_cluster_size), -problem.weight_exponent))

    def _nearest_center(self, starts: np.ndarray) -> np.ndarray:
        if len(self.cluster_centers_) == 0:
            return np.full(len(starts), -1)
        problem = self._fitted_.problem
        centers = problem.measured(to_units(self.cluster_centers_, problem.exponent))
        return nearest_rows(centers, starts, self._n_threads)

    def _forget(self) -> None:
        """Delete what a fit has set: by scikit-learn's convention, all that ends in "_"."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
