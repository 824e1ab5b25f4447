"""The observer of a fit: functions that are called after every sweep, and a checkpoint."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.checks import check_real
from modeshift.io.write import check_place
from modeshift.watching.checkpoint import CheckpointFile, fingerprint
from modeshift.watching.progress import Progress
from modeshift.watching.watch import Watch

Callback = Callable[[Progress], object]


class Checkpoint:
    """Keep the state of a fit in a file, so that a later fit can continue from it.

    Pass it to ``set_callbacks`` of an estimator. The file is written every ``every`` seconds and at
    Ctrl-C, and removed when the fit is done. If the file exists, a fit with the same data and
    parameters continues from it. The result is that of a fit that was never stopped.

    Parameters
    ----------
    path : str or path
        The file. Its folder must exist.
    every : float, default=60.0
        Seconds between two saves.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift import Checkpoint, StochasticMeanShift, datasets
    >>> X, _ = datasets.make_paper_set(3, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder) / "fit.checkpoint", every=60)
    ...     model = StochasticMeanShift(bandwidth=0.9, random_state=0)
    ...     model = model.set_callbacks(checkpoint).fit(X)
    >>> model.converged_
    True
    """

    def __init__(self, path: Any, every: float = 60.0) -> None:
        if not isinstance(path, str | PathLike):
            raise TypeError(f"path of a Checkpoint must be a str or a path, got {path!r}.")
        self.path = Path(path)
        check_place(self.path, force=True)
        self.every = check_real("every", every, low=0.0)

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, every={self.every:g})"


class Observer(NamedTuple):
    """Callbacks and checkpoint of one fit.

    Attributes
    ----------
    callbacks : tuple of functions
        Called after every sweep with a :class:`Progress`.
    checkpoint : Checkpoint or None
    mark : tuple
        All values, except the data, that the result depends on.
    """

    callbacks: tuple[Callback, ...] = ()
    checkpoint: Checkpoint | None = None
    mark: tuple = ()

    def tell(self, progress: Progress) -> None:
        """Call all callbacks with the progress."""
        for callback in self.callbacks:
            callback(progress)

    def tell_choice(self, done: int, total: int) -> None:
        """Tell callbacks with a method ``on_choice`` how far the choice of the bandwidth is."""
        self._call("on_choice", done, total)

    @contextmanager
    def fitting(self, unit: str) -> Iterator[None]:
        """Around a fit: tell callbacks with methods ``on_begin`` and ``on_end``.

        ``on_begin`` gets the unit in which ``Progress.sweep`` counts: "sweep" or "step".
        """
        try:
            self._call("on_begin", unit)
            yield
        finally:
            self._call("on_end")

    def _call(self, hook: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            if hasattr(callback, hook):
                getattr(callback, hook)(*arguments)

    def watch(self, report: Callable[..., None] | None, *data: Any) -> Watch:
        """Return the watch that a schedule reports to. The data identify the fit."""
        if self.checkpoint is None:
            return Watch(report)
        mark = fingerprint(*self.mark, *data)
        file = CheckpointFile(self.checkpoint.path, self.checkpoint.every, mark)
        return Watch(report, file)


def sorted_callbacks(callbacks: tuple[Any, ...]) -> tuple[tuple[Callback, ...], Checkpoint | None]:
    """Return the functions, and the checkpoint or None; refuse anything else."""
    checkpoints = [each for each in callbacks if isinstance(each, Checkpoint)]
    functions = tuple(each for each in callbacks if not isinstance(each, Checkpoint))
    for each in functions:
        if not callable(each):
            raise TypeError(
                f"set_callbacks takes functions and modeshift.Checkpoint objects, got {each!r}."
            )
    if len(checkpoints) > 1:
        raise ValueError(f"set_callbacks takes one Checkpoint, got {len(checkpoints)}.")
    return functions, checkpoints[0] if checkpoints else None
