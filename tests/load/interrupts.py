"""Ctrl-C at random moments of every phase: no estimator is half fitted, and all can be reused."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from load.jobs import ESTIMATORS, be_quiet, points

N_POINTS = 3000


def run(seconds: float, seed: int) -> list[str]:
    """Interrupt fits and predictions until the time is over; return the failures."""
    be_quiet()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    rng, end = random.Random(seed), time.monotonic() + seconds
    trials = [Trial(estimator, d) for estimator in ESTIMATORS for d in (2, 7)]
    failures: list[str] = []
    ends: Counter[str] = Counter()
    while time.monotonic() < end:
        trial = rng.choice(trials)
        try:
            ends[trial.fit(rng)] += 1
            ends[trial.predict(rng)] += 1
        except AssertionError as error:
            failures.append(f"{trial.name}: {error}")
    if not (ends["fits interrupted"] and ends["predictions interrupted"]):
        failures.append("nothing was interrupted")
    told = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
    print(f"interrupts: {told} (seed {seed})")
    return failures


class Trial:
    """An estimator, its data, and what it gives and takes undisturbed."""

    def __init__(self, estimator: Any, d: int) -> None:
        self.estimator, self.X, self.new = estimator, points(N_POINTS, d), points(N_POINTS, d, 1)
        self.name = f"{estimator}, {d} features"
        self.fitted = clone(estimator).fit(self.X)
        self.predicted = self.fitted.predict(self.new)
        self.seconds = [
            _seconds_of(lambda: clone(estimator).fit(self.X)),
            _seconds_of(lambda: self.fitted.predict(self.new)),
        ]

    def fit(self, rng: random.Random) -> str:
        """Interrupt a fit, and fit again with the same estimator."""
        estimator, before = clone(self.estimator), None
        if rng.random() < 0.5:  # a fit before must not shine through
            before = estimator.fit(self.X[:20]).labels_
        was_interrupted = interrupt(lambda: estimator.fit(self.X), rng, self.seconds[0])
        if was_interrupted:
            self.check_left(estimator, before)
            estimator.fit(self.X)
        same = np.array_equal(estimator.labels_, self.fitted.labels_)
        assert same, "other labels after an interrupt"
        return "fits interrupted" if was_interrupted else "fits done before"

    def check_left(self, estimator: Any, before: np.ndarray | None) -> None:
        """Check that an estimator is unfitted; if the signal missed the fit, as before or done."""
        left = [name for name in vars(estimator) if name.endswith("_")]
        if left:
            labels = estimator.labels_ if "labels_" in left else None
            whole = [each for each in (before, self.fitted.labels_) if each is not None]
            is_whole = labels is not None and any(np.array_equal(labels, w) for w in whole)
            assert is_whole, f"an interrupted fit leaves {left}"

    def predict(self, rng: random.Random) -> str:
        """Interrupt the first prediction of a model, which builds its index, or a later one."""
        model = self.fitted
        if rng.random() < 0.5:
            model = clone(self.estimator).fit(self.X)
        was_interrupted = interrupt(lambda: model.predict(self.new), rng, self.seconds[1])
        same = np.array_equal(model.predict(self.new), self.predicted)
        assert same, "other predictions after an interrupt"
        return "predictions interrupted" if was_interrupted else "predictions done before"


def interrupt(call: Callable[[], object], rng: random.Random, seconds: float) -> bool:
    """Make a call and send SIGINT at a random moment; return whether it was interrupted."""
    delay, is_over = rng.uniform(0.0, seconds), threading.Event()

    def send() -> None:
        if not is_over.wait(delay):
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        call()
    except KeyboardInterrupt:
        return True
    finally:
        _join(sender, is_over)
    return False


def _join(sender: threading.Thread, is_over: threading.Event) -> None:
    """Wait for the one that interrupts; its signal may still come now, and means nobody."""
    while sender.is_alive():
        try:
            is_over.set()
            sender.join()
        except KeyboardInterrupt:
            continue


def _seconds_of(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
