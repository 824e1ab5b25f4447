"""The base of the three estimators: parameters become a Spec, a Fit becomes attributes."""

import os
import warnings
from abc import abstractmethod
from dataclasses import fields
from numbers import Integral
from threading import Lock
from typing import Any, NamedTuple, Self
from weakref import WeakSet

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from modeshift.checks import check_bandwidth, check_real
from modeshift.choice.profile import BandwidthProfile
from modeshift.engines.choose import choose_engine, choose_predictor
from modeshift.engines.cpu.chart import Chart
from modeshift.engines.cpu.data import take_in
from modeshift.engines.cpu.engine import CpuEngine
from modeshift.engines.cpu.stream import Stream
from modeshift.engines.protocol import Engine, Index
from modeshift.estimators.choosing import chosen_spec, profile_for
from modeshift.estimators.notebook import ShowsClusters
from modeshift.estimators.streaming import (
    check_cells,
    check_goes_on,
    needs_cells,
    stream_engine,
)
from modeshift.estimators.validation import as_places, check_points, check_randomness
from modeshift.estimators.warnings import (
    warn_of_different_scales,
    warn_of_no_clusters,
    warn_of_too_few,
)
from modeshift.parameters import (
    PARAMETERS,
    check_each,
    check_together,
    names_where,
    refusal_of_foreign,
)
from modeshift.spec import Climb, Fit, Schedule, Spec
from modeshift.watching.observer import Checkpoint, Observer, sorted_callbacks

_OF_CLUSTERS = {
    *("labels_", "modes_", "cluster_centers_", "scale_", "n_iter_", "n_steps_", "converged_"),
    *("paths_", "feature_weights_", "_model_", "_index_"),
}
"""Fitted attributes that ``partial_fit`` leaves to be computed when one of them is asked for."""


class ModeSeeker(ShowsClusters, ClusterMixin, BaseEstimator):
    """Base of the mean-shift estimators. A subclass chooses the schedule."""

    _callbacks: tuple[Any, ...] = ()

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse scikit-learn's names of parameters, and name ours; ``__init__`` has no logic."""
        refusal = refusal_of_foreign(cls.__name__, cls._get_param_names(), given)
        if refusal is not None:
            raise TypeError(refusal)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn's estimators do.

        Parameters
        ----------
        **params : values
            By the name of the parameter.

        Returns
        -------
        self
        """
        name = type(self).__name__
        refusal = refusal_of_foreign(name, self._get_param_names(), params)
        if refusal is not None:
            raise ValueError(refusal)
        return super().set_params(**params)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of this estimator. They replace all earlier ones.

        ``clone`` keeps callbacks, and :func:`modeshift.save` leaves them out.

        Parameters
        ----------
        *callbacks : functions, and at most one Checkpoint
            A function is called after every sweep with a :class:`modeshift.watching.Progress`. A
            :class:`modeshift.ProgressBar` shows how far the fit is. A
            :class:`modeshift.Checkpoint` keeps the state of the fit in a file, and a later fit
            continues from that file.

        Returns
        -------
        self

        Examples
        --------
        >>> from modeshift import BlurringMeanShift
        >>> sweeps = []
        >>> model = BlurringMeanShift(bandwidth=1.0)
        >>> model = model.set_callbacks(lambda state: sweeps.append(state.sweep))
        >>> model = model.fit([[1.0, 1.0], [1.2, 0.9], [8.0, 8.0]])
        >>> sweeps
        [1, 2]
        """
        sorted_callbacks(callbacks)
        self._callbacks = callbacks
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted estimator with the same parameters and callbacks."""
        return super().__sklearn_clone__().set_callbacks(*self._callbacks)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array or dataframe
            The points. float32 stays float32; all other types become float64. For Dask data,
            ``labels_`` and ``modes_`` are lazy Dask arrays with the chunks of X; see docs/scale.md.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Weight of each point in every mean. A point of weight 0 climbs but attracts no other.

        Returns
        -------
        self

        Examples
        --------
        >>> from modeshift import MeanShift
        >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
        >>> model = MeanShift(bandwidth=1.0).fit(X)
        >>> model.labels_
        array([1, 1, 0, 0, 0])
        >>> model.cluster_centers_
        array([[8.  , 8.1 ],
               [1.1 , 0.95]])
        """
        forget(self)
        try:
            self._fit(X, sample_weight)
            self._warn_unless_converged()
        except BaseException:  # Ctrl-C too: fitted or not, never halfway
            forget(self)
            raise
        return self

    @needs_cells
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, half_life: float | None = None
    ) -> Self:
        """Add a batch of points to those of all earlier batches, and of ``fit``.

        It needs ``resolution`` and ``bandwidth``. Points are kept as sums of cells, so memory grows
        with the occupied cells and not with the points. The model is that of one fit to all
        points, bit for bit, whatever the sizes and the order of the batches. (If two clusters have
        exactly the same size, the one that came first has the lower number.) See docs/streams.md.

        Clusters are computed when a fitted attribute or a prediction is next asked for.
        ``labels_`` and ``modes_`` are then those of the points of the last batch; ``predict``
        labels all others. ``n_samples_seen_`` is the number of points so far.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The batch.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Weight of each point.
        half_life : float, default=None
            Number of points after which the weight of a point has halved: each point of this batch
            multiplies the weights of all points before it by 2^(-1 / half_life). Cells go 20
            half-lives after their last point. None: the batch ages no point.

        Returns
        -------
        self

        Examples
        --------
        >>> from modeshift import MeanShift
        >>> model = MeanShift(bandwidth=1.0, resolution=8)
        >>> model = model.partial_fit([[1.0, 1.0], [8.0, 8.0]])
        >>> model = model.partial_fit([[1.1, 1.0], [8.1, 8.0], [7.9, 8.1]])
        >>> model.n_samples_seen_, len(model.cluster_centers_)
        (5, 2)
        """
        was_fitted = any(name.endswith("_") for name in vars(self))
        try:
            spec, stream, data = self._batch(X, sample_weight)
            if half_life is not None:
                half_life = check_real("half_life", half_life, low=1.0)
        except BaseException:
            if not was_fitted:
                forget(self)
            raise
        try:
            stream.add(data, half_life)
        except BaseException:  # Ctrl-C: some of the batch may be in the sums
            forget(self)
            raise
        self._publish_stream(spec, stream)
        return self

    def __getattr__(self, name: str) -> Any:
        """Cluster the cells of a stream when one of the attributes of a fit is asked for."""
        waits = "_stream_" in vars(self) and "_model_" not in vars(self)
        if waits and name in _OF_CLUSTERS:
            self._fit_stream()
            if name in vars(self):
                return vars(self)[name]
        if name == "partial_fit":  # its own error; Python hides an AttributeError of a descriptor
            check_cells(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict(self, X: Any, *, outliers: str | int = "nearest") -> np.ndarray:
        """Label new points: the ten nearest fitted points vote with weight / distance.

        On the fitted points this gives ``labels_``. With ``resolution`` a point in an occupied cell
        has the label of the cell.

        Parameters
        ----------
        X : array-like of shape (m, d), or Dask array or dataframe
            New points.
        outliers : "nearest" or -1, default="nearest"
            Label of points that are further than the bandwidth from every fitted point. "nearest":
            by the vote, as all others.

        Returns
        -------
        ndarray of shape (m,), or lazy Dask array with the chunks of X
            Labels; -1 is noise (see ``min_cluster_size`` and ``strays``) or an outlier.

        Examples
        --------
        >>> from modeshift import MeanShift
        >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
        >>> model = MeanShift(bandwidth=1.0).fit(X)
        >>> model.predict([[1.1, 1.1], [9.5, 9.5]])
        array([1, 0])
        >>> model.predict([[1.1, 1.1], [9.5, 9.5]], outliers=-1)
        array([ 1, -1])
        """
        check_is_fitted(self)
        return label_new(self, self._model_, self._index_, X, outliers)

    def membership(self, X: Any) -> np.ndarray:
        """Return how strongly new points belong to each cluster.

        The strength is the share of the votes that the cluster gets in ``predict``. The shares of
        a point add up to 1, less the share of noise.

        Parameters
        ----------
        X : array-like of shape (m, d), or Dask array or dataframe
            New points.

        Returns
        -------
        ndarray of shape (m, n_clusters), or lazy Dask array with the chunks of X

        Examples
        --------
        >>> from modeshift import MeanShift
        >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
        >>> model = MeanShift(bandwidth=1.0).fit(X)
        >>> model.membership([[1.1, 1.1], [4.5, 4.5]]).round(2)
        array([[0.03, 0.97],
               [0.6 , 0.4 ]])
        """
        check_is_fitted(self)
        index, data = index_and_data(self, self._model_, self._index_, X)
        return index.membership(data)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the logarithm of the density at new points, by the kernel of the fit.

        With the flat kernel the density is the share of the fitted weight within the bandwidth,
        divided by the volume of the ball. It is -inf where no fitted point is near. If the
        bandwidth is infinite, ``scale_`` takes its place. With ``metric="cosine"`` distances are
        chords, and the density is only known up to a factor.

        Parameters
        ----------
        X : array-like of shape (m, d), or Dask array or dataframe
            New points.

        Returns
        -------
        ndarray of shape (m,), or lazy Dask array with the chunks of X

        Examples
        --------
        >>> from modeshift import MeanShift
        >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
        >>> model = MeanShift(bandwidth=1.0).fit(X)
        >>> model.score_samples([[8.0, 8.1], [4.5, 4.5]]).round(2)
        array([-1.66,  -inf])
        """
        check_is_fitted(self)
        index, data = index_and_data(self, self._model_, self._index_, X)
        return index.log_density(data)

    @abstractmethod
    def _schedule(self, values: dict[str, Any]) -> Schedule:
        """Return the schedule that checked parameters describe."""

    def _check_bandwidth(self, bandwidth: Any, **limits: bool) -> Any:
        """Return a bandwidth that is not None as a float (or a pair of them)."""
        return check_bandwidth(bandwidth, **limits)

    def _fit(self, X: Any, sample_weight: Any) -> None:
        """Choose the engine and, without a bandwidth, the bandwidth; fit; set the attributes."""
        values = self._checked_values()
        X = as_places(X, values["metric"])
        engine = choose_engine(values, X)
        checked = check_points(self, engine.example(X), reset=True)
        spec, profile = self._spec(values, self.n_features_in_), None
        observer = self._observer(values)
        with observer.fitting("step" if isinstance(spec.schedule, Climb) else "sweep"):
            data = engine.take_in(spec, X, checked, sample_weight)
            if spec.bandwidth is None:
                sampled = engine.sample(spec, data)
                warn_of_different_scales(
                    sampled.points, getattr(self, "feature_names_in_", None), spec
                )
                profile = profile_for(
                    spec,
                    sampled,
                    level=values["significance"],
                    progress=observer.tell_choice,
                )
                spec = chosen_spec(spec, profile, engine.name)
            spec = spec.with_small_clusters(1, "noise")
            rng = check_randomness(values.get("random_state"))
            fit = engine.fit(spec, data, rng, observer)
        self._publish(fit, engine.name, spec, profile)
        warn_of_no_clusters(fit, spec)
        warn_of_too_few(fit, spec, is_chosen=profile is not None)

    def _batch(self, X: Any, sample_weight: Any) -> tuple[Spec, Stream, Any]:
        """Check a batch; return the Spec, the stream so far, and the points as they are added."""
        values, stream = self._checked_values(), vars(self).get("_stream_")
        X = as_places(X, values["metric"])
        engine = stream_engine(values, X)
        checked = check_points(self, X, reset=stream is None)
        spec = self._spec(values, self.n_features_in_).with_small_clusters(1, "noise")
        check_goes_on(stream, spec, "_model_" in vars(self))
        data = take_in(spec, checked, sample_weight, part=True)
        stream = stream or engine.begin(spec, data)
        stream.check(data)
        return spec, stream, data

    def _fit_stream(self) -> None:
        """Cluster the cells of the stream, by the parameters of the last ``partial_fit``."""
        spec, stream = self._spec_, self._stream_
        observer = self._observer(self._checked_values())
        rng = check_randomness(getattr(self, "random_state", None))
        with observer.fitting("step" if isinstance(spec.schedule, Climb) else "sweep"):
            fit = CpuEngine().fit_stream(spec, stream, rng, observer)
        self._publish(fit, CpuEngine.name, spec, None)
        warn_of_no_clusters(fit, spec)
        warn_of_too_few(fit, spec, is_chosen=False)
        self._warn_unless_converged()

    def _warn_unless_converged(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} did not converge within max_iter={self.max_iter}; "
                "the labels are not final. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _checked_values(self) -> dict[str, Any]:
        """Return all parameters, checked one by one and together."""
        own = self.get_params(deep=False)  # a subclass may have more than the table knows
        known = {name: value for name, value in own.items() if name in PARAMETERS}
        values = check_each(known | {"checkpoint": checkpoint_of(self)})
        if values["bandwidth"] is not None:
            values["bandwidth"] = self._check_bandwidth(
                values["bandwidth"],
                cosine=values["metric"] == "cosine",
                infinite=values["n_neighbors"] is not None,
            )
        check_together(values)
        return values

    def _spec(self, values: dict[str, Any], n_features: int) -> Spec:
        """Return the Spec of checked parameters."""
        taken = {part.name: values[part.name] for part in fields(Spec) if part.name in values}
        scale = values["feature_scale"]
        if scale is not None and len(scale) != n_features:
            raise ValueError(
                f"feature_scale must have one number for each of the {n_features} features of X, "
                f"got {len(scale)}."
            )
        taken |= {
            "schedule": self._schedule(values),
            "n_threads": int(effective_n_jobs(values["n_jobs"])),
        }
        return Spec(**taken)

    def _observer(self, values: dict[str, Any]) -> Observer:
        """Return the observer: callbacks, checkpoint, and the mark that identifies the fit."""
        decisive = names_where(changes_result=True)
        marked = {name: values[name] for name in sorted(decisive & set(values))}
        seed = marked.pop("random_state", None)
        parts = [part for item in marked.items() for part in item]
        callbacks, checkpoint = sorted_callbacks(self._callbacks)
        mark = (type(self).__name__, *parts, int(seed) if isinstance(seed, Integral) else None)
        return Observer(callbacks, checkpoint, mark)

    def _publish(self, fit: Fit, engine: str, spec: Spec, profile: BandwidthProfile | None) -> None:
        """Set the fitted attributes. No other place does."""
        self.labels_ = fit.labels
        self.modes_ = fit.modes
        self.cluster_centers_ = fit.centers
        self.bandwidth_ = float(np.max(spec.bandwidth))
        self.n_neighbors_ = spec.n_neighbors
        self.scale_ = fit.scale
        self.n_iter_ = fit.n_iter
        self.n_steps_ = fit.n_steps
        self.converged_ = fit.converged
        self.engine_ = engine
        self._model_ = fit.model
        self._index_ = IndexCache()
        optional = {
            "profile_": profile,
            "chosen_": None if profile is None else spec.chosen(),
            "paths_": fit.paths,
            "feature_weights_": fit.feature_weights,
            "_stream_": fit.stream,
        }
        for name, value in optional.items():
            if value is not None:
                setattr(self, name, value)

    def _publish_stream(self, spec: Spec, stream: Stream) -> None:
        """Set the fitted attributes that need no clusters, and delete the others."""
        for name in _OF_CLUSTERS & vars(self).keys():
            delattr(self, name)
        self.bandwidth_ = float(np.max(spec.bandwidth))
        self.n_neighbors_ = spec.n_neighbors
        self.n_samples_seen_ = stream.n_seen
        self.engine_ = CpuEngine.name
        self._stream_, self._spec_ = stream, spec


class IndexCache:
    """The index that labels new points, built once and kept. It is not pickled."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Spec, Index]] = {}
        self.unlock()
        _CACHES.add(self)

    def unlock(self) -> None:
        """Take a new lock: in a forked process nobody is left who would open the old one."""
        self._lock = Lock()

    def get(self, engine: Engine, spec: Spec, model: Any) -> Index:
        """Return the index of a model: the kept one of the engine, if the spec is the same."""
        with self._lock:
            kept, index = self._kept.get(engine.name, (None, None))
            if index is None or kept != spec:
                index = engine.index(spec, model)
                self._kept[engine.name] = (spec, index)
            return index

    def __reduce__(self) -> tuple[type, tuple]:
        return IndexCache, ()


_CACHES: WeakSet[IndexCache] = WeakSet()


def _unlock_all() -> None:
    for cache in list(_CACHES):
        cache.unlock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)


def index_and_data(
    estimator: ModeSeeker, model: Any, cache: IndexCache, X: Any
) -> tuple[Index, Any]:
    """Return the index of a model, and new points as its engine takes them."""
    values = estimator._checked_values()
    X = as_places(X, model.metric)
    engine = choose_predictor(values, X, model)
    spec = estimator._spec(values, estimator.n_features_in_)
    spec = spec.for_prediction(model.metric, model.feature_scale)
    checked = check_points(estimator, engine.example(X), reset=False)
    data = engine.take_in(spec, X, checked, None)
    return cache.get(engine, spec, model), data


def label_new(
    estimator: ModeSeeker, model: Any, cache: IndexCache, X: Any, outliers: str | int
) -> Any:
    """Label new points by a model; see :meth:`ModeSeeker.predict`."""
    if not (outliers == "nearest" or (outliers == -1 and not isinstance(outliers, bool))):
        raise ValueError(f"outliers must be 'nearest' or -1, got {outliers!r}.")
    index, data = index_and_data(estimator, model, cache, X)
    return index.label(data, outliers=outliers == -1)


def forget(estimator: Any) -> None:
    """Delete the fitted attributes: by scikit-learn's convention, all names that end in "_"."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def checkpoint_of(estimator: ModeSeeker) -> Checkpoint | None:
    """Return the checkpoint among the callbacks of an estimator, or None."""
    return sorted_callbacks(estimator._callbacks)[1]


def model_of(estimator: Any) -> Any:
    """Return what ``predict`` of a fitted estimator needs; None if there is nothing."""
    return getattr(estimator, "_model_", None)


class FittedCells(NamedTuple):
    """The cells of a fit with ``resolution``, in the units of the user: means, weights, labels."""

    points: np.ndarray
    weights: np.ndarray
    labels: np.ndarray


def cells_of(estimator: ModeSeeker) -> FittedCells:
    """Return the cells of an estimator that was fitted with ``resolution``."""
    model = estimator._model_
    problem = model.problem
    chart = Chart(model.metric, model.feature_scale)
    return FittedCells(
        chart.rows(np.ldexp(problem.points, problem.exponent)),
        np.ldexp(problem.weights, problem.weight_exponent),
        model.labels,
    )


def asked_to_profile(estimator: ModeSeeker, n_features: int) -> tuple[Spec, float | None, Observer]:
    """Return the Spec of an estimator without a bandwidth, the level of its test, its observer."""
    values = check_each(estimator.get_params(deep=False) | {"bandwidth": None})
    check_together(values)
    return estimator._spec(values, n_features), values["significance"], estimator._observer(values)
