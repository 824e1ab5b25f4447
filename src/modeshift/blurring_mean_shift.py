"""Blurring mean-shift."""

import numpy as np

from modeshift.base import ModeSeeker
from modeshift.schedules.blurring import blur
from modeshift.schedules.outcome import Outcome
from modeshift.units import Problem


class BlurringMeanShift(ModeSeeker):
    """Blurring mean-shift clustering: all points move at once, and stay there.

    Repeat: move every point to the mean of the *current* positions within ``bandwidth`` of it
    (Cheng 1995), until the largest shift is at most ``tol * bandwidth``. Final positions within
    ``merge_radius * bandwidth`` of each other, directly or through others, are one cluster.

    Parameters
    ----------
    bandwidth : float, default=None
        Radius of the neighbourhood. None takes :func:`modeshift.estimate_bandwidth`.
    tol : float, default=1e-2
        The fit ends with a sweep whose largest shift is at most this fraction of the bandwidth.
    merge_radius : float, default=0.5
        Final positions at most this fraction of the bandwidth apart are joined.
    max_iter : int, default=300
        Sweeps.
    min_cluster_size : int, default=1
        Clusters of less weight (fewer points, without weights) get the label -1.
    resolution : float, default=None
        None: exact. A number r first replaces the points by the weighted means of grid cells of
        side ``bandwidth / r`` and clusters these; every point takes the label of its cell. No
        point is then further than ``bandwidth * sqrt(d) / r`` from what stands for it.
    field : {"auto", "tree", "anchors", "brute"}, default="auto"
        How neighbours are found. It changes the speed, not the result.
    n_jobs : int, default=None
        Threads; None is 1, -1 all cores. The result does not depend on it.
    record : bool, default=False
        Keep ``paths_``. Costs ``8 * (d + 1)`` bytes a step (see ``n_steps_``).

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point; 0 is the largest cluster.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Weighted mean of the modes of each cluster.
    modes_ : ndarray of shape (n, d)
        Final position of each point.
    bandwidth_ : float
        The bandwidth used.
    n_iter_ : int
        Sweeps taken.
    n_steps_ : int
        Steps taken: n a sweep.
    converged_ : bool
        Whether the run ended before ``max_iter``.
    paths_ : list of ndarray of shape (1 + sweeps, d)
        With ``record=True``: the positions of each point, from its start on.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Examples
    --------
    >>> from modeshift import BlurringMeanShift
    >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
    >>> BlurringMeanShift(bandwidth=1.0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    def __init__(
        self,
        *,
        bandwidth: float | None = None,
        tol: float = 1e-2,
        merge_radius: float = 0.5,
        max_iter: int = 300,
        min_cluster_size: int = 1,
        resolution: float | None = None,
        field: str = "auto",
        n_jobs: int | None = None,
        record: bool = False,
    ) -> None:
        self.bandwidth = bandwidth
        self.tol = tol
        self.merge_radius = merge_radius
        self.max_iter = max_iter
        self.min_cluster_size = min_cluster_size
        self.resolution = resolution
        self.field = field
        self.n_jobs = n_jobs
        self.record = record

    def _run(self, problem: Problem) -> Outcome:
        return blur(
            self._make_field(problem),
            radius=problem.radius,
            tol=float(self.tol) * problem.radius,
            max_iter=self.max_iter,
            record=self.record,
        )

    def _field_positions(self, problem: Problem, ends: np.ndarray) -> np.ndarray:
        return ends
