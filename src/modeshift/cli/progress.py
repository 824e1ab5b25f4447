"""Progress of a long task, on standard error: a bar on a terminal, plain lines elsewhere.

The bar needs the extra ``modeshift[cli]``; without it a terminal gets the plain lines.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from time import monotonic
from typing import TypeVar

from modeshift.watching.screen import SECONDS_BETWEEN_LINES
from modeshift.watching.story import as_clock

T = TypeVar("T")


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
                f"{title}: {done} of {total}, {as_clock(now - started)}, {as_clock(left)} left",
                file=sys.stderr,
                flush=True,
            )
