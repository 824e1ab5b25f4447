"""Progress of a fit, as callbacks receive it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Progress(NamedTuple):
    """Progress of a fit. A callback receives one after every sweep.

    Attributes
    ----------
    sweep : int
        Number of sweeps done. For ``MeanShift``: steps taken so far by every climb that is still
        going.
    max_iter : int
        Largest number of sweeps.
    n_steps : int
        Number of steps taken so far. Steps that several climbs share are counted once.
    n_moving : int
        Number of points that moved further than ``tol`` in this sweep. For ``StochasticMeanShift``:
        number of such steps. For ``MeanShift``: number of climbs that are still going; climbs that
        have met count as one.
    positions : ndarray of shape (n, d)
        Current position of each point (of each climb, with ``seeding``), in the units of X. For
        Dask data: a lazy Dask array.
    count_clusters : function
        Called without arguments, it merges the current positions and returns the number of
        clusters. On large data this takes time.
    """

    sweep: int
    max_iter: int
    n_steps: int
    n_moving: int
    positions: np.ndarray
    count_clusters: Callable[[], int]
