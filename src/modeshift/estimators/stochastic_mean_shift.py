"""Stochastic mean-shift, Algorithm 2 of the paper."""

from typing import Any

from modeshift.checks import check_bandwidth_pair
from modeshift.estimators.base import ModeSeeker
from modeshift.spec import Wander


class StochasticMeanShift(ModeSeeker):
    """Stochastic mean-shift clustering: one random point at a time moves, and stays there.

    Repeat: choose a point uniformly at random and move it to the mean of the *current* positions
    within ``bandwidth`` of it (Algorithm 2 of Lapidot, arXiv 2312.15684). Final positions within
    ``merge_radius * bandwidth`` of each other are one cluster, and so are positions that are linked
    through others.

    Parameters
    ----------
    bandwidth : float or (low, high), default=None
        Radius of the neighbourhood. None: it is chosen from the data, and in many dimensions
        ``n_neighbors`` with it; see :func:`modeshift.bandwidth_profile`. With a pair, each step
        draws its radius uniformly between the two (arXiv 2602.15393), and ``tol``,
        ``merge_radius`` and ``predict`` use ``high``.
    kernel : {"flat", "gaussian"}, default="flat"
        Weight of a point at the distance r. "flat": 1 up to the bandwidth, 0 beyond. "gaussian":
        exp(-r^2 / (2 bandwidth^2)) up to 6 bandwidths, 0 beyond.
    metric : {"euclidean", "cosine", "haversine"} or PLDAMetric, default="euclidean"
        Distance between points. "cosine" is 1 - cos, so the bandwidth is at most 2; points are
        divided by their length, and means are put back on the unit sphere. "haversine" is the
        great-circle distance on the globe, in kilometres: the columns are latitude and longitude in
        degrees, found by name in frames (``lat``, ``lon`` and the like) and taken in this order
        otherwise (docs/maps.md).
    n_neighbors : int, default=None
        Average only the ``n_neighbors`` nearest points within the bandwidth (counted by weight).
        Ties go to the lower index. The bandwidth may then be ``np.inf``. None: average all.
    tol : float, default=1e-2
        A step of at most this fraction of the bandwidth is quiet; see ``patience``.
    merge_radius : float, default=0.5
        Final positions at most this fraction of the bandwidth apart become one cluster.
    patience : float, default=1.0
        After ``patience * n`` quiet steps in a row every point is tested. The fit has converged if
        the next step of every point would be quiet.
    batch_size : int, default=None
        Number of points that move at the same time over the same positions. 1 is the paper's
        algorithm, which draws points with replacement. Larger batches are cut from a permutation of
        all points. With n or more every sweep is a sweep of blurring mean-shift. None: 1 on the
        CPU, a sixteenth of the points on a GPU.
    max_iter : int, default=300
        Largest number of sweeps. A sweep is n steps.
    n_clusters : int, default=None
        Number of clusters, if it is known. A bandwidth is chosen that gives this number; an error
        says which numbers there are if none does. With a given bandwidth, or where the fit has
        more clusters, only the ``n_clusters`` largest stay and all others are strays.
    significance : float or None, default=0.05
        Level of the test for clusters, if the bandwidth is chosen. Data without clusters pass the
        test with this probability. Data that fail become one cluster, with a warning. None: no
        test.
    feature_scale : array-like of shape (d,), default=None
        Length of each feature. Features are divided by it, so that features of different units can
        be compared; the bandwidth is then a number without unit. Centres and modes are in the units
        of X.
    min_cluster_size : float, default=None
        Smallest weight of a cluster (number of points, without ``sample_weight``). Smaller clusters
        are strays. None: 1 if a bandwidth is given; if it is chosen, a twentieth of a typical
        cluster (docs/bandwidth.md).
    strays : {"noise", "nearest"}, default=None
        "noise": the points of strays get the label -1. "nearest": they join the cluster whose mode
        is nearest; the cluster centre does not change. None: "noise" if a bandwidth is given,
        "nearest" if it is chosen.
    resolution : float, default=None
        None: exact. A number r: the points are replaced by the weighted means of grid cells of
        side ``bandwidth / r``, the means are clustered, and every point takes the label of its
        cell. No point is further than ``bandwidth * sqrt(d) / r`` from the mean of its cell.
        Data that come in batches need it; see :meth:`partial_fit`.
    algorithm : {"auto", "tree", "anchors", "brute", "fast"}, default="auto"
        How neighbours are found. "tree", "anchors" and "brute" run on the CPU and give the same
        result at different speeds. "fast" runs on a GPU and decides in bfloat16, so some points
        near the border of a neighbourhood are misjudged. "auto" is exact; on the CPU it is
        "anchors" from 32 features on, and "tree" below.
    n_jobs : int, default=None
        Number of threads. None is 1, -1 is all cores. The result does not depend on it. Only the
        convergence test, ``predict`` and the steps of large data use several threads.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the fit runs. "cuda": on a GPU, which needs the extra ``modeshift[gpu]``; PyTorch
        tensors on the GPU give tensors. "auto": on a GPU if there is one and all options work
        there, else on the CPU. See docs/gpu.md.
    random_state : int, RandomState instance or None, default=None
        Seed for the points that move, and for the radii if ``bandwidth`` is a pair. The order of
        the draws is fixed; see docs/algorithms.md.
    record : bool, default=False
        Keep ``paths_``, which takes ``8 * (d + 1)`` bytes for each step (see ``n_steps_``).

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
        The number of neighbours used: ``n_neighbors``, or the number chosen with the bandwidth.
    profile_ : BandwidthProfile
        With ``bandwidth=None``: the bandwidths that were tried, and their scores; see
        :func:`modeshift.bandwidth_profile`.
    chosen_ : dict
        With ``bandwidth=None``: the parameters that were chosen. ``set_params(**chosen_)`` makes an
        estimator that repeats the fit.
    scale_ : float
        Length that ``tol`` and ``merge_radius`` are fractions of: the bandwidth, as a chord (in
        kilometres on the globe) if points lie on a sphere. For an infinite bandwidth it is the
        median distance of the points to their k-th nearest point, with k = ``n_neighbors``.
    n_iter_ : int
        Number of sweeps, the last one included even if it was cut short.
    n_steps_ : int
        Number of steps.
    converged_ : bool
        Whether the convergence test ended the run before ``max_iter``.
    paths_ : list of ndarray of shape (1 + steps, d)
        With ``record=True``: the positions of each point, its start first.
    engine_ : {"cpu", "cuda", "cells", "rounds"}
        The engine that computed the fit: the CPU, a GPU, or, for Dask data, "cells" with
        ``resolution`` and "rounds" without; see docs/engines.md.
    n_samples_seen_ : int
        After ``partial_fit``: number of points of all batches.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when X had string column names.

    Notes
    -----
    With a trained PLDA as metric (``metric_`` of a ``TwoCovariancePLDA``) neighbours are the points
    that score at least ``metric.score_at(bandwidth)`` (docs/plda.md).

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
        metric: Any = "euclidean",
        n_neighbors: int | None = None,
        tol: float = 1e-2,
        merge_radius: float = 0.5,
        patience: float = 1.0,
        batch_size: int | None = None,
        max_iter: int = 300,
        n_clusters: int | None = None,
        significance: float | None = 0.05,
        feature_scale: Any = None,
        min_cluster_size: float | None = None,
        strays: str | None = None,
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
        self.n_clusters = n_clusters
        self.significance = significance
        self.feature_scale = feature_scale
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
