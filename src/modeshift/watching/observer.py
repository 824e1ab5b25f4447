"""Who watches a fit: a callback, a checkpoint, or nobody."""

from collections.abc import Callable
from typing import Any, NamedTuple

from modeshift.watching.checkpoint import Checkpoint, fingerprint
from modeshift.watching.progress import Progress
from modeshift.watching.watch import Watch


class Observer(NamedTuple):
    """What a user wants to know about a fit while it runs.

    Attributes
    ----------
    callback : function or None
        Called after every sweep with a :class:`Progress`.
    checkpoint : str, path or None
        File that keeps the state of the fit.
    every : float
        Seconds between two writings of the checkpoint.
    mark : tuple
        Everything but the data that the result depends on.
    """

    callback: Callable[[Progress], object] | None = None
    checkpoint: Any = None
    every: float = 60.0
    mark: tuple = ()

    def watch(self, report: Callable[..., None] | None, *data: Any) -> Watch:
        """Make what a schedule reports to, for the data that the fit is of."""
        if self.checkpoint is None:
            return Watch(report)
        mark = fingerprint(*self.mark, *data)
        return Watch(report, Checkpoint(self.checkpoint, float(self.every), mark))


NOBODY = Observer()
