"""The runs of the reproduction.

========== =====================================================================================
experiment runs
========== =====================================================================================
paper      Sets 1 to 7, all algorithms, every seed: the paper's tables
larger     Set 5 made 12.5 times larger, as in the paper's text
thresholds Sets 2 and 4 over a grid of Th1 and Th2
size       the classes of Sets 2 to 4 with 25 to 15,000 points each; the stochastic algorithm
           with both stopping rules
bandwidth  Sets 1 to 7 over h, Th1 and Th2 unchanged
========== =====================================================================================
"""

from collections.abc import Iterator
from typing import NamedTuple

from modeshift.datasets import paper_set
from modeshift.paper.runs import Task
from modeshift.paper.setting import ALGORITHMS, Setting

SETS = tuple(range(1, 8))
PAIR = ("D", "S")
LARGER_SET, LARGER_SCALE = 5, 12.5
MAP_SETS = (2, 4)
SIZE_SET = 2


class Plan(NamedTuple):
    """Sizes of the experiments.

    Attributes
    ----------
    seeds : int
        Number of seeds of the experiments "paper" and "larger".
    extra_seeds : int
        Number of seeds of the others.
    th1s, th2s : tuples of float
        The map of thresholds.
    per_class : tuple of int
        Points per class, for the curve over the size.
    bandwidths : tuple of float
    """

    seeds: int
    extra_seeds: int
    th1s: tuple[float, ...]
    th2s: tuple[float, ...]
    per_class: tuple[int, ...]
    bandwidths: tuple[float, ...]

    def with_seeds(self, seeds: int) -> "Plan":
        """Return the same plan with another number of seeds; ``extra_seeds`` is at most this."""
        return self._replace(seeds=seeds, extra_seeds=min(seeds, self.extra_seeds))


FULL = Plan(
    seeds=100,
    extra_seeds=10,
    th1s=(0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08),
    th2s=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    per_class=(25, 50, 100, 250, 500, 1500, 5000, 15000),
    bandwidths=(0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.1, 1.2, 1.4),
)

QUICK = Plan(
    seeds=3,
    extra_seeds=1,
    th1s=(0.005, 0.02, 0.06),
    th2s=(0.1, 0.2, 0.3),
    per_class=(25, 100, 500, 1500),
    bandwidths=(0.6, 0.8, 1.0),
)


def make_tasks(plan: Plan, settings: dict[str, Setting]) -> list[Task]:
    """Return all runs, by rising seed, so that the time left can be estimated."""
    return sorted(_tasks(plan, settings), key=lambda task: task.seed)


def _tasks(plan: Plan, settings: dict[str, Setting]) -> Iterator[Task]:
    for seed in range(plan.seeds):
        for algorithm in ALGORITHMS:
            h, th1, th2, quiet = settings[algorithm]
            for index in SETS:
                yield Task("paper", index, 1, seed, algorithm, h, th1, quiet, (th2,))
            yield Task("larger", LARGER_SET, LARGER_SCALE, seed, algorithm, h, th1, quiet, (th2,))
    for seed in range(plan.extra_seeds):
        yield from _extra_tasks(plan, settings, seed)


def _extra_tasks(plan: Plan, settings: dict[str, Setting], seed: int) -> Iterator[Task]:
    for algorithm in ALGORITHMS:
        h, th1, th2, quiet = settings[algorithm]
        for points in plan.per_class:
            scale = points / int(paper_set(SIZE_SET).sizes[0])
            yield Task("size", SIZE_SET, scale, seed, algorithm, h, th1, quiet, (th2,))
            if quiet is not None:
                yield Task("size", SIZE_SET, scale, seed, algorithm, h, th1, None, (th2,))
    for algorithm in PAIR:
        h, th1, th2, quiet = settings[algorithm]
        for index in MAP_SETS:
            for other in plan.th1s:
                yield Task("thresholds", index, 1, seed, algorithm, h, other, quiet, plan.th2s)
        for index in SETS:
            for other in plan.bandwidths:
                yield Task("bandwidth", index, 1, seed, algorithm, other, th1, quiet, (th2,))
