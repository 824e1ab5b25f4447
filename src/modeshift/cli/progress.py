"""Progress of a long task, on standard error: a bar on a terminal, plain lines elsewhere.

The bar needs the extra ``modeshift[cli]``; without it a terminal gets the plain lines.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from math import log
from time import monotonic
from typing import Any, Self, TypeVar

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0


def progress(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """Yield the items; show how many are done, and the time left.

    Parameters
    ----------
    items : iterable
    total : int
        Number of items.
    title : str
        The task, in a few words.
    """
    if _can_draw():
        return _with_bar(items, total, title)
    return _with_lines(items, total, title)


def _can_draw() -> bool:
    return sys.stderr.isatty() and find_spec("rich") is not None


def _with_bar(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    from rich import progress as rich
    from rich.console import Console

    columns = [
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left:"),
        rich.TimeRemainingColumn(),
    ]
    with rich.Progress(*columns, console=Console(stderr=True)) as bar:
        yield from bar.track(items, total=total, description=title)


def _with_lines(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    started = last = monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = monotonic()
        if done == total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left = (now - started) * (total - done) / done
            print(
                f"{title}: {done} of {total}, {_clock(now - started)}, {_clock(left)} left",
                file=sys.stderr,
                flush=True,
            )


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class FitProgress:
    """A callback that shows the progress of a fit, and a context around the fit.

    The number of sweeps is not known beforehand. The time left is estimated from the number of
    points that still move: its logarithm falls at a nearly constant rate.

    Parameters
    ----------
    word : str
        What a sweep is called.
    n_runs : int, default=1
        Number of fits. The time left is that of the current one.
    """

    _PATIENCE = 1.0  # seconds of a fit before anything is shown
    _SHARE_FOR_COUNTING = 0.05  # largest share of the time spent on counting clusters
    _CLEAR_FALL = 0.1  # fall of the logarithm below which no time left is shown

    def __init__(self, word: str, n_runs: int = 1) -> None:
        self._word = word
        self._n_runs = n_runs
        self._run = 1
        self._sweep = 0
        self._started = self._last = monotonic()
        self._levels: list[tuple[float, float]] = []
        self._clusters = ""
        self._next_count = 0.0
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, state: Any) -> None:
        """Show a :class:`modeshift.watching.Progress`."""
        now = monotonic()
        if state.sweep <= self._sweep:  # the next run
            self._run += 1
            self._levels = []
        self._sweep = state.sweep
        self._levels.append((now, log(1 + state.n_moving)))
        if now - self._started < self._PATIENCE:
            return
        if _can_draw():
            self._count(state, now)
            self._draw(state, now)
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            self._count(state, now)
            print(self._text(state, now), file=sys.stderr, flush=True)

    def on_choice(self, done: int, total: int) -> None:
        """Show how many of the bandwidths were tried."""
        now = monotonic()
        if now - self._started < self._PATIENCE:
            return
        text = f"choosing the bandwidth, {done} of {total} tried, {_clock(now - self._started)}"
        if _can_draw():
            self._show(done / total, text)
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(text, file=sys.stderr, flush=True)

    def _count(self, state: Any, now: float) -> None:
        """Count the clusters, unless that would take too much of the time."""
        if now >= self._next_count:
            self._clusters = f", {state.count_clusters():,} clusters so far"
            self._next_count = monotonic() + (monotonic() - now) / self._SHARE_FOR_COUNTING

    def _seconds_left(self) -> float | None:
        """Extrapolate the second half of the time so far to the end, when no point moves."""
        now, level = self._levels[-1]
        middle = (self._levels[0][0] + now) / 2
        then, former = next(entry for entry in self._levels if entry[0] >= middle)
        if former - level < self._CLEAR_FALL:
            return None
        return level * (now - then) / (former - level)

    def _text(self, state: Any, now: float) -> str:
        left = self._seconds_left()
        run = f"run {self._run} of {self._n_runs}, " if self._n_runs > 1 else ""
        return (
            f"{run}{self._word} {state.sweep:,}, {state.n_moving:,} still moving{self._clusters}, "
            f"{_clock(now - self._started)}" + ("" if left is None else f", {_clock(left)} left")
        )

    def _draw(self, state: Any, now: float) -> None:
        elapsed, left = now - self._levels[0][0], self._seconds_left()
        share = 0.0 if left is None else elapsed / (elapsed + left)
        self._show((self._run - 1 + share) / self._n_runs, self._text(state, now))

    def _show(self, done: float, text: str) -> None:
        from rich import progress as rich
        from rich.console import Console

        if self._bar is None:
            columns = [rich.BarColumn(bar_width=20), rich.TextColumn("{task.description}")]
            console = Console(stderr=True)
            self._bar = rich.Progress(*columns, console=console, transient=True)
            self._bar.add_task("", total=1.0)
            self._bar.start()
        self._bar.update(0, completed=done, description=text)
