"""Stochastic mean-shift, Algorithm 2 of the paper."""

from collections.abc import Callable
from typing import Any

from modeshift.checks import check_bandwidth_pair
from modeshift.estimators.base import ModeSeeker
from modeshift.spec import Wander
from modeshift.watching import Progress


class StochasticMeanShift(ModeSeeker):
    """Stochastic mean-shift clustering: one random point at a time moves, and stays there.

    Repeat: choose a point uniformly at random and move it to the mean of the *current* positions
    within ``bandwidth`` of it (Algorithm 2 of Lapidot, arXiv 2312.15684). The points climb
    together. Final positions within ``merge_radius * bandwidth`` of each other, directly or through
    others, are one cluster.

    Parameters
    ----------
    bandwidth : float or (low, high), default=None
        Radius of the neighbourhood. A pair has it drawn uniformly at each step (arXiv 2602.15393);
        ``high`` then counts in ``tol``, ``merge_radius`` and ``predict``. None
        has it chosen, and in many dimensions ``n_neighbors`` too; see
        :func:`modeshift.bandwidth_profile`.
    kernel : {"flat", "gaussian"}, default="flat"
        How points within the bandwidth count: all alike, or by exp(-r^2 / (2 bandwidth^2)) at the
        distance r, which ends at 6 bandwidths.
    metric : {"euclidean", "cosine"}, default="euclidean"
        With "cosine" points are divided by their length, the bandwidth is a distance 1 - cos (at
        most 2), and means are put back on the unit sphere.
    n_neighbors : int, default=None
        Of the points within the bandwidth only the so many nearest count, in units of weight; ties
        go to the lower index. The bandwidth may then be ``np.inf``.
    tol : float, default=1e-2
        A step of at most this fraction of the bandwidth is quiet.
    merge_radius : float, default=0.5
        Final positions at most this fraction of the bandwidth apart are joined.
    patience : float, default=1.0
        After ``patience * n`` quiet steps in a row every point is tested; the fit has converged if
        none would take a step that is not quiet.
    batch_size : int, default=None
        How many points move at once over the same positions. 1 is the paper's algorithm: points
        are drawn with replacement. Larger batches are cut from a permutation of all points; n and
        more is blurring mean-shift, step for step. None is 1 on the CPU, and a sixteenth of the
        points on a GPU.
    max_iter : int, default=300
        Sweeps; a sweep is n steps.
    min_cluster_size : int, default=1
        Clusters of less weight (fewer points, without weights) are strays.
    strays : {"noise", "nearest"}, default="noise"
        Points of strays get the label -1, or join the cluster of the nearest mode that is in one
        (its centre stays where it is).
    resolution : float, default=None
        None: exact. A number r first replaces the points by the weighted means of grid cells of
        side ``bandwidth / r`` and clusters these; every point takes the label of its cell. No
        point is then further than ``bandwidth * sqrt(d) / r`` from what stands for it.
    field : {"auto", "tree", "anchors", "brute"}, default="auto"
        How neighbours are found. It changes the speed, not the result.
    n_jobs : int, default=None
        Threads for the convergence test and ``predict``; None is 1, -1 all cores. The steps
        themselves follow one another. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the fit runs. "cuda" is a GPU, with the extra ``modeshift[gpu]``; tensors of PyTorch
        there give tensors. "auto" takes a GPU if there is one and all options work there
        (docs/gpu.md).
    precision : {"exact", "fast"}, default="exact"
        On a GPU: whether neighbours are told as float32 arithmetic would (float64 for float64
        data), or by bfloat16.
    n_runs : int, default=1
        Fit so many times, one run after the other from ``random_state``, and let the runs vote on
        the cluster of each point. What else is fitted is of the run that agrees best with the
        others.
    random_state : int, RandomState instance or None, default=None
        Draws the points (and radii). The order of the draws is fixed: see docs/algorithms.md.
    record : bool, default=False
        Keep ``paths_``. Costs ``8 * (d + 1)`` bytes a step (see ``n_steps_``).
    callback : function, default=None
        Called after every sweep with a :class:`modeshift.watching.Progress`.
    checkpoint : str or path, default=None
        File that keeps what the fit has reached: it is written every ``checkpoint_every`` seconds
        and at Ctrl-C, and removed when the fit is done. A fit with the same data and parameters
        that finds the file goes on from there, and ends as if it had never stopped.
    checkpoint_every : float, default=60.0
        Seconds between two writings of ``checkpoint``.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point; 0 is the largest cluster.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Weighted mean of the modes of each cluster.
    modes_ : ndarray of shape (n, d)
        Final position of each point.
    bandwidth_ : float
        The bandwidth used, ``high`` for a pair.
    n_neighbors_ : int or None
        The number of neighbours used: ``n_neighbors``, or what was chosen with the bandwidth.
    profile_ : BandwidthProfile
        With ``bandwidth=None``: what was tried, and why this was chosen; see
        :func:`modeshift.bandwidth_profile`.
    scale_ : float
        Length that ``tol`` and ``merge_radius`` are fractions of: the bandwidth (as a chord with
        ``metric="cosine"``), or, if that is infinite, the median over the points of the distance
        to their k-th nearest one.
    n_iter_ : int
        Sweeps begun.
    n_steps_ : int
        Steps taken.
    converged_ : bool
        Whether the run, or every one of several, ended by the convergence test.
    confidence_ : ndarray of shape (n,)
        With ``n_runs > 1``: share of the runs that vote for the label of each point.
    paths_ : list of ndarray of shape (1 + steps, d)
        With ``record=True``: the positions of each point, from its start on.
    engine_ : {"cpu", "cuda", "cells", "rounds"}
        Where the fit was computed: on the CPU, on a GPU, or for Dask data with and without
        ``resolution``; see docs/engines.md.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Examples
    --------
    >>> from modeshift import StochasticMeanShift
    >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
    >>> StochasticMeanShift(bandwidth=1.0, random_state=0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    def __init__(
        self,
        *,
        bandwidth: Any = None,
        kernel: str = "flat",
        metric: str = "euclidean",
        n_neighbors: int | None = None,
        tol: float = 1e-2,
        merge_radius: float = 0.5,
        patience: float = 1.0,
        batch_size: int | None = None,
        max_iter: int = 300,
        min_cluster_size: int = 1,
        strays: str = "noise",
        resolution: float | None = None,
        field: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        precision: str = "exact",
        n_runs: int = 1,
        random_state: Any = None,
        record: bool = False,
        callback: Callable[[Progress], object] | None = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.merge_radius = merge_radius
        self.patience = patience
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.min_cluster_size = min_cluster_size
        self.strays = strays
        self.resolution = resolution
        self.field = field
        self.n_jobs = n_jobs
        self.device = device
        self.precision = precision
        self.n_runs = n_runs
        self.random_state = random_state
        self.record = record
        self.callback = callback
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def _schedule(self, values: dict[str, Any]) -> Wander:
        return Wander(values["patience"], values["batch_size"], values["n_runs"])

    def _check_bandwidth(self, bandwidth: Any, **limits: bool) -> Any:
        return check_bandwidth_pair(bandwidth, **limits)
