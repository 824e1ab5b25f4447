"""Several runs of one estimator, joined into one labelling."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from modeshift.checks import check_weights, check_whole, refuse
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.finish import cluster_centers, label_components, number_by_first
from modeshift.estimators.base import ModeSeeker, checkpoint_of
from modeshift.estimators.stochastic_mean_shift import StochasticMeanShift
from modeshift.estimators.validation import check_points, check_randomness
from modeshift.estimators.voting import Votes, join_runs


class Consensus(ClusterMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator several times with different seeds, and let the runs vote on each point.

    The run that agrees best with the others (adjusted Rand index) is the reference. A cluster of
    any run stands for the cluster of the reference with which it shares most weight, and every
    point joins the cluster that most runs put it in. Strays of one run join the points with which
    they travel in the others.

    Parameters
    ----------
    estimator : estimator, default=None
        Any clusterer with ``random_state`` and ``labels_``; None is ``StochasticMeanShift()``.
    n_runs : int, default=10
        Number of runs.
    random_state : int, RandomState instance or None, default=None
        Draws for all runs, one after the other. The ``random_state`` of the estimator is not used.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point; 0 is the largest cluster. -1 where most runs found no cluster.
    confidence_ : ndarray of shape (n,)
        Share of the runs that vote for the cluster of each point.
    estimator_ : estimator
        The reference: the run that agrees best with the others.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Mean of the modes that the points of each cluster have in the reference; of the points
        themselves, where the estimator has no ``modes_``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Notes
    -----
    ``bandwidth_``, ``modes_`` and all other fitted attributes come from the run that agrees best
    with the others; ``converged_`` says whether all runs converged. A bandwidth is chosen once, by
    the first run.

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
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        check_whole("n_runs", self.n_runs, low=1)
        points = check_points(self, X, reset=True)
        weights = check_weights(sample_weight, len(points))
        runs = self._runs(X, sample_weight)
        labels = np.column_stack([run.labels_ for run in runs])
        # No cluster (-1) is a group of its own while the runs vote.
        votes = join_runs(labels + 1, weights)
        self._publish(runs, votes, points, weights)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Label new points: the reference labels them, and its clusters are those of the votes.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self)
        check_points(self, X, reset=False)
        return self._joined_labels_[self.estimator_.predict(X)]

    def _runs(self, X: Any, sample_weight: Any) -> list[Any]:
        """Fit the estimator several times; all runs draw from one generator."""
        estimator = StochasticMeanShift() if self.estimator is None else self.estimator
        if "random_state" not in estimator.get_params(deep=False):
            raise TypeError(
                "estimator must have a random_state, or all runs would be the same, "
                f"got {estimator!r}."
            )
        if isinstance(estimator, ModeSeeker) and checkpoint_of(estimator) is not None:
            refuse(f"n_runs={self.n_runs}", "Checkpoint", "a checkpoint keeps one run.")
        weighted = {"sample_weight": sample_weight}
        given = weighted if has_fit_parameter(estimator, "sample_weight") else {}
        rng = check_randomness(self.random_state)
        runs: list[Any] = []
        for _ in range(self.n_runs):
            run = clone(estimator).set_params(random_state=rng)
            if runs and isinstance(run, ModeSeeker) and run.bandwidth is None:
                first = runs[0]
                run.set_params(bandwidth=first.bandwidth_, n_neighbors=first.n_neighbors_)
            runs.append(run.fit(X, **given))
        return runs

    def _publish(
        self, runs: list[Any], votes: Votes, points: np.ndarray, weights: np.ndarray
    ) -> None:
        """Set the fitted attributes: those of the reference, and those of the votes."""
        typical = runs[votes.reference]
        for name, value in vars(typical).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        if hasattr(runs[0], "profile_"):
            self.profile_ = runs[0].profile_
        if hasattr(typical, "converged_"):
            self.converged_ = all(run.converged_ for run in runs)
        self.estimator_ = typical
        self.confidence_ = votes.confidence
        self.labels_ = _numbered(votes.winners - 1, weights)
        modes = np.asarray(getattr(typical, "modes_", points), dtype=np.float64)
        centers = cluster_centers(NumpySpace(), modes, self.labels_, weights)
        self.cluster_centers_ = centers.astype(points.dtype)
        self._joined_labels_ = _translation(typical.labels_, self.labels_, weights)


def _numbered(winners: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Number clusters by falling size; points that won no cluster (-1) stay without one."""
    labels = np.full(len(winners), -1)
    inside = winners >= 0
    if inside.any():
        components = np.unique(winners[inside], return_inverse=True)[1]
        space, rows = NumpySpace(), np.arange(len(components))
        components = number_by_first(space, components, rows)
        labels[inside] = label_components(space, components, weights[inside])
    return labels


def _translation(reference: np.ndarray, joined: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each label of the reference, and last for -1, the joined label that most weight has."""
    table = np.zeros((int(reference.max()) + 2, int(joined.max()) + 2))
    np.add.at(table, (reference, joined), weights)  # -1 is the last row, and the last column
    best = np.argmax(table, axis=1)
    return np.where(best == table.shape[1] - 1, -1, best)
