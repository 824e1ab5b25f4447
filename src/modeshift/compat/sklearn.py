"""scikit-learn's mean-shift over the engine of this library: same names, same results, faster.

The rules are those of scikit-learn 1.9 (``sklearn/cluster/_mean_shift.py``, after Comaniciu & Meer
2002). docs/from-scikit-learn.md compares them with the rules of :class:`modeshift.MeanShift`.

Estimator, checks of parameters and ``predict`` are inherited from the installed scikit-learn.
"""

import warnings
from typing import Any, Self

import numpy as np
import sklearn.cluster
from joblib import effective_n_jobs
from sklearn.base import _fit_context
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils._param_validation import validate_params
from sklearn.utils.validation import validate_data

from modeshift.compat.centers import find_centers
from modeshift.compat.climbs import climb_from
from modeshift.compat.radii import BATCH, distances_to_nearest
from modeshift.engines.cpu.hashing import number_rows

__all__ = ["MeanShift", "estimate_bandwidth", "get_bin_seeds", "mean_shift"]


class MeanShift(sklearn.cluster.MeanShift):
    """Mean-shift clustering with the parameters and the results of scikit-learn's ``MeanShift``.

    Climbs start at the seeds and repeat x <- mean of the points within ``bandwidth`` of x, until a
    step is at most ``1e-3 * bandwidth`` long. Of ends within the bandwidth of each other, the one
    with the most points in its last ball becomes a cluster centre. Every point takes the label of
    the nearest centre.

    Parameters
    ----------
    bandwidth : float, default=None
        Radius of the neighbourhood. None: :func:`estimate_bandwidth` with its defaults.
    seeds : array-like of shape (m, d), default=None
        Where climbs start. None: at every point, or at bins.
    bin_seeding : bool, default=False
        Start at the bins of :func:`get_bin_seeds` instead of all points, if ``seeds`` is None.
    min_bin_freq : int, default=1
        Smallest number of points in a bin that is a seed.
    cluster_all : bool, default=True
        Whether points farther than the bandwidth from all centres get a label. False: they get -1.
    n_jobs : int, default=None
        Number of threads. None is 1, -1 is all cores. The result does not depend on it.
    max_iter : int, default=300
        Largest number of steps of a climb, without the step with which it ends.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Centres, by the falling number of points in the last ball, ties by falling coordinates.
    labels_ : ndarray of shape (n,)
        Cluster of each point.
    n_iter_ : int
        Number of steps of the longest climb, without the step with which it ends.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Examples
    --------
    >>> from modeshift.compat.sklearn import MeanShift
    >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
    >>> MeanShift(bandwidth=1.0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
        """
        X = validate_data(self, X)
        bandwidth = self.bandwidth
        if bandwidth is None:
            bandwidth = estimate_bandwidth(X, n_jobs=self.n_jobs)
        n_threads = effective_n_jobs(self.n_jobs)
        ends, n_iter = climb_from(
            self._starts(X, bandwidth), X, bandwidth, self.max_iter, n_threads
        )
        if len(ends.counts) == 0:
            raise ValueError(
                f"No point was within bandwidth={bandwidth:f} of any seed. "
                "Move the seeds closer to the points, or take a larger bandwidth."
            )
        self.cluster_centers_ = find_centers(ends, X, bandwidth)
        self.labels_ = _nearest_center(
            X, self.cluster_centers_, np.inf if self.cluster_all else bandwidth, self.n_jobs
        )
        self.n_iter_ = n_iter
        return self

    def _starts(self, X: np.ndarray, bandwidth: float) -> np.ndarray:
        """Return the seeds: given, from bins, or the points themselves."""
        if self.seeds is not None:
            seeds = check_array(self.seeds, input_name="seeds")
            if seeds.shape[1] != X.shape[1]:
                raise ValueError(
                    f"seeds has {seeds.shape[1]} features, but X has {X.shape[1]} features."
                )
            return seeds
        if not self.bin_seeding:
            return X
        seeds = get_bin_seeds(X, bandwidth, self.min_bin_freq)
        if len(seeds) == 0:
            raise ValueError(
                f"No bin has min_bin_freq={self.min_bin_freq} points. Take a smaller number, or a "
                "larger bandwidth."
            )
        return seeds


@validate_params(
    sklearn.cluster.mean_shift._skl_parameter_constraints,
    prefer_skip_nested_validation=False,
)
def mean_shift(
    X: Any,
    *,
    bandwidth: float | None = None,
    seeds: Any = None,
    bin_seeding: bool = False,
    min_bin_freq: int = 1,
    cluster_all: bool = True,
    max_iter: int = 300,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the clusters of X, as :class:`MeanShift` does.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    bandwidth, seeds, bin_seeding, min_bin_freq, cluster_all, max_iter, n_jobs
        Parameters of :class:`MeanShift`.

    Returns
    -------
    cluster_centers : ndarray of shape (n_clusters, d)
    labels : ndarray of shape (n,)

    Examples
    --------
    >>> from modeshift.compat.sklearn import mean_shift
    >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
    >>> centers, labels = mean_shift(X, bandwidth=1.0)
    >>> labels
    array([1, 1, 0, 0, 0])
    """
    fitted = MeanShift(
        bandwidth=bandwidth,
        seeds=seeds,
        bin_seeding=bin_seeding,
        min_bin_freq=min_bin_freq,
        cluster_all=cluster_all,
        max_iter=max_iter,
        n_jobs=n_jobs,
    ).fit(X)
    return fitted.cluster_centers_, fitted.labels_


@validate_params(
    sklearn.cluster.estimate_bandwidth._skl_parameter_constraints,
    prefer_skip_nested_validation=True,
)
def estimate_bandwidth(
    X: Any,
    *,
    quantile: float = 0.3,
    n_samples: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> np.float64:
    """Estimate a bandwidth: the mean distance of the points to their k-th nearest point.

    k is ``quantile`` times the number of points, rounded down, and at least 1. A point is its own
    nearest point. The cost is quadratic in the number of points.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    quantile : float, default=0.3
        Share of the points within the bandwidth of a typical point, from 0 to 1.
    n_samples : int, default=None
        Size of a random sample that is used instead of all points.
    random_state : int, RandomState instance or None, default=0
        Seed for the sample.
    n_jobs : int, default=None
        Number of threads. None is 1, -1 is all cores.

    Returns
    -------
    float
        The bandwidth. It is 0 if every point coincides with k points or more.

    Examples
    --------
    >>> from modeshift import datasets
    >>> from modeshift.compat.sklearn import estimate_bandwidth
    >>> X, _ = datasets.make_paper_set(1, random_state=0)
    >>> round(float(estimate_bandwidth(X)), 2)
    1.38
    """
    X = check_array(X)
    rng = check_random_state(random_state)
    if n_samples is not None:
        X = X[rng.permutation(len(X))[:n_samples]]
    k = max(1, int(len(X) * quantile))
    radii = distances_to_nearest(X, k, n_jobs)
    return np.float64(sum(radii[batch].sum() for batch in gen_batches(len(X), BATCH)) / len(X))


def get_bin_seeds(X: np.ndarray, bin_size: float, min_bin_freq: int = 1) -> np.ndarray:
    """Return the centres of the bins of a grid that hold enough points.

    A point belongs to the nearest multiple of ``bin_size`` in each feature. Bins have the order of
    their first points, and centres the accuracy of float32.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    bin_size : float
        Side of a bin. 0 returns X.
    min_bin_freq : int, default=1
        Smallest number of points in a bin.

    Returns
    -------
    ndarray of shape (m, d)
        The seeds. If there are as many as points, this is X, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.compat.sklearn import get_bin_seeds
    >>> get_bin_seeds(np.array([[1.0, 1.0], [1.2, 0.9], [8.0, 8.0]]), bin_size=1.0)
    array([[1., 1.],
           [8., 8.]], dtype=float32)
    """
    if bin_size == 0:
        return X
    bins = np.round(np.asarray(X) / bin_size)
    numbers, firsts = number_rows(bins.astype(np.float64) + 0.0)  # a zero has no sign
    filled = np.bincount(numbers) >= min_bin_freq
    seeds = bins[firsts[filled]].astype(np.float32)
    if len(seeds) == len(X):
        warnings.warn(
            f"bin_size={bin_size:f} gives every point a bin of its own; the points are the seeds.",
            stacklevel=2,
        )
        return X
    return seeds * bin_size


def _nearest_center(
    X: np.ndarray, centers: np.ndarray, farthest: float, n_jobs: int | None
) -> np.ndarray:
    """Return the nearest centre of each point, or -1 if it is too far away.

    scikit-learn's search decides ties as scikit-learn does.
    """
    search = NearestNeighbors(n_neighbors=1, n_jobs=n_jobs).fit(centers)
    distances, nearest = search.kneighbors(X)
    return np.where(distances <= farthest, nearest, -1).ravel()
