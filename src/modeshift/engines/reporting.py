"""Report a sweep to the callbacks, in the units of the user."""

from collections.abc import Callable
from typing import Any

from modeshift.engines.finish import merge
from modeshift.engines.problem import Problem
from modeshift.engines.space import Space
from modeshift.spec import Spec
from modeshift.watching.observer import Observer
from modeshift.watching.progress import Progress


def reporter(
    observer: Observer,
    space: Space,
    spec: Spec,
    problem: Problem,
    handed_back: Callable[[Any], Any],
) -> Callable[..., None] | None:
    """Return the function that calls the callbacks after a sweep; None if there are none.

    ``handed_back`` turns positions of the points in the user's units into the user's kind of array.
    """
    if not observer.callbacks:
        return None

    def report(positions: Any, factors: Any, **numbers: int) -> None:
        def count_clusters() -> int:
            measured = problem._replace(factors=factors).measured(positions)
            return int(merge(space, spec, problem, measured).max()) + 1

        observer.tell(
            Progress(
                max_iter=spec.max_iter,
                positions=handed_back(space.from_units(positions, problem.exponent)),
                count_clusters=count_clusters,
                **numbers,
            )
        )

    return report
