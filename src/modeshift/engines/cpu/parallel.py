"""Work in blocks on threads. Blocks are short, so Ctrl-C takes effect at once."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from threading import Lock
from time import perf_counter
from typing import Any


class Pace:
    """The amount of work for one call of a kernel, which should take about ``seconds``.

    Python handles signals only between calls.
    """

    def __init__(self, size: int = 16, seconds: float = 0.05) -> None:
        self.size = size
        self.seconds = seconds

    def learn(self, size: int, elapsed: float) -> None:
        """Adapt, by a factor of at most 4, to a call that did ``size`` in ``elapsed`` seconds."""
        wanted = size * self.seconds / max(elapsed, 1e-9)
        self.size = max(1, int(min(max(wanted, self.size / 4), self.size * 4)))


class _Blocks:
    """Hands out consecutive blocks of ``range(n)`` to several threads."""

    def __init__(self, n: int, n_jobs: int) -> None:
        self.n = n
        self.n_jobs = n_jobs
        self.next = 0
        self.stopped = False
        self.pace = Pace()
        self.lock = Lock()

    def take(self) -> tuple[int, int] | None:
        with self.lock:
            if self.stopped or self.next >= self.n:
                return None
            start, left = self.next, self.n - self.next
            # A part of what is left, so that no thread waits long for the last block.
            share = left if self.n_jobs == 1 else left // (2 * self.n_jobs) + 1
            self.next = start + min(self.pace.size, share)
            return start, self.next


def _work_through(blocks: _Blocks, work: Callable[[int, int], bool | None]) -> None:
    while (block := blocks.take()) is not None:
        started = perf_counter()
        try:
            if work(*block):
                blocks.stopped = True
        except BaseException:  # Ctrl-C too: other threads only finish their block
            blocks.stopped = True
            raise
        with blocks.lock:
            blocks.pace.learn(block[1] - block[0], perf_counter() - started)


def run_blocks(work: Callable[[int, int], bool | None], n: int, n_jobs: int = 1) -> bool:
    """Call ``work(start, stop)`` for consecutive blocks that cover ``range(n)``.

    The blocks run on ``n_jobs`` threads, the calling thread included, so ``work`` must release the
    GIL. If a call returns True, no further block starts. Returns whether a call returned True.
    """
    blocks = _Blocks(n, n_jobs)
    if n_jobs == 1:
        _work_through(blocks, work)
        return blocks.stopped
    _on_threads([(_work_through, blocks, work)] * n_jobs)
    return blocks.stopped


def threads_for(n: int, least: int, n_jobs: int) -> int:
    """Return how many threads to wake for n pieces of work: each has at least ``least`` of them."""
    return max(1, min(n_jobs, n // least))


def run_shares(work: Callable[[int, int], object], n: int, n_jobs: int = 1) -> None:
    """Call ``work(start, stop)`` once on each thread, for equal shares of ``range(n)``."""
    if n_jobs == 1:
        work(0, n)
        return
    ends = [n * i // n_jobs for i in range(n_jobs + 1)]
    _on_threads([(work, start, stop) for start, stop in pairwise(ends)])


def with_helpers(lead: Callable[[], None], serve: Callable[[int], object], n_helpers: int) -> None:
    """Call ``lead()`` on this thread and ``serve(i)``, i = 1, 2, ..., on others; wait for all.

    A call of ``serve`` that has not begun when ``lead`` returns is left out.
    """
    others = [_pool(n_helpers).submit(serve, i + 1) for i in range(n_helpers)]
    try:
        lead()
    finally:
        begun = [other for other in others if not other.cancel()]
        wait(begun)
    for other in begun:
        other.result()


def _on_threads(calls: list[tuple[Any, ...]]) -> None:
    """Make calls at the same time, the first of them on this thread; return when all are done."""
    function, *arguments = calls[0]
    others = [_pool(len(calls) - 1).submit(*call) for call in calls[1:]]
    try:
        function(*arguments)
        for other, (function, *arguments) in zip(others, calls[1:], strict=True):
            if other.cancel():  # other fits keep the threads busy
                function(*arguments)
            else:
                other.result()
    finally:
        wait([other for other in others if not other.cancel()])


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return threads that wait for work: starting threads anew takes longer than short work."""
    return ThreadPoolExecutor(n_threads, "modeshift")


if hasattr(os, "register_at_fork"):  # threads do not live on in a child process
    os.register_at_fork(after_in_child=_pool.cache_clear)
