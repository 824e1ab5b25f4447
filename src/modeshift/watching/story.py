"""The progress of a fit in words: compiling, choosing a bandwidth, moving points."""

from collections.abc import Callable
from math import log
from time import monotonic
from typing import Any

_SHARE_FOR_COUNTING = 0.05  # largest share of the time spent on counting clusters
_CLEAR_FALL = 0.1  # fall of the logarithm below which no time left is given


class Story:
    """The progress of one fit, as a share that is done and a text.

    The number of sweeps is not known beforehand. The time left is estimated from the number of
    points that still move: its logarithm falls at a nearly constant rate.

    Parameters
    ----------
    unit : {"sweep", "step"}
        What the fit counts.
    patience : float
        Seconds before clusters are counted; a short fit is not shown.
    n_runs : int
        Number of fits. The time left is that of the current one.
    clock : function
        Returns the time in seconds.
    """

    def __init__(
        self,
        unit: str,
        patience: float = 1.0,
        n_runs: int = 1,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._unit = unit
        self._n_runs = n_runs
        self._run = 1
        self._clock = clock
        self._started = clock()
        self._next_count = self._started + patience
        self._forget()

    def next_run(self) -> None:
        """Begin with the next of several fits."""
        self._run += 1
        self._forget()

    def _forget(self) -> None:
        self._levels: list[tuple[float, float]] = []
        self._clusters = ""
        self._text = "preparing"
        self._share = 0.0

    @property
    def is_at_last_run(self) -> bool:
        """Whether no other run follows."""
        return self._run >= self._n_runs

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._started

    def tried(self, done: int, total: int) -> None:
        """Note how many of the bandwidths were tried."""
        self._text = f"choosing the bandwidth, {done} of {total} tried"
        self._share = done / total

    def swept(self, state: Any) -> None:
        """Note a :class:`modeshift.watching.Progress`."""
        self._levels.append((self._clock(), log(1 + state.n_moving)))
        self._count(state)
        self._text = f"{self._unit} {state.sweep:,}, {state.n_moving:,} still moving"

    def tell(self, compiling: bool = False) -> tuple[float, str]:
        """Return the share that is done, and the text."""
        time = as_clock(self.seconds)
        if compiling:
            return self._of_all(self._share), f"compiling kernels, once on this machine, {time}"
        if not self._levels:
            return self._of_all(self._share), f"{self._text}, {time}"
        run = f"run {self._run} of {self._n_runs}, " if self._n_runs > 1 else ""
        text = f"{run}{self._text}{self._clusters}, {time}"
        left = self._seconds_left()
        if left is None:
            return self._of_all(0.0), text
        elapsed = self._clock() - self._levels[0][0]
        return self._of_all(elapsed / (elapsed + left)), f"{text}, {as_clock(left)} left"

    def _of_all(self, share: float) -> float:
        """Return the share of all runs, given the share of this one."""
        return (self._run - 1 + share) / self._n_runs

    def _count(self, state: Any) -> None:
        """Count the clusters, unless that would take too much of the time."""
        before = self._clock()
        if before >= self._next_count:
            self._clusters = f", {state.count_clusters():,} clusters so far"
            now = self._clock()
            self._next_count = now + (now - before) / _SHARE_FOR_COUNTING

    def _seconds_left(self) -> float | None:
        """Extrapolate the second half of the time so far to the end, when no point moves."""
        now, level = self._levels[-1]
        middle = (self._levels[0][0] + now) / 2
        then, former = next(entry for entry in self._levels if entry[0] >= middle)
        if former - level < _CLEAR_FALL:
            return None
        return level * (now - then) / (former - level)


def as_clock(seconds: float) -> str:
    """Return seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
