"""Work in blocks, on threads, in bites small enough that Ctrl-C is answered at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import perf_counter


class Pace:
    """How much to do in one call of a kernel, so that it returns after about ``seconds``.

    Python answers signals only between calls.
    """

    def __init__(self, size: int = 16, seconds: float = 0.05) -> None:
        self.size = size
        self.seconds = seconds

    def learn(self, size: int, elapsed: float) -> None:
        """Adapt, by a factor of 4 at most, to a call that did ``size`` and took ``elapsed``."""
        wanted = size * self.seconds / max(elapsed, 1e-9)
        self.size = max(1, int(min(max(wanted, self.size / 4), self.size * 4)))


class _Blocks:
    """Hands out consecutive blocks of ``range(n)`` to several threads."""

    def __init__(self, n: int, n_jobs: int) -> None:
        self.n = n
        # Shares small enough that no thread waits long for the last one.
        self.largest = n if n_jobs == 1 else n // (16 * n_jobs) + 1
        self.next = 0
        self.stopped = False
        self.pace = Pace()
        self.lock = Lock()

    def take(self) -> tuple[int, int] | None:
        with self.lock:
            if self.stopped or self.next >= self.n:
                return None
            start = self.next
            self.next = min(self.n, start + min(self.pace.size, self.largest))
            return start, self.next


def _work_through(blocks: _Blocks, work: Callable[[int, int], bool | None]) -> None:
    while (block := blocks.take()) is not None:
        started = perf_counter()
        try:
            if work(*block):
                blocks.stopped = True
        except BaseException:  # Ctrl-C too: the others finish their block, no more
            blocks.stopped = True
            raise
        with blocks.lock:
            blocks.pace.learn(block[1] - block[0], perf_counter() - started)


def run_blocks(work: Callable[[int, int], bool | None], n: int, n_jobs: int = 1) -> bool:
    """Call ``work(start, stop)`` for consecutive blocks that cover ``range(n)``.

    The blocks run on ``n_jobs`` threads, this one among them, so ``work`` must release the GIL.
    When a call returns True, no further block is begun. Returns whether that happened.
    """
    blocks = _Blocks(n, n_jobs)
    if n_jobs == 1:
        _work_through(blocks, work)
        return blocks.stopped
    with ThreadPoolExecutor(n_jobs - 1) as pool:
        others = [pool.submit(_work_through, blocks, work) for _ in range(n_jobs - 1)]
        _work_through(blocks, work)
        for other in others:
            other.result()
    return blocks.stopped
