"""Processes that start together: one cold cache of kernels, and the three ways to start a child."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

from load.jobs import points
from modeshift import MeanShift, StochasticMeanShift

N_PROCESSES = 8

FIT = """
import hashlib
from load.jobs import points
from modeshift import StochasticMeanShift
from modeshift.watching.compiling import COMPILATION
fitted = StochasticMeanShift(bandwidth=1.0, random_state=0).fit(points())
labels = fitted.predict(points(seed=1))
print(hashlib.sha256(fitted.modes_.tobytes() + labels.tobytes()).hexdigest(), COMPILATION.n_kernels)
"""


def run(seconds: float, seed: int) -> list[str]:
    """Let processes compile together, and start children in all ways; return the failures."""
    return cold_cache(N_PROCESSES) + ways_to_start()


def cold_cache(n_processes: int) -> list[str]:
    """Start processes that compile the same kernels into one empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", FIT]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        racing = [subprocess.Popen(command, env=environment, **pipes) for _ in range(n_processes)]
        answers = [process.communicate(timeout=1800) for process in racing]
        failures = [told for process, (_, told) in zip(racing, answers, strict=True)
                    if process.returncode]  # fmt: skip
        after = subprocess.run(command, env=environment, capture_output=True, text=True)
        left = [path.name for path in Path(folder).rglob("*") if path.suffix == ".tmp"]
    results = {out.split()[0] for out, _ in answers if out} | {after.stdout.split()[0]}
    compiled = [int(out.split()[1]) for out, _ in answers if out]
    print(f"processes: {n_processes} compiled {compiled} kernels into one cold cache")
    if len(results) != 1:
        failures.append(f"{len(results)} different results")
    if after.stdout.split()[1] != "0":
        failures.append(f"one more process compiled {after.stdout.split()[1]} kernels")
    return failures + [f"{name} was left in the cache" for name in left]


def ways_to_start() -> list[str]:
    """Start children by fork, spawn and forkserver while threads fit and predict."""
    X, failures = points(), []
    shared = MeanShift(bandwidth=1.0, n_jobs=2).fit(X)
    expected = labels_of(shared)
    is_over = threading.Event()

    def keep_busy() -> None:
        while not is_over.is_set():
            MeanShift(bandwidth=1.0, n_jobs=2).fit(X).predict(X)
            shared.set_params(algorithm="tree" if shared.algorithm == "auto" else "auto")
            shared.predict(X)

    threads = [threading.Thread(target=keep_busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    for way in multiprocessing.get_all_start_methods():
        ends = [_child(way, shared, expected) for _ in range(50 if way == "fork" else 3)]
        bad = [end for end in ends if end != "same"]
        failures += [f"{way}: {end}" for end in bad]
        print(f"processes: {len(ends)} children by {way}, {len(bad)} failures", flush=True)
    is_over.set()
    for thread in threads:
        thread.join()
    return failures


def _child(way: str, shared: MeanShift, expected: list[np.ndarray]) -> str:
    context = multiprocessing.get_context(way)
    ours, theirs = context.Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork with threads
        child = context.Process(target=_answer, args=(theirs, shared))
        child.start()
    theirs.close()
    try:
        if not ours.poll(300 if way != "fork" else 60):
            child.kill()
            return "hangs"
        same = all(map(np.array_equal, ours.recv(), expected))
    except EOFError:
        return f"ended with {child.exitcode}"
    finally:
        child.join()
        ours.close()
    return "same" if same else "another result"


def _answer(pipe: object, shared: MeanShift) -> None:
    pipe.send(labels_of(shared))  # type: ignore[attr-defined]


def labels_of(shared: MeanShift) -> list[np.ndarray]:
    """Return what a process finds with an inherited estimator and with its own."""
    X, new = points(), points(seed=1)
    own = StochasticMeanShift(bandwidth=1.0, random_state=0, n_jobs=2).fit(X)
    return [shared.predict(new), own.labels_, own.predict(new)]
