"""Climbs that meet go on together: a table of the places where climbs have been.

A step depends on the place alone. A climb that comes, to the last bit, to where another one has
been before will take the same steps from there on, so it need not take them.
"""

import numpy as np

from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel

_PROBES = 8  # entries looked at for a place; when all are taken the first is overwritten


class MeetingTable:
    """Remembers which climb was where after how many steps, for the last places visited.

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
        """Note where climbs are; return the mask of those that met a former one and follow it.

        ``leaders`` then tells whom, and ``heads`` how many steps the leader had taken there less
        the follower's own.
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
    """Whether a climb that follows ``other`` does not follow itself.

    Far from the origin, where rounding is coarse, climbs go in circles: one may come to its own
    earlier place, or to that of a climb that follows it. It then goes on alone.
    """
    while leaders[other] >= 0:
        other = leaders[other]
    return other != climb
