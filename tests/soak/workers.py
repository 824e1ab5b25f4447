"""Cases are checked in a process of its own, so that a hang or a crash is a failure like others."""

import math
import multiprocessing
import re
import time
import traceback
import warnings

import psutil

from soak.cases import draw_case
from soak.promises import check

COMPILING = 240.0
"""Seconds of a processor that kernels may take to compile, at most."""

SECONDS_A_PAIR = 2e-7
"""Most seconds of a processor for one pair of points in one feature of one sweep, by the twin."""

STANDSTILL = 120.0
"""Seconds without any work, after which a process counts as hanging: it waits for itself."""

FITS = 30
"""Most fits and twins of one case: a check fits again in other units, orders and engines."""


def deadline(case):
    """Return the processor time that a case may take: each step looks at all points, in all fits.

    A clock on the wall would count what other programs do on the same machine.
    """
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

    def __init__(self, check=check, deadline=deadline, standstill=STANDSTILL):
        self.check_in_process, self.deadline, self.standstill = check, deadline, standstill
        self.process = None

    def check(self, case):
        """Check a case. Return the names of what was tried, and the failure or None."""
        if self.process is None:
            self._start()
        self.pipe.send(case)
        try:
            late = self._wait(self.deadline(case))
            if late:
                self.stop()
                return [], late
            state, answer = self.pipe.recv()
        except (EOFError, ConnectionError):
            code = self.process.exitcode
            self.stop()
            return [], f"crash: the process ended with {code}"
        return (answer, None) if state == "done" else ([], answer)

    def _wait(self, seconds):
        """Wait for an answer; return what is wrong if none comes."""
        process = psutil.Process(self.process.pid)
        begin = last = self._spent(process)
        moved = time.monotonic()
        while not self.pipe.poll(0.2):
            spent, now = self._spent(process), time.monotonic()
            if spent - begin > seconds:
                return f"deadline: not ready after {seconds:.0f} s of a processor"
            if spent > last:
                last, moved = spent, now
            elif now - moved > self.standstill:
                return f"deadline: no work for {self.standstill:.0f} s"
        return None

    @staticmethod
    def _spent(process):
        """Return the seconds of all processors that a process has used; inf if it has ended."""
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            return math.inf
        return times.user + times.system

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
