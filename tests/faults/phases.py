"""Loaded by a Dask scheduler: it prints each phase of a fit when the first task of it begins."""

import re
from typing import Any

from distributed import Scheduler, SchedulerPlugin

_NAME = re.compile(r"\W*modeshift-([a-z-]+)-[0-9a-f]{32}")


class Phases(SchedulerPlugin):
    """Prints the names of the tasks that begin, once each."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:
        """Print the name of a task that is given to a worker."""
        found = _NAME.match(str(key))
        if finish == "processing" and found and found[1] not in self._printed:
            self._printed.add(found[1])
            print(found[1], flush=True)


def dask_setup(scheduler: Scheduler) -> None:
    """Join the scheduler; Dask calls this."""
    scheduler.add_plugin(Phases())
    print("ready", flush=True)
