"""Climbs that meet continue as one: a table of the places that climbs have visited.

A step depends only on the place. A climb that reaches exactly, to the last bit, a place of another
climb would take the same steps from there on. So it follows that climb and takes none itself.
"""

import numpy as np

from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel

_PROBES = 8  # entries tried for a place; if all are taken, the first is overwritten


class MeetingTable:
    """Table of the last places visited: the climb, and its number of steps there.

    Parameters
    ----------
    n : int
        Number of climbs. The table holds 4 n places or more, so its memory is O(n d).
    d : int
        Number of features.
    """

    def __init__(self, n: int, d: int) -> None:
        size = 1 << int(np.ceil(np.log2(4 * n)))
        self._places = np.full((size + _PROBES, d), np.nan)
        self._climbs = np.full(size + _PROBES, -1)
        self._steps = np.zeros(size + _PROBES, dtype=np.int64)
        self.leaders = np.full(n, -1)
        self.heads = np.zeros(n, dtype=np.int64)

    def meet(self, climbing: np.ndarray, positions: np.ndarray, step: int) -> np.ndarray:
        """Note the positions of climbs; return the mask of climbs that now follow another.

        ``leaders`` then holds the climb that they follow, and ``heads`` the steps of the leader at
        that place, minus the steps of the follower.
        """
        met = np.zeros(len(climbing), dtype=bool)
        _meet(
            self._places, self._climbs, self._steps, climbing, positions, step,
            self.leaders, self.heads, met,
        )  # fmt: skip
        return met


@bare_kernel
def _meet(places, climbs, steps, climbing, positions, step, leaders, heads, met):
    mask = np.uint64(places.shape[0] - _PROBES - 1)
    d = positions.shape[1]
    for i in range(climbing.shape[0]):
        home = np.int64(hash_row(positions[i]) & mask)
        seat = home
        for probe in range(home, home + _PROBES):
            same = True
            for k in range(d):
                same &= places[probe, k] == positions[i, k]
            if same:
                seat = -1
                if _leads_elsewhere(leaders, climbs[probe], climbing[i]):
                    leaders[climbing[i]] = climbs[probe]
                    heads[climbing[i]] = steps[probe] - step
                    met[i] = True
                break
            if climbs[probe] < 0:
                seat = probe
                break
        if not met[i] and seat >= 0:
            climbs[seat] = climbing[i]
            steps[seat] = step
            for k in range(d):
                places[seat, k] = positions[i, k]


@bare_kernel
def _leads_elsewhere(leaders, other, climb):
    """Return whether a climb can follow ``other`` without following itself.

    Far from the origin, where rounding is coarse, climbs go in circles: a climb may return to its
    own place, or reach the place of a climb that follows it. Then it continues alone.
    """
    while leaders[other] >= 0:
        other = leaders[other]
    return other != climb
