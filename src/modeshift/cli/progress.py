"""Progress of a long task, on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0


def progress(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """Pass the items on and show how many of them there were, and the time left.

    The bar needs the extra ``modeshift[cli]``; without it a terminal gets the plain lines.

    Parameters
    ----------
    items : iterable
    total : int
        Their number.
    title : str
        What is going on, in a few words.
    """
    if sys.stderr.isatty() and find_spec("rich"):
        return _with_bar(items, total, title)
    return _with_lines(items, total, title)


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
