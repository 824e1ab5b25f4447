"""Compilation of kernels: when it takes long, one line says so.

The line goes to the logger ``modeshift``, so to standard error unless logging is set up otherwise.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from time import monotonic

_KEPT = (
    "modeshift is compiling its kernels, once on this machine for each kind of fit. Later fits "
    "start at once; the command 'modeshift warmup' compiles ahead."
)
_NOT_KEPT = (
    "modeshift is compiling its kernels. Every process does, because no folder for them is "
    "writable; set NUMBA_CACHE_DIR to one that is."
)


class Compilation:
    """The compilation of kernels in this process.

    A fit compiles several kernels, with work between them. So the time of all is added up, and the
    line appears once, until there was a longer pause.

    Attributes
    ----------
    n_kernels : int
        Number of kernels that were compiled so far; kernels from the disk do not count.
    """

    PATIENCE = 2.0  # seconds of compiling before the line
    _PAUSE = 10.0  # seconds without compiling, after which the next kernel is news again

    def __init__(self) -> None:
        self.n_kernels = 0
        self._lock = Lock()
        self._depth = 0  # a kernel may compile others that it calls
        self._began = self._ended = monotonic()
        self._spent = 0.0
        self._has_told = False
        self._n_silent = 0
        self._timer: Timer | None = None

    @property
    def goes_on(self) -> bool:
        """Whether a kernel is being compiled now."""
        return self._depth > 0

    def begin(self, kept: bool) -> None:
        """Note that a kernel begins to compile; ``kept``: its code will be kept on disk."""
        self.n_kernels += 1
        self._depth += 1
        if self._depth > 1:
            return
        self._began = monotonic()
        if self._began - self._ended > self._PAUSE:
            self._spent, self._has_told = 0.0, False
        if not self._has_told:
            wait = max(0.0, self.PATIENCE - self._spent)
            self._timer = Timer(wait, self._tell, [_KEPT if kept else _NOT_KEPT])
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Note that a kernel is compiled, or failed to."""
        self._depth -= 1
        if self._depth > 0:
            return
        self._ended = monotonic()
        self._spent += self._ended - self._began
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def silently(self) -> Iterator[None]:
        """Within this context the line does not appear: something else shows it, or nothing may."""
        with self._lock:
            self._n_silent += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_silent -= 1

    def _tell(self, line: str) -> None:
        if self._n_silent == 0:
            self._has_told = True
            # Lower levels do not reach standard error unless logging is set up.
            logging.getLogger("modeshift").warning(line)


COMPILATION = Compilation()
