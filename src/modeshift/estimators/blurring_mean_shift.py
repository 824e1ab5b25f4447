"""Blurring mean-shift."""

from typing import Any

from modeshift.estimators.base import ModeSeeker
from modeshift.spec import Blur


class BlurringMeanShift(ModeSeeker):
    """Blurring mean-shift clustering: all points move at once, and stay there.

    Repeat: move every point to the mean of the *current* positions within ``bandwidth`` of it
    (Cheng 1995), until the largest shift is at most ``tol * bandwidth``. Final positions within
    ``merge_radius * bandwidth`` of each other, directly or through others, are one cluster.

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
    stop : {"shift", "entropy"}, default="shift"
        When the fit ends. "shift": with a sweep whose largest shift is at most ``tol`` bandwidths.
        "entropy": when the mean shift is, or when the entropy of the histogram of the shifts, with
        0.9 n bins, changes by less than 1e-8 from one sweep to the next (Carreira-Perpinan 2006).
    tol : float, default=1e-2
        Shift, as a fraction of the bandwidth, at which the fit ends; see ``stop``.
    feature_weights : None, "learned" or float, default=None
        "learned": distances are measured with a weight for each feature, which falls exponentially
        with the mean squared distance that the points have moved in it (Chakraborty, Paul & Das
        2021). A number is the temperature of that fall: the mean squared displacement, in the
        square of the unit of X, that divides the weight of a feature by e ("learned" is 1.0); small
        ones select features. The weights add up to 1; ``bandwidth``, ``tol`` and ``merge_radius``
        refer to distances with these weights.
    merge_radius : float, default=0.5
        Final positions at most this fraction of the bandwidth apart are joined.
    max_iter : int, default=300
        Sweeps.
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
        Threads; None is 1, -1 all cores. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the fit runs. "cuda" is a GPU, with the extra ``modeshift[gpu]``; tensors of PyTorch
        there give tensors. "auto" takes a GPU if there is one and all options work there
        (docs/gpu.md).
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
        Sweeps taken.
    n_steps_ : int
        Steps taken: n a sweep.
    converged_ : bool
        Whether the run ended before ``max_iter``.
    paths_ : list of ndarray of shape (1 + sweeps, d)
        With ``record=True``: the positions of each point, from its start on.
    feature_weights_ : ndarray of shape (d,)
        With ``feature_weights``: the weights, which add up to 1.
    engine_ : {"cpu", "cuda", "cells", "rounds"}
        Where the fit was computed: on the CPU, on a GPU, or for Dask data with and without
        ``resolution``; see docs/engines.md.
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
        kernel: str = "flat",
        metric: str = "euclidean",
        n_neighbors: int | None = None,
        stop: str = "shift",
        tol: float = 1e-2,
        merge_radius: float = 0.5,
        max_iter: int = 300,
        feature_weights: Any = None,
        min_cluster_size: int = 1,
        strays: str = "noise",
        resolution: float | None = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
        device: str = "cpu",
        record: bool = False,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.stop = stop
        self.tol = tol
        self.merge_radius = merge_radius
        self.max_iter = max_iter
        self.feature_weights = feature_weights
        self.min_cluster_size = min_cluster_size
        self.strays = strays
        self.resolution = resolution
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.device = device
        self.record = record

    def _schedule(self, values: dict[str, Any]) -> Blur:
        weights = values["feature_weights"]
        return Blur(values["stop"], 1.0 if weights == "learned" else weights)
