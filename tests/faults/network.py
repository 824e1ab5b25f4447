"""Dask clusters that lose their parts: processes that are killed, lines that stall or are cut.

A fit gives the labels of an undisturbed one, or one error in bounded time.
"""

import random
import signal
import subprocess
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import distributed
import numpy as np

from faults.cluster import Cluster, kill_one_worker
from faults.distributed_fit import KINDS, points
from faults.proxy import Proxy
from faults.trying import Fault, run_all

PROGRAM = Path(__file__).with_name("distributed_fit.py")

LONGEST = 150.0
"""Seconds after which a fit counts as hanging: it takes 5, a silent worker 50, its loss 10 more."""

PHASES = {
    "cells": ["sample", "join-samples", "compress", "join-cells"],
    "wander": [
        *("partition", "partition-facts", "round-places", "round-ask", "round-add", "round-mean"),
        *("round-shift", "round-move", "test-places", "test-shift", "merge", "merge-facts"),
        *("merge-pairs", "labels", "centers", "tree", "predict-places", "predict-nearest"),
    ],
    "blur": ["round-ask", "round-move"],
    "climb": ["climb-start", "climb-left", "round-move", "climb-ends"],
}
"""Names of the tasks of each kind of fit. The other two have many in common with the second."""

EVERY_PHASE = [(kind, phase) for kind, phases in PHASES.items() for phase in phases]

Harm = Callable[[Cluster, random.Random], None]


def run(folder: Path, seed: int, n_rounds: int) -> list[str]:
    """Kill in every phase once, and try each fault of a line in each round; return the failures."""
    return run_all(KILLS, folder, seed, 1) + run_all(LINES, folder, seed, n_rounds)


def scheduler_killed(cluster: Cluster, rng: random.Random) -> None:
    """It is gone with all that it knew."""
    cluster.scheduler.kill()


def worker_killed(cluster: Cluster, rng: random.Random) -> None:
    """Its nanny starts another one."""
    with distributed.Client(cluster.address, set_as_default=False) as client:
        kill_one_worker(client)


def scheduler_stopped(cluster: Cluster, rng: random.Random) -> None:
    """It is there and says nothing, as one whose machine has no memory left."""
    cluster.scheduler.send_signal(signal.SIGSTOP)


def line_cut(cluster: Cluster, rng: random.Random) -> None:
    """The workers or the client lose the scheduler, for good or for a while."""
    line = _one_side(cluster, rng)
    line.cut()
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0.0, 5.0))
        line.heal()


def worker_out_of_reach(cluster: Cluster, rng: random.Random) -> None:
    """A worker hears the scheduler, and nobody can connect to it, for good or for a while."""
    line = rng.choice(cluster.to_workers)
    line.cut()
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0.0, 5.0))
        line.heal()


def line_stalled(cluster: Cluster, rng: random.Random) -> None:
    """All connections stay, and nothing comes through."""
    _one_side(cluster, rng).stall()


def line_stalled_for_a_while(cluster: Cluster, rng: random.Random) -> None:
    """After some seconds all comes through that was held back."""
    line = _one_side(cluster, rng)
    line.stall()
    time.sleep(rng.uniform(0.0, 20.0))
    line.heal()


def line_slow(cluster: Cluster, rng: random.Random) -> None:
    """Each piece takes up to a twentieth of a second."""
    cluster.for_workers.slow_down(rng.uniform(0.0, 0.05))
    cluster.for_clients.slow_down(rng.uniform(0.0, 0.05))


def _one_side(cluster: Cluster, rng: random.Random) -> Proxy:
    return rng.choice([cluster.for_workers, cluster.for_clients])


def fit_under(harm: Harm, folder: Path, rng: random.Random, *, at: tuple[str, str]) -> str:
    """Do harm to a cluster when a phase of a fit begins; return how the fit ended."""
    kind, phase = at
    cluster = Cluster(folder)
    out = folder / "out.npz"
    process = cluster.start_client(str(PROGRAM), kind, str(out))
    try:
        cluster.wait_for(phase, process)
        was_over = process.poll() is not None
        harm(cluster, rng)
        answer, noise = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{kind}, {phase}: no end after {LONGEST:.0f} s") from None
    finally:
        process.kill()
        process.communicate()
        cluster.close()
    return judged(f"{kind}, {phase}", process.returncode, answer, noise, out) + (
        " (before the harm)" if was_over else ""
    )


def judged(name: str, code: int, answer: str, noise: str, out: Path) -> str:
    """Return how a fit ended; raise for a wrong label, and for any other end."""
    if code == 0:
        with np.load(out) as found:
            for part, expected in _expected(name.split(",")[0]).items():
                assert np.array_equal(found[part], expected), f"{name}: other {part}"
        return "same labels"
    assert code in (1, 2), f"{name}: ended with {code}: {noise}"
    assert code == 2 or len(answer.splitlines()) == 1, f"{name}: not one line: {answer}"
    return "one error" if code == 1 else "labels lost after the fit"


@cache
def _expected(kind: str) -> dict[str, np.ndarray]:
    X = points()
    fitted = KINDS[kind].fit(X)
    return {"labels": fitted.labels_, "predicted": fitted.predict(X[:50])}


def _in_some_phase(harm: Harm, folder: Path, rng: random.Random) -> str:
    return fit_under(harm, folder, rng, at=rng.choice(EVERY_PHASE))


KILLS: dict[str, Fault] = {
    f"{harm.__name__} in {kind}, {phase}": partial(fit_under, harm, at=(kind, phase))
    for harm in (scheduler_killed, worker_killed)
    for kind, phase in EVERY_PHASE
}
LINES: dict[str, Fault] = {
    harm.__name__: partial(_in_some_phase, harm)
    for harm in (
        scheduler_stopped,
        line_cut,
        worker_out_of_reach,
        line_stalled,
        line_stalled_for_a_while,
        line_slow,
    )
}
