"""Ctrl-C during a long call is answered within a second and leaves nothing half-done.

One child process runs all cases. It announces each call on its standard output; the test waits
until the call is well under way and sends SIGINT; the child then says what came of it and when.
"""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest

pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process"),
]

CHILD = """
import json, signal, sys, time
import numpy as np
import modeshift

rng = np.random.default_rng(0)
plane = rng.uniform(size=(60_000, 2))
space = rng.normal(size=(20_000, 64))

def prepare(case):
    # Return an estimator and the long call. First do the same with few points, to compile.
    options = {"bandwidth": 0.05, "algorithm": "brute", **case["options"]}
    data = space if case["in_space"] else plane
    if options.get("seeding") == "few":
        options["seeding"] = data[:300]
    estimator = getattr(modeshift, case["estimator"])(**options)
    if case["call"] == "fit":
        estimator.fit(data[:20]).predict(data[:20])
        return estimator, lambda: estimator.fit(data)
    old, new = data[:4000], np.tile(data[4000:], (case["times"], 1))
    estimator.fit(old).predict(new[:20])
    return estimator, lambda: estimator.predict(new)

signal.signal(signal.SIGINT, signal.SIG_IGN)
for line in sys.stdin:
    estimator, call = prepare(json.loads(line))
    outcome = "finished"
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("begin", flush=True)
        call()
    except KeyboardInterrupt:
        outcome = "interrupted"
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = time.monotonic()
    fitted = [name for name in vars(estimator) if name.endswith("_")]
    print(json.dumps({"outcome": outcome, "ended": ended, "fitted": fitted}), flush=True)
"""


@pytest.fixture(scope="module")
def child():
    command = [sys.executable, "-c", CHILD]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, bufsize=1) as process:
        watchdog = threading.Timer(300, process.kill)  # else a bug here would hang the tests
        watchdog.start()
        yield process
        watchdog.cancel()
        process.kill()


def interrupt(child, estimator, call="fit", *, in_space=False, times=1, after=0.5, **options):
    """Have the child begin a call, interrupt it, and return its answer."""
    case = {
        "estimator": estimator,
        "call": call,
        "in_space": in_space,
        "times": times,
        "options": options,
    }
    child.stdin.write(json.dumps(case) + "\n")
    assert child.stdout.readline() == "begin\n"
    time.sleep(after)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    answer = json.loads(child.stdout.readline())
    seconds = answer["ended"] - sent
    print(f"{call} {answer['outcome']} {seconds:.2f} s after the signal")
    assert seconds < 1.5  # a second, and some patience with a busy machine
    return answer


ESTIMATORS = ["MeanShift", "StochasticMeanShift", "BlurringMeanShift"]


@pytest.mark.product
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("in_space", [False, True], ids=["60000x2", "20000x64"])
def test_interrupted_fit(child, estimator, n_jobs, in_space):
    bandwidth = 6.0 if in_space else 0.05
    answer = interrupt(child, estimator, in_space=in_space, bandwidth=bandwidth, n_jobs=n_jobs)
    assert answer["outcome"] == "interrupted"
    assert answer["fitted"] == []


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupted_predict(child, estimator, n_jobs):
    answer = interrupt(child, estimator, "predict", times=40, bandwidth=0.02, n_jobs=n_jobs)
    assert answer["outcome"] == "interrupted"
    assert "labels_" in answer["fitted"]  # the fit before is whole


def test_interrupted_merge(child):
    """The climbs of few starts end at once; 60,000 modes are left to merge.

    A merge that ends by itself within the time is fine as well.
    """
    answer = interrupt(child, "MeanShift", after=1.0, seeding="few", bandwidth=1e-9)
    assert (answer["fitted"] == []) == (answer["outcome"] == "interrupted")


def test_interrupted_search_for_the_nearest_center(child):
    """Nobody is near the new points, so that all of them search among many centres."""
    interrupt(child, "MeanShift", "predict", after=2.5, in_space=True, bandwidth=1e-9)
