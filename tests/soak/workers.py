"""Cases are checked in a process of its own, so that a hang or a crash is a failure like others."""

import multiprocessing
import re
import traceback
import warnings

from soak.cases import draw_case
from soak.promises import check

COMPILING = 240.0
"""Seconds that kernels may take to compile, at most, on a machine that does other work too."""

SECONDS_A_PAIR = 2e-7
"""Most seconds that one pair of points may take in one feature of one sweep, by the slow twin."""

FITS = 30
"""Most fits and twins of one case: a check fits again in other units, orders and engines."""


def deadline(case):
    """Return the seconds that a case may take: every step looks at all points, in all its fits."""
    sweeps = case["options"].get("max_iter", 60) + 40  # 40: trials that choose a bandwidth
    pairs = FITS * sweeps * case["n"] * (case["n"] + 20) * (case["d"] + 4)
    interpreted = 50 if case["engine"] == "cuda" else 1
    return COMPILING + interpreted * SECONDS_A_PAIR * pairs


def _serve(pipe, check):
    warnings.simplefilter("ignore")
    while True:
        try:
            case = pipe.recv()
        except EOFError:  # the other end is gone
            return
        try:
            pipe.send(("done", check(case)))
        except Exception:
            pipe.send(("failed", traceback.format_exc()))


class Worker:
    """A process that checks cases; a new one is started after a hang or a crash."""

    def __init__(self, check=check, deadline=deadline):
        self.check_in_process, self.deadline = check, deadline
        self.process = None

    def check(self, case):
        """Check a case. Return the names of what was tried, and the failure or None."""
        if self.process is None:
            self._start()
        self.pipe.send(case)
        seconds = self.deadline(case)
        try:
            if not self.pipe.poll(seconds):
                self.stop()
                return [], f"deadline: not ready after {seconds:.0f} s"
            state, answer = self.pipe.recv()
        except (EOFError, ConnectionError):
            code = self.process.exitcode
            self.stop()
            return [], f"crash: the process ended with {code}"
        return (answer, None) if state == "done" else ([], answer)

    def stop(self):
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(other, self.check_in_process), daemon=True
        )
        self.process.start()
        other.close()


def kind_of(failure):
    """Return the last line of a failure without numbers: what a smaller case must repeat."""
    last = failure.strip().splitlines()[-1]
    return re.sub(r"[0-9]+", "", last)[:60]


def try_seed(worker, seed):
    """Draw the case of a seed and check it."""
    case = draw_case(seed)
    return case, *worker.check(case)
