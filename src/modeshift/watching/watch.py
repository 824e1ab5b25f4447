"""The watch of a fit: it reports progress and writes checkpoints."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import numpy as np

from modeshift.watching.checkpoint import CheckpointFile


class Watch:
    """The object that a schedule reports to. Without arguments it does nothing.

    Parameters
    ----------
    report : function, optional
        Called after every sweep, with keywords (see ``swept``).
    checkpoint : CheckpointFile, optional
    """

    def __init__(
        self, report: Callable[..., None] | None = None, checkpoint: CheckpointFile | None = None
    ) -> None:
        self._report = report
        self._checkpoint = checkpoint
        self._snapshot: Callable[[], dict[str, np.ndarray]] | None = None
        self._written = monotonic()

    @property
    def reports(self) -> bool:
        """Whether every sweep is reported."""
        return self._report is not None

    def reorder(self, order: Any) -> None:
        """Report positions in another order from now on."""
        report = self._report
        if report is not None:
            self._report = lambda *, positions, **numbers: report(
                positions=positions[order], **numbers
            )

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Around a whole fit: Ctrl-C writes the checkpoint, success removes it."""
        try:
            yield
        except KeyboardInterrupt:
            self._save()
            raise
        if self._checkpoint is not None:
            self._checkpoint.remove()

    def begin(
        self,
        snapshot: Callable[[], dict[str, np.ndarray]],
        restore: Callable[[dict[str, np.ndarray]], None],
    ) -> None:
        """Continue from the checkpoint if there is one; keep ``snapshot`` for the next one.

        Parameters
        ----------
        snapshot : function
            Returns the state of the schedule's loop. It is called only while the state is
            consistent: in ``beat``, and anywhere outside ``steady``.
        restore : function
            Takes a state that ``snapshot`` returned.
        """
        if self._checkpoint is None:
            return
        saved = self._checkpoint.load()
        if saved is not None:
            restore(saved)
        self._snapshot = snapshot

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Around a short change of the state: Ctrl-C waits until the change is complete."""
        alone = threading.current_thread() is not threading.main_thread()
        if self._checkpoint is None or alone:  # no Ctrl-C reaches another thread
            yield
            return
        pressed: list[Any] = []
        before = signal.signal(signal.SIGINT, lambda *arguments: pressed.append(arguments))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        if pressed and callable(before):
            before(*pressed[0])

    def beat(self) -> None:
        """Write the checkpoint, if it is time. Called often, while the state is consistent."""
        if self._checkpoint is not None and monotonic() - self._written >= self._checkpoint.every:
            self._save()

    def swept(
        self,
        *,
        sweep: int,
        n_steps: int,
        n_moving: int,
        positions: Callable[[], Any],
        factors: np.ndarray | None = None,
    ) -> None:
        """Report a finished sweep; ``positions`` is called only if needed."""
        if self._report is not None:
            self._report(
                sweep=sweep,
                n_steps=n_steps,
                n_moving=n_moving,
                positions=positions(),
                factors=factors,
            )

    def _save(self) -> None:
        if self._checkpoint is not None and self._snapshot is not None:
            self._checkpoint.save(self._snapshot())
            self._written = monotonic()


UNWATCHED = Watch()
