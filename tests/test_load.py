"""A little load of each kind, and troubles that the program of load must find.

``make load`` tries as much as one likes.
"""

import random
import signal
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone

from load import interrupts, leaks, processes, threads
from load.jobs import ESTIMATORS
from modeshift import MeanShift

pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals"),
]


def test_another_result_and_an_error_on_a_thread_are_found():
    n_done, failures = threads.work([lambda: 1], [1], 8, 0.1, 0)
    assert n_done > 8
    assert failures == []
    _, failures = threads.work([lambda: 2], [1], 1, 0.1, 0)
    assert set(failures) == {"job 0: another result than alone"}
    _, failures = threads.work([lambda: 1 / 0], [1], 1, 0.1, 0)
    assert set(failures) == {"job 0: ZeroDivisionError: division by zero"}


def test_growth_is_found():
    first = leaks.look()
    kept, file = np.ones(30_000_000), open(__file__)  # noqa: SIM115
    hold = threading.Event()
    thread = threading.Thread(target=hold.wait)
    thread.start()
    found = leaks.growth(first, leaks.look())
    hold.set()
    thread.join()
    file.close()
    assert [line.split()[0] for line in found] == ["memory", "handles", "threads"]
    assert kept.all()


def test_kernels_that_are_added_are_found(tmp_path):
    code = "import os; open(os.path.join(os.environ['NUMBA_CACHE_DIR'], '{}'), 'w').write('x')"
    add = [["-c", code.format("a")]]
    (found,) = leaks.grown(str(tmp_path), "one more", add)
    assert found == "kernels grew from 0 files, 0.0 MB to 1 files, 0.0 MB by one more"
    assert leaks.grown(str(tmp_path), "the same", add) == []


def test_a_fit_that_is_left_half_done_is_found(monkeypatch):
    trial = interrupts.Trial(MeanShift(bandwidth=1.0), 2)

    def half_a_fit(self, X):
        self.labels_ = np.zeros(len(X))
        raise KeyboardInterrupt

    monkeypatch.setattr(MeanShift, "fit", half_a_fit)
    with pytest.raises(AssertionError, match="an interrupted fit leaves"):
        trial.fit(random.Random(0))


@pytest.fixture
def ctrl_c_is_heard():
    """Undo what a shell does to commands in the background: they ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_an_interrupt_is_waited_for():
    rng = random.Random(0)
    assert interrupts.interrupt(lambda: threading.Event().wait(20.0), rng, 0.2)
    assert not interrupts.interrupt(lambda: None, rng, 20.0)


@pytest.mark.usefixtures("ctrl_c_is_heard")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(3))
def test_interrupted_estimators_can_be_used_again(number):
    trial = interrupts.Trial(clone(ESTIMATORS[5 * number]), 2)
    rng = random.Random(number)
    for _ in range(3):
        trial.fit(rng)
        trial.predict(rng)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [threads, processes, interrupts, leaks])
def test_load(kind):
    assert kind.run(30.0, 0) == []
