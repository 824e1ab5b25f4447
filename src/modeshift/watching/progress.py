"""How far a fit is: what callbacks are called with."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Progress(NamedTuple):
    """What ``callback`` is called with, after every sweep.

    Attributes
    ----------
    sweep : int
        Sweeps done. For ``MeanShift``: steps that every climb has taken, unless it has ended.
    max_iter : int
        The most there will be.
    n_steps : int
        Steps taken so far; where climbs have met, the steps they would share count once.
    n_moving : int
        Points that moved further than ``tol`` in the sweep (steps that did, if points are drawn
        at random). For ``MeanShift``: climbs that go on; those that have met count once.
    positions : ndarray of shape (n, d)
        Where the points are, in the units of X; the climbs, with ``seeding`` or ``n_climbers``. A
        lazy Dask array if X is a Dask collection.
    count_clusters : function
        Takes nothing and returns into how many clusters the positions would be merged now. It
        takes a while.
    """

    sweep: int
    max_iter: int
    n_steps: int
    n_moving: int
    positions: np.ndarray
    count_clusters: Callable[[], int]
