"""Who watches a fit: functions that are called after every sweep, and a checkpoint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.checks import check_real
from modeshift.watching.checkpoint import CheckpointFile, fingerprint
from modeshift.watching.progress import Progress
from modeshift.watching.watch import Watch

Callback = Callable[[Progress], object]


class Checkpoint:
    """Keep the state of a fit in a file, so that a later fit can go on from there.

    Pass it to ``set_callbacks`` of an estimator. The file is written every ``every`` seconds and at
    Ctrl-C, and removed when the fit is done. A fit with the same data and parameters that finds the
    file goes on from there, and ends as if it had never stopped.

    Parameters
    ----------
    path : str or path
    every : float, default=60.0
        Seconds between two writings.
    """

    def __init__(self, path: Any, every: float = 60.0) -> None:
        self.path = Path(path)
        self.every = check_real("every", every, low=0.0)

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, every={self.every:g})"


class Observer(NamedTuple):
    """What a user wants to know about a fit while it runs.

    Attributes
    ----------
    callbacks : tuple of functions
        Called after every sweep with a :class:`Progress`.
    checkpoint : Checkpoint or None
    mark : tuple
        Everything but the data that the result depends on.
    """

    callbacks: tuple[Callback, ...] = ()
    checkpoint: Checkpoint | None = None
    mark: tuple = ()

    def tell(self, progress: Progress) -> None:
        """Call all callbacks."""
        for callback in self.callbacks:
            callback(progress)

    def watch(self, report: Callable[..., None] | None, *data: Any) -> Watch:
        """Make what a schedule reports to, for the data that the fit is of."""
        if self.checkpoint is None:
            return Watch(report)
        mark = fingerprint(*self.mark, *data)
        file = CheckpointFile(self.checkpoint.path, self.checkpoint.every, mark)
        return Watch(report, file)


def sorted_callbacks(callbacks: tuple[Any, ...]) -> tuple[tuple[Callback, ...], Checkpoint | None]:
    """Part functions from the one checkpoint, or say what cannot be used."""
    checkpoints = [each for each in callbacks if isinstance(each, Checkpoint)]
    functions = tuple(each for each in callbacks if not isinstance(each, Checkpoint))
    for each in functions:
        if not callable(each):
            raise TypeError(
                "set_callbacks takes functions of a Progress, and modeshift.Checkpoint, "
                f"got {each!r}."
            )
    if len(checkpoints) > 1:
        raise ValueError(f"set_callbacks takes one Checkpoint, got {len(checkpoints)}.")
    return functions, checkpoints[0] if checkpoints else None
