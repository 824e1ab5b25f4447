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
    """Pass the items on and show how many of them there were, and the time left.

    Parameters
    ----------
    items : iterable
    total : int
        Their number.
    title : str
        What is going on, in a few words.
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
    """Shows how far a fit is: its ``callback``, and a context around it.

    How much is done is judged by the points that still move, as the number of sweeps is not known
    beforehand: few are left for a long time, so the share done is 1 - log(moving) / log(n).
    """

    _PATIENCE = 1.0  # seconds that a fit may take before anything is shown
    _SHARE_FOR_COUNTING = 0.05  # of the time, at most

    def __init__(self, word: str) -> None:
        self._word = word
        self._started = self._last = monotonic()
        self._clusters = ""
        self._next_count = 0.0
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, state: Any) -> None:
        """Show a :class:`modeshift.watch.Progress`."""
        now = monotonic()
        if now - self._started < self._PATIENCE:
            return
        done = 1 - log(1 + state.n_moving) / log(2 + len(state.positions))
        if _can_draw():
            self._count(state, now)
            self._draw(done, self._text(state, now, done))
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            self._count(state, now)
            print(self._text(state, now, done), file=sys.stderr, flush=True)

    def _count(self, state: Any, now: float) -> None:
        if now < self._next_count:
            return
        self._clusters = f", {state.count_clusters():,} clusters so far"
        self._next_count = monotonic() + (monotonic() - now) / self._SHARE_FOR_COUNTING

    def _text(self, state: Any, now: float, done: float) -> str:
        elapsed = now - self._started
        left = f", about {_clock(elapsed * (1 - done) / done)} left" if done > 0.02 else ""
        return (
            f"{self._word} {state.sweep:,}, {state.n_moving:,} still moving{self._clusters}, "
            f"{_clock(elapsed)}{left}"
        )

    def _draw(self, done: float, text: str) -> None:
        from rich import progress as rich
        from rich.console import Console

        if self._bar is None:
            columns = [rich.BarColumn(), rich.TextColumn("{task.description}")]
            console = Console(stderr=True)
            self._bar = rich.Progress(*columns, console=console, transient=True)
            self._bar.add_task("", total=1.0)
            self._bar.start()
        self._bar.update(0, completed=done, description=text)
