"""Consensus: several runs of one estimator, joined into one labelling."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from modeshift.checks import check_weights, check_whole, refuse
from modeshift.engines.cpu.chart import Chart
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.finish import (
    cluster_centers,
    join_strays,
    label_components,
    number_by_first,
)
from modeshift.engines.kinds import is_dask, is_tensor
from modeshift.engines.prediction import VOTERS
from modeshift.estimators.base import (
    IndexCache,
    ModeSeeker,
    checkpoint_of,
    forget,
    index_and_data,
    label_new,
    model_of,
)
from modeshift.estimators.notebook import ShowsClusters
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.estimators.validation import as_places, check_points, check_randomness
from modeshift.estimators.voting import Votes, join_runs
from modeshift.estimators.warnings import warn_of_lost_clusters


def _seeks_modes(consensus: Any) -> bool:
    """Return whether the runs are mean-shift; other estimators have no bandwidth."""
    return consensus.estimator is None or isinstance(consensus.estimator, ModeSeeker)


class Consensus(ShowsClusters, ClusterMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator several times with different seeds, and let the runs vote on each point.

    The run that agrees best with the others (adjusted Rand index) is the reference. A cluster of
    any run stands for the cluster of the reference with which it shares most weight, and every
    point joins the cluster that most runs put it in. A stray of one run therefore joins the cluster
    that it has in most other runs.

    Parameters
    ----------
    estimator : estimator, default=None
        Any clusterer with ``random_state`` and ``labels_``. None: ``StochasticMeanShift()``.
    n_runs : int, default=10
        Number of runs.
    random_state : int, RandomState instance or None, default=None
        Seed for all runs, which draw one after the other. The ``random_state`` of the estimator is
        not used.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point; 0 is the largest cluster. -1 where most runs found no cluster.
    confidence_ : ndarray of shape (n,)
        Share of the runs that vote for the cluster of each point.
    estimator_ : estimator
        The reference: the run that agrees best with the others.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Mean of the modes that the points of each cluster have in the reference. For an estimator
        without ``modes_``: mean of the points.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Notes
    -----
    All other fitted attributes, such as ``bandwidth_`` and ``modes_``, come from the run that
    agrees best with the others. ``converged_`` is True if all runs converged. With
    ``bandwidth=None`` the first run chooses the bandwidth for all.

    Examples
    --------
    >>> from modeshift import Consensus, StochasticMeanShift
    >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
    >>> Consensus(StochasticMeanShift(bandwidth=1.0), n_runs=5, random_state=0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    def __init__(
        self, estimator: Any = None, *, n_runs: int = 10, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.n_runs = n_runs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Weight of each point, in the fits and in the votes.

        Returns
        -------
        self
        """
        forget(self)
        try:
            self._fit(X, sample_weight)
        except BaseException:  # Ctrl-C too: fitted or not, never halfway
            forget(self)
            raise
        return self

    def predict(self, X: Any, *, outliers: str | int = "nearest") -> np.ndarray:
        """Label new points: the ten nearest fitted points vote with weight / distance.

        On the fitted points this gives ``labels_``.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points.
        outliers : "nearest" or -1, default="nearest"
            Label of points that are further than the bandwidth from every fitted point. -1 needs a
            mean-shift estimator.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self)
        X = as_places(X, getattr(self.estimator_, "metric", None))
        checked = check_points(self, X, reset=False)
        if self._model_ is not None:
            return label_new(self.estimator_, self._model_, self._index_, X, outliers)
        if outliers != "nearest":
            raise ValueError(
                f"outliers={outliers!r} needs a bandwidth, and {type(self.estimator_).__name__} "
                "has none."
            )
        return self._voters_.predict(checked)

    @available_if(_seeks_modes)
    def membership(self, X: Any) -> np.ndarray:
        """Return how strongly new points belong to each cluster; see :meth:`MeanShift.membership`.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points.

        Returns
        -------
        ndarray of shape (m, n_clusters)
        """
        check_is_fitted(self)
        index, data = index_and_data(self.estimator_, self._model_, self._index_, X)
        return index.membership(data)

    @available_if(_seeks_modes)
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the logarithm of the density; see :meth:`MeanShift.score_samples`.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self)
        return self.estimator_.score_samples(X)

    def _fit(self, X: Any, sample_weight: Any) -> None:
        """Fit all runs, let them vote, and publish."""
        check_whole("n_runs", self.n_runs, low=1)
        if is_dask(X) or is_tensor(X):
            raise TypeError(
                f"Consensus needs an array in memory, got {type(X).__name__}; convert X first."
            )
        X = as_places(X, getattr(self.estimator, "metric", None))
        points = check_points(self, X, reset=True)
        weights = check_weights(sample_weight, len(points))
        runs = self._runs(X, sample_weight)
        # Clusters are numbered by first appearance. No cluster (-1) is a group of its own.
        groups = np.column_stack([_by_first(run.labels_) for run in runs])
        self._publish(runs, join_runs(groups, weights), points, weights)
        warn_of_lost_clusters(self, self.estimator)

    def _runs(self, X: Any, sample_weight: Any) -> list[Any]:
        """Return the fitted runs. All of them draw from one generator."""
        estimator = self._checked_estimator()
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if given and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{type(estimator).__name__} takes no sample_weight. Leave sample_weight out."
            )
        rng = check_randomness(self.random_state)
        runs: list[Any] = []
        for _ in range(self.n_runs):
            run = clone(estimator).set_params(random_state=rng)
            if isinstance(run, ModeSeeker):
                run.set_params(min_cluster_size=1, strays="noise")  # sizes count after the vote
                if runs and run.bandwidth is None:
                    run.set_params(**runs[0].chosen_)
            runs.append(run.fit(X, **given))
        return runs

    def _checked_estimator(self) -> Any:
        """Return the estimator, if it can be fitted several times to different draws."""
        if self.estimator is None:
            return StochasticMeanShift()
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "get_params"):
            raise TypeError(f"estimator must be an estimator or None, got {self.estimator!r}.")
        if "random_state" not in self.estimator.get_params(deep=False):
            raise TypeError(
                "estimator must have a random_state, because all runs would be the same without "
                f"it, got {self.estimator!r}."
            )
        if isinstance(self.estimator, ModeSeeker) and checkpoint_of(self.estimator) is not None:
            refuse(
                f"n_runs={self.n_runs}", "a Checkpoint",
                "a checkpoint holds one run. Call set_callbacks() of the estimator without the "
                "Checkpoint.",
            )  # fmt: skip
        return self.estimator

    def _publish(
        self, runs: list[Any], votes: Votes, points: np.ndarray, weights: np.ndarray
    ) -> None:
        """Set the fitted attributes: those of the reference, and those of the votes."""
        typical = runs[votes.reference]
        for name, value in vars(typical).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        smallest, strays = self._sizes(runs[0])
        if hasattr(runs[0], "profile_"):
            self.profile_ = runs[0].profile_
            sizes = {"min_cluster_size": smallest, "strays": strays}
            self.chosen_ = runs[0].chosen_ | sizes
        if hasattr(typical, "converged_"):
            self.converged_ = all(run.converged_ for run in runs)
        self.estimator_ = typical
        self.confidence_ = votes.confidence
        modes = np.asarray(getattr(typical, "modes_", points), dtype=np.float64)
        chart = Chart()
        if isinstance(typical, ModeSeeker):
            chart = Chart(typical.metric, typical.feature_scale)
        modes = chart.points(modes, "modes_")
        inside = ~np.isin(votes.winners, _by_first(typical.labels_)[typical.labels_ < 0])
        labels, kept = _labels(votes.winners, inside, modes, weights, smallest, strays)
        self.labels_ = labels
        centers = cluster_centers(NumpySpace(), modes, np.where(kept, labels, -1), weights)
        if chart.metric != "euclidean" and len(centers):
            centers = NumpySpace().put_back(centers, centers)
        self.cluster_centers_ = chart.rows(centers).astype(points.dtype)
        self._index_ = IndexCache()
        self._model_ = _relabelled(model_of(typical), labels, len(centers))
        if self._model_ is None:
            n_voters = min(VOTERS, len(points))
            self._voters_ = KNeighborsClassifier(n_voters, weights="distance").fit(points, labels)

    def _sizes(self, first: Any) -> tuple[float, str]:
        """Return the smallest size of a cluster and what becomes of strays.

        If the estimator leaves them open they are those of a given or of a chosen bandwidth.
        """
        profile = getattr(first, "profile_", None)
        smallest = 1.0 if profile is None else profile.smallest_cluster
        strays = "noise" if profile is None else "nearest"
        return (
            getattr(self.estimator, "min_cluster_size", None) or smallest,
            getattr(self.estimator, "strays", None) or strays,
        )


def _labels(
    winners: np.ndarray,
    inside: np.ndarray,
    modes: np.ndarray,
    weights: np.ndarray,
    smallest: float,
    strays: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Label the clusters of the votes by size; also return which points are in a cluster.

    ``inside`` says which points won a cluster: those of other estimators may have none (-1).
    """
    space = NumpySpace()
    labels = np.full(len(winners), -1)
    if inside.any():
        limit = 0.0 if smallest == 1 else float(smallest)
        components = _by_first(winners[inside])
        labels[inside] = label_components(space, components, weights[inside], limit)
    kept = labels >= 0
    if strays == "nearest":
        labels = join_strays(space, labels, modes, weights, np.arange(len(labels)))
    return labels, kept


def _relabelled(model: Any, labels: np.ndarray, n_clusters: int) -> Any:
    """Return the model of the reference with other labels; None for other estimators."""
    if model is None:
        return None
    rows = slice(None) if model.grid is None else model.grid.firsts
    return model._replace(labels=labels[rows], n_clusters=n_clusters)


def _by_first(labels: np.ndarray) -> np.ndarray:
    """Number groups by their first point."""
    groups = np.unique(labels, return_inverse=True)[1]
    return number_by_first(NumpySpace(), groups, np.arange(len(groups)))
