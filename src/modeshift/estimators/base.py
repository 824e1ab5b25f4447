"""The base of the three estimators: parameters become a Spec, a Fit becomes attributes."""

import warnings
from abc import abstractmethod
from dataclasses import fields, replace
from numbers import Integral
from threading import Lock
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from modeshift.checks import check_bandwidth
from modeshift.choice.profile import BandwidthProfile, profile_of
from modeshift.engines.choose import choose_engine, choose_predictor
from modeshift.engines.cpu.engine import label
from modeshift.engines.protocol import Engine, Index
from modeshift.estimators.notebook import ShowsClusters
from modeshift.estimators.validation import check_points, check_randomness
from modeshift.estimators.warnings import (
    warn_of_different_scales,
    warn_of_no_clusters,
    warn_of_one_cluster,
    warn_of_too_few,
)
from modeshift.parameters import (
    PARAMETERS,
    check_each,
    check_together,
    names_where,
    refusal_of_foreign,
)
from modeshift.spec import Climb, Fit, Sampled, Schedule, Spec, Wander
from modeshift.watching.observer import Checkpoint, Observer, sorted_callbacks

_FINER = 4  # times the bandwidths, if none gives the wished number of clusters
_TOL_OF_TEST = {False: 1e-3, True: 0.01}  # in few and in many dimensions, as the limit was fitted
_TOL_OF_TRIALS, _BATCH_OF_TRIALS = 0.03, 24  # of trials with a number of neighbours


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
        """
        forget(self)
        try:
            self._fit(X, sample_weight)
            if not self.converged_:
                warnings.warn(
                    f"{type(self).__name__} did not converge within max_iter={self.max_iter}; "
                    "the labels are not final. Raise max_iter or tol.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        except BaseException:  # Ctrl-C too: fitted or not, never halfway
            forget(self)
            raise
        return self

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
        }
        for name, value in optional.items():
            if value is not None:
                setattr(self, name, value)


class IndexCache:
    """The index that labels new points, built once and kept. It is not pickled."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Spec, Index]] = {}
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


def index_and_data(
    estimator: ModeSeeker, model: Any, cache: IndexCache, X: Any
) -> tuple[Index, Any]:
    """Return the index of a model, and new points as its engine takes them."""
    values = estimator._checked_values()
    engine = choose_predictor(values, X, model)
    spec = estimator._spec(values, estimator.n_features_in_)
    spec = spec.for_prediction(model.on_sphere, model.feature_scale)
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


def asked_to_profile(estimator: ModeSeeker, n_features: int) -> tuple[Spec, float | None, Observer]:
    """Return the Spec of an estimator without a bandwidth, the level of its test, its observer."""
    values = check_each(estimator.get_params(deep=False) | {"bandwidth": None})
    check_together(values)
    return estimator._spec(values, n_features), values["significance"], estimator._observer(values)


def chosen_spec(spec: Spec, profile: BandwidthProfile, engine: str) -> Spec:
    """Return the spec with the choice of the profile; dust does not count as clusters.

    Partitions cannot look for the nearest cluster of a stray, so strays are noise there.
    """
    if spec.n_clusters is not None:
        bandwidth, n_neighbors, smallest = profile.pick(spec.n_clusters)
    else:
        bandwidth, n_neighbors = profile.bandwidth, profile.n_neighbors
        smallest = profile.smallest_cluster
        if profile.one_cluster:
            warn_of_one_cluster(profile)
    spec = spec.with_bandwidth(bandwidth, n_neighbors or spec.n_neighbors)
    return spec.with_small_clusters(smallest, "noise" if engine == "rounds" else "nearest")


def profile_for(spec: Spec, sampled: Sampled, **settings: Any) -> BandwidthProfile:
    """Choose a bandwidth for a Spec on some points; return the profile.

    If no bandwidth gives the wished number of clusters, four times as many bandwidths are tried.
    """
    profile = _profile_for(spec, sampled, **settings)
    if spec.n_clusters is None or profile.gives(spec.n_clusters):
        return profile
    n_bandwidths = _FINER * len(profile.chosen.bandwidths)
    return _profile_for(spec, sampled, **(settings | {"n_bandwidths": n_bandwidths}))


def _profile_for(spec: Spec, sampled: Sampled, **settings: Any) -> BandwidthProfile:
    flat = replace(spec, schedule=Climb(), kernel="flat")

    def label_at(points: np.ndarray, weights: np.ndarray, bandwidth: float, k: Any) -> np.ndarray:
        trial = spec.for_trial(bandwidth, k)
        return label(trial if k is None else _in_haste(trial, len(points)), points, weights)

    def label_plainly(
        points: np.ndarray, weights: np.ndarray, radius: float, many: bool
    ) -> np.ndarray:
        bandwidth = flat.bandwidth_for(radius, 0.0, points.shape[1])
        trial = replace(flat.for_trial(bandwidth, None), tol=_TOL_OF_TEST[many])
        return label(trial, points, weights)

    return profile_of(
        label_at,
        label_plainly,
        spec.bandwidth_for,
        sampled,
        is_plain=isinstance(spec.schedule, Climb) and spec.kernel == "flat",
        n_neighbors=spec.n_neighbors,
        on_sphere=spec.on_sphere,
        **settings,
    )


def _in_haste(trial: Spec, n_points: int) -> Spec:
    """Return a trial that takes two thirds of the time, for many dimensions.

    Climbs end at 3% of the bandwidth, and of the stochastic schedule a 24th of the points (64 of
    1,500) moves at once.
    """
    schedule = trial.schedule
    if isinstance(schedule, Wander) and schedule.batch_size is None:
        schedule = replace(schedule, batch_size=max(1, n_points // _BATCH_OF_TRIALS))
    return replace(trial, schedule=schedule, tol=max(trial.tol, _TOL_OF_TRIALS))
