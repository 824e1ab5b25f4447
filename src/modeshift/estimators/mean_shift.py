"""Deterministic mean-shift, Algorithm 1 of the paper."""

from typing import Any

from modeshift.estimators.base import ModeSeeker
from modeshift.estimators.validation import check_matrix
from modeshift.spec import Climb


class MeanShift(ModeSeeker):
    """Mean-shift clustering: every point climbs alone over the original points.

    Repeat x <- mean of the points within ``bandwidth`` of x, for each point from its own place,
    until the shift is at most ``tol * bandwidth`` (Comaniciu & Meer 2002; Algorithm 1 of Lapidot,
    arXiv 2312.15684). Ends that lie within ``merge_radius * bandwidth`` of each other, directly or
    through others, are one cluster.

    Parameters
    ----------
    bandwidth : float, default=None
        Radius of the neighbourhood. None has it chosen, and in many dimensions ``n_neighbors``
        too; see :func:`modeshift.bandwidth_profile`.
    kernel : {"flat", "gaussian"}, default="flat"
        How points within the bandwidth count: all alike, or by exp(-r^2 / (2 bandwidth^2)) at the
        distance r, which ends at 6 bandwidths.
    metric : {"euclidean", "cosine"}, default="euclidean"
        With "cosine" points are divided by their length, the bandwidth is a distance 1 - cos (at
        most 2), and means are put back on the unit sphere.
    n_neighbors : int, default=None
        Of the points within the bandwidth only the so many nearest count, in units of weight; ties
        go to the lower index. The bandwidth may then be ``np.inf``.
    tol : float, default=1e-3
        A climb ends with a shift of at most this fraction of the bandwidth.
    merge_radius : float, default=0.5
        Ends at most this fraction of the bandwidth apart are joined.
    max_iter : int, default=300
        Steps a climb may take.
    min_cluster_size : int, default=1
        Clusters of less weight (fewer points, without weights) are strays.
    strays : {"noise", "nearest"}, default="noise"
        Points of strays get the label -1, or join the cluster of the nearest mode that is in one
        (its centre stays where it is).
    seeding : None, int, "bins" or array of shape (m, d), default=None
        Where climbs start. None: at every point. A number m: at m points, drawn at random without
        replacement; every other point takes the end of the climb that started nearest to it
        (Senoussaoui et al. 2014). "bins": at one point of each occupied cell of a grid of side
        ``bandwidth`` that is anchored at the minimum of each feature, the point nearest to the mean
        of the cell. An array: at these positions; positions with nobody within the bandwidth are
        dropped. With bins or an array every point follows the climb that passes nearest to it: of
        all positions that any climb visited, start and end included, the one nearest to the point
        decides.
    resolution : float, default=None
        None: exact. A number r first replaces the points by the weighted means of grid cells of
        side ``bandwidth / r`` and clusters these; every point takes the label of its cell. No
        point is then further than ``bandwidth * sqrt(d) / r`` from what stands for it.
    algorithm : {"auto", "tree", "anchors", "brute", "fast"}, default="auto"
        How neighbours are found. "tree", "anchors" and "brute" are ways of the CPU that give the
        same result at different speeds. "fast" decides in bfloat16 on a GPU, so some points near
        the border of a neighbourhood are misjudged. "auto" is exact, by what suits the data.
    n_jobs : int, default=None
        Threads; None is 1, -1 all cores. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the fit runs. "cuda" is a GPU, with the extra ``modeshift[gpu]``; tensors of PyTorch
        there give tensors. "auto" takes a GPU if there is one and all options work there
        (docs/gpu.md).
    random_state : int, RandomState instance or None, default=None
        Draws the starts of ``seeding=m``.
    record : bool, default=False
        Keep ``paths_``. Costs ``8 * (d + 1)`` bytes a step (see ``n_steps_``).

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point; 0 is the largest cluster.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Weighted mean of the modes of each cluster.
    modes_ : ndarray of shape (n, d)
        Where the climb of each point, or the one that it follows, ended.
    bandwidth_ : float
        The bandwidth used.
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
        Steps of the longest climb.
    n_steps_ : int
        Steps of all climbs.
    converged_ : bool
        Whether every climb ended before ``max_iter``.
    paths_ : list of ndarray of shape (1 + steps, d)
        With ``record=True``: the positions of each climb, from its start on.
    engine_ : {"cpu", "cuda", "cells", "rounds"}
        Where the fit was computed: on the CPU, on a GPU, or for Dask data with and without
        ``resolution``; see docs/engines.md.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Examples
    --------
    >>> from modeshift import MeanShift
    >>> X = [[1.0, 1.0], [1.2, 0.9], [8.0, 8.0], [8.1, 8.2], [7.9, 8.1]]
    >>> MeanShift(bandwidth=1.0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    def __init__(
        self,
        *,
        bandwidth: float | None = None,
        kernel: str = "flat",
        metric: str = "euclidean",
        n_neighbors: int | None = None,
        tol: float = 1e-3,
        merge_radius: float = 0.5,
        max_iter: int = 300,
        min_cluster_size: int = 1,
        strays: str = "noise",
        seeding: Any = None,
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
        self.max_iter = max_iter
        self.min_cluster_size = min_cluster_size
        self.strays = strays
        self.seeding = seeding
        self.resolution = resolution
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.record = record

    def _schedule(self, values: dict[str, Any]) -> Climb:
        seeding = values["seeding"]
        if seeding is None or isinstance(seeding, str | int):
            return Climb(seeding)
        return Climb(check_matrix("seeding", seeding))
