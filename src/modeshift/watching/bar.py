"""The progress bar of a fit, as a callback."""

from contextlib import ExitStack
from threading import Event, Thread
from typing import Any

from modeshift.checks import check_whole
from modeshift.watching.compiling import COMPILATION
from modeshift.watching.screen import Screen
from modeshift.watching.story import Story


class ProgressBar:
    """Show the progress of a fit on standard error.

    Pass it to ``set_callbacks`` of an estimator. After a second of fitting it shows what the fit
    does: compile kernels, choose a bandwidth, or move points; with the time so far and, where it
    can be estimated, the time left. On a terminal and in a notebook this is a bar, which is removed
    at the end; elsewhere it is a line every ten seconds.

    Parameters
    ----------
    n_runs : int, default=1
        Number of fits that belong together, as those of a ``Consensus``.

    Examples
    --------
    >>> from modeshift import ProgressBar, StochasticMeanShift, datasets
    >>> X, _ = datasets.make_paper_set(3, random_state=0)
    >>> model = StochasticMeanShift(bandwidth=0.9).set_callbacks(ProgressBar()).fit(X)
    """

    PATIENCE = 1.0  # seconds of a fit before anything is shown
    _INTERVAL = 0.2  # seconds between two pictures

    def __init__(self, n_runs: int = 1) -> None:
        self.n_runs = check_whole("n_runs", n_runs, low=1)
        self._story: Story | None = None
        self._stack = ExitStack()

    def __repr__(self) -> str:
        return f"ProgressBar({'' if self.n_runs == 1 else f'n_runs={self.n_runs}'})"

    def __reduce__(self) -> tuple[type, tuple]:
        return ProgressBar, (self.n_runs,)  # a copy in another process has nothing to show yet

    def on_begin(self, unit: str) -> None:
        """Begin to show a fit that counts in this unit: "sweep" or "step"."""
        self.on_end()  # a fit of the same estimator in another thread
        if self._story is None or self._story.is_at_last_run:
            self._story = Story(unit, self.PATIENCE, self.n_runs)
            self._screen = Screen()
        else:
            self._story.next_run()
        over = Event()
        # The thread shows the time also while a compiler or a kernel runs for long.
        arguments = (self._story, self._screen, over)
        thread = Thread(target=self._keep_drawing, args=arguments, daemon=True)
        self._stack.enter_context(COMPILATION.silently())  # the bar says it
        self._stack.callback(thread.join)
        self._stack.callback(over.set)
        thread.start()

    def on_choice(self, done: int, total: int) -> None:
        """Note how many of the bandwidths were tried."""
        if self._story is not None:
            self._story.tried(done, total)

    def __call__(self, state: Any) -> None:
        """Note a :class:`modeshift.watching.Progress`."""
        if self._story is not None:
            self._story.swept(state)

    def on_end(self) -> None:
        """End the bar of this fit."""
        self._stack.close()

    def _keep_drawing(self, story: Story, screen: Screen, over: Event) -> None:
        while not over.wait(self._INTERVAL):
            if story.seconds >= self.PATIENCE:
                screen.show(*story.tell(COMPILATION.goes_on))
        screen.clear()
