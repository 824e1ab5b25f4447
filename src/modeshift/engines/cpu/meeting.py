"""Climbs that meet continue as one: a table of the places that climbs have visited.

A step depends only on the place. A climb that reaches exactly, to the last bit, a place of another
climb would take the same steps from there on. So it follows that climb and takes none itself.
"""

import numpy as np

from modeshift.engines.cpu.hashing import hash_row
from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import run_shares, threads_for

_PROBES = 8  # entries tried for a place; if all are taken, the first is overwritten
_DRAWERS = 64  # parts of the table, whose entries threads can change at the same time
_LEAST = 4096  # climbs for which it pays to wake a thread
_NOBODY = -1.0


class MeetingTable:
    """Table of the last places visited: the climb, and its number of steps there.

    Parameters
    ----------
    n : int
        Number of climbs. The table holds 4 n places or more, so its memory is O(n d).
    d : int
        Number of features.
    n_jobs : int
        Number of threads. It does not change the result.
    """

    def __init__(self, n: int, d: int, n_jobs: int = 1) -> None:
        size = 1 << int(np.ceil(np.log2(max(4 * n, _DRAWERS))))
        # A row has the place, the climb and its steps, so that the cache fetches all at once.
        self._drawers = np.full((_DRAWERS, size // _DRAWERS + _PROBES, d + 2), _NOBODY)
        self._n_jobs = n_jobs
        self.leaders = np.full(n, -1)
        self.heads = np.zeros(n, dtype=np.int64)

    def meet(self, climbing: np.ndarray, positions: np.ndarray, step: int) -> np.ndarray:
        """Note the positions of climbs; return the mask of climbs that now follow another.

        ``leaders`` then holds the climb that they follow, and ``heads`` the steps of the leader at
        that place, minus the steps of the follower.
        """
        m, n_jobs = len(climbing), threads_for(len(climbing), _LEAST, self._n_jobs)
        homes, others = np.empty(m, dtype=np.int64), np.full(m, -1)
        steps, met = np.empty(m, dtype=np.int64), np.zeros(m, dtype=bool)
        drawers = self._drawers
        run_shares(lambda *part: _find_homes(drawers, positions, homes, *part), m, n_jobs)
        run_shares(
            lambda *part: _look_up(drawers, homes, climbing, positions, step, others, steps, *part),
            _DRAWERS,
            n_jobs,
        )
        _follow(climbing, others, steps, step, self.leaders, self.heads, met)
        return met


@bare_kernel
def _find_homes(drawers, positions, homes, start, stop):
    """Compute the number of the first entry for each position, as if there were no drawers."""
    mask = np.uint64(drawers.shape[0] * (drawers.shape[1] - _PROBES) - 1)
    for i in range(start, stop):
        homes[i] = np.int64(hash_row(positions[i]) & mask)


@bare_kernel
def _look_up(drawers, homes, climbing, positions, step, others, steps, first, last):
    """Find the climbs that were at the positions, or note the positions, in some of the drawers."""
    size, d = drawers.shape[1] - _PROBES, positions.shape[1]
    for i in range(homes.shape[0]):
        drawer, home = homes[i] // size, homes[i] % size
        if drawer < first or drawer >= last:
            continue
        seat = home
        for probe in range(home, home + _PROBES):
            entry = drawers[drawer, probe]
            if entry[d] == _NOBODY:
                seat = probe
                break
            same = True
            for k in range(d):
                same &= entry[k] == positions[i, k]
            if same:
                others[i], steps[i] = np.int64(entry[d]), np.int64(entry[d + 1])
                break
        if others[i] < 0:
            entry = drawers[drawer, seat]
            entry[d], entry[d + 1] = climbing[i], step
            for k in range(d):
                entry[k] = positions[i, k]


@bare_kernel
def _follow(climbing, others, steps, step, leaders, heads, met):
    """Let climbs follow those whose places they have reached."""
    for i in range(climbing.shape[0]):
        if others[i] >= 0 and _leads_elsewhere(leaders, others[i], climbing[i]):
            leaders[climbing[i]] = others[i]
            heads[climbing[i]] = steps[i] - step
            met[i] = True


@bare_kernel
def _leads_elsewhere(leaders, other, climb):
    """Return whether a climb can follow ``other`` without following itself.

    Far from the origin, where rounding is coarse, climbs go in circles: a climb may return to its
    own place, or reach the place of a climb that follows it. Then it continues alone.
    """
    while leaders[other] >= 0:
        other = leaders[other]
    return other != climb
