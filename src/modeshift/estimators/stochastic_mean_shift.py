"""Stochastic mean-shift, Algorithm 2 of the paper."""

from typing import Any

from modeshift.checks import check_bandwidth_pair
from modeshift.estimators.base import ModeSeeker
from modeshift.spec import Wander


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
    algorithm : {"auto", "tree", "anchors", "brute", "fast"}, default="auto"
        How neighbours are found. "tree", "anchors" and "brute" are ways of the CPU that give the
        same result at different speeds. "fast" decides in bfloat16 on a GPU, so some points near
        the border of a neighbourhood are misjudged. "auto" is exact, by what suits the data.
    n_jobs : int, default=None
        Threads for the convergence test and ``predict``; None is 1, -1 all cores. The steps
        themselves follow one another. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the fit runs. "cuda" is a GPU, with the extra ``modeshift[gpu]``; tensors of PyTorch
        there give tensors. "auto" takes a GPU if there is one and all options work there
        (docs/gpu.md).
    random_state : int, RandomState instance or None, default=None
        Draws the points (and radii). The order of the draws is fixed: see docs/algorithms.md.
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
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        record: bool = False,
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
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.record = record

    def _schedule(self, values: dict[str, Any]) -> Wander:
        return Wander(values["patience"], values["batch_size"])

    def _check_bandwidth(self, bandwidth: Any, **limits: bool) -> Any:
        return check_bandwidth_pair(bandwidth, **limits)
