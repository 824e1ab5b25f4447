"""One run: a set, an algorithm and a seed in; the seven columns, steps and seconds out."""

import os
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from threading import Thread
from time import perf_counter, sleep
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from modeshift.datasets import make_paper_set
from modeshift.engines.cpu.components import connected_components
from modeshift.metrics import k_score, purity_report
from modeshift.paper.setting import Setting, make_estimator

Record = dict[str, Any]


class Task(NamedTuple):
    """One fit. Its ends can be merged with several Th2 at little cost.

    Attributes
    ----------
    experiment : str
        Experiment of the run; see ``plan.py``.
    set_number : int
        Number of the set.
    scale : float
        Factor of the class sizes.
    seed : int
        Seed for the set and for the steps of the stochastic algorithm. So all algorithms get the
        same points, and their results are compared in pairs.
    algorithm : str
        "D", "S" or "B".
    bandwidth, th1 : float
    quiet : int or None
        As in ``Setting``.
    th2s : tuple of float
    """

    experiment: str
    set_number: int
    scale: float
    seed: int
    algorithm: str
    bandwidth: float
    th1: float
    quiet: int | None
    th2s: tuple[float, ...]

    @property
    def key(self) -> str:
        """Name of the task in the file of results."""
        return " ".join(str(part) for part in self)


def run_task(task: Task) -> list[Record]:
    """Draw, fit, merge and measure; return one record for each Th2."""
    _warm_up(task.algorithm, task.set_number)
    X, y = make_paper_set(task.set_number, scale=task.scale, random_state=task.seed)
    setting = Setting(task.bandwidth, task.th1, task.th2s[0], task.quiet)
    estimator = make_estimator(task.algorithm, setting, len(y), task.seed)
    started = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `converged` records it
        estimator.fit(X)
    seconds = perf_counter() - started
    fit = {
        "experiment": task.experiment,
        "set": task.set_number,
        "points": len(y),
        "seed": task.seed,
        "algorithm": task.algorithm,
        "bandwidth": task.bandwidth,
        "th1": task.th1,
        "quiet": task.quiet,
        "steps": estimator.n_steps_,
        "sweeps": estimator.n_iter_,
        "converged": estimator.converged_,
        "seconds": round(seconds, 4),
    }
    return [{**fit, "th2": th2, **_measure(y, estimator, th2)} for th2 in task.th2s]


@cache
def _warm_up(algorithm: str, set_number: int) -> None:
    """Compile or load the kernels, once per process, so that this is not timed."""
    X, _ = make_paper_set(set_number, scale=0.1, random_state=0)
    make_estimator(algorithm, Setting(0.8, 0.02, 0.25), len(X), seed=0).fit(X)


def run_tasks(tasks: Iterable[Task], jobs: int) -> Iterator[tuple[Task, list[Record]]]:
    """Run tasks on several processes; yield each task with its records when it is done."""
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(delayed(_run_with_task)(task, os.getpid()) for task in tasks)


def _run_with_task(task: Task, giver: int) -> tuple[Task, list[Record]]:
    if os.getpid() != giver:
        _end_with(giver)
    return task, run_task(task)


@cache
def _end_with(parent: int) -> None:
    """End this process a second after its parent: one that was killed ends nobody."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _measure(y: Any, estimator: Any, th2: float) -> Record:
    """Return the paper's columns, and two that one giant cluster with strays cannot raise."""
    labels = connected_components(estimator.modes_, th2)
    report = {
        **purity_report(y, labels)._asdict(),
        "k_weighted": k_score(y, labels, weighted=True),
        "ari": adjusted_rand_score(y, labels),
    }
    return {name: round(value, 6) for name, value in report.items()}
