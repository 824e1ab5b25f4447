"""Work in blocks on threads, and several Python threads that fit at the same time."""

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.parallel import Pace, run_blocks, run_shares, threads_for

JOBS = [1, 2, 3, 4]


@pytest.mark.parametrize("n_jobs", JOBS)
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 100, 12_345])
def test_blocks_cover_the_range_once(n, n_jobs):
    visits = np.zeros(n, dtype=int)

    def work(start, stop):
        assert 0 <= start < stop <= n
        visits[start:stop] += 1  # blocks do not overlap, so no two threads meet here

    assert run_blocks(work, n, n_jobs) is False
    assert_array_equal(visits, 1)


@pytest.mark.parametrize(
    ("n", "n_jobs", "threads"), [(0, 4, 1), (99, 4, 1), (200, 4, 2), (10_000, 4, 4), (300, 1, 1)]
)
def test_threads_have_at_least_so_much_work(n, n_jobs, threads):
    assert threads_for(n, 100, n_jobs) == threads


@pytest.mark.parametrize("n_jobs", JOBS)
def test_blocks_of_slow_work_cover_the_range_once(n_jobs):
    """Blocks of all sizes, as threads learn from one another how long the work takes."""
    visits = np.zeros(300, dtype=int)

    def work(start, stop):
        visits[start:stop] += 1
        time.sleep(0.002 * (start % 7))

    run_blocks(work, 300, n_jobs)
    assert_array_equal(visits, 1)


def test_one_job_runs_in_the_calling_thread_and_in_order():
    seen = []
    run_blocks(lambda start, stop: seen.append((threading.get_ident(), start, stop)), 500)
    assert {thread for thread, _, _ in seen} == {threading.get_ident()}
    stops = [stop for _, _, stop in seen]
    assert [start for _, start, _ in seen] == [0, *stops[:-1]]
    assert stops[-1] == 500


@pytest.mark.parametrize("n_jobs", [2, 3, 4])
def test_jobs_run_side_by_side(n_jobs):
    """Each job waits for all others, which would fail if they took turns."""
    barrier = threading.Barrier(n_jobs, timeout=10)
    met = set()

    def work(start, stop):
        if threading.get_ident() not in met:
            met.add(threading.get_ident())
            barrier.wait()

    run_blocks(work, 10_000, n_jobs)
    assert len(met) == n_jobs


@pytest.mark.parametrize("n_jobs", JOBS)
def test_early_stop(n_jobs):
    """After a call that returns True each of the other jobs ends the block it has, no more."""
    begun_after = []
    stopped = threading.Event()

    def work(start, stop):
        if stopped.is_set():
            begun_after.append(start)
        time.sleep(0.01)
        if start <= 100 < stop:
            stopped.set()
            return True
        return False

    assert run_blocks(work, 10_000, n_jobs) is True
    assert stopped.is_set()
    assert len(begun_after) <= n_jobs  # one each, begun while the stop was on its way


class Failure(Exception):
    pass


@pytest.mark.parametrize("n_jobs", JOBS)
def test_exception_reaches_the_caller(n_jobs):
    def work(start, stop):
        if start <= 50 < stop:
            raise Failure("in a worker")

    with pytest.raises(Failure, match="in a worker"):
        run_blocks(work, 100, n_jobs)


@pytest.mark.parametrize("n_jobs", [2, 4])
@pytest.mark.parametrize("culprit", ["first", "another"])
def test_exception_stops_the_others(n_jobs, culprit):
    """Whichever worker fails, the others end the block they have, no more."""
    failed = threading.Event()
    begun_after = []

    def work(start, stop):
        if failed.is_set():
            begun_after.append(start)
        elif (start == 0) == (culprit == "first"):
            failed.set()
            raise Failure
        else:
            failed.wait(timeout=10)
        time.sleep(0.05)

    with pytest.raises(Failure):
        run_blocks(work, 200, n_jobs)
    assert len(begun_after) <= 2 * n_jobs


@pytest.mark.parametrize("n_jobs", JOBS)
def test_threads_wait_for_more_work_and_do_not_add_up(n_jobs):
    def work(start, stop):
        raise Failure

    counts = []
    for _ in range(3):
        with pytest.raises(Failure):
            run_blocks(work, 100, n_jobs)
        counts.append(threading.active_count())
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize("n_jobs", JOBS)
@pytest.mark.parametrize("n", [0, 1, 3, 32])
def test_shares_cover_the_range_once(n, n_jobs):
    shares = []
    run_shares(lambda start, stop: shares.append((start, stop)), n, n_jobs)
    assert len(shares) == n_jobs
    assert_array_equal(np.concatenate([np.arange(*share) for share in sorted(shares)]), range(n))


@pytest.mark.parametrize("n_jobs", JOBS)
def test_work_may_divide_its_own_work(n_jobs):
    """All threads may be busy with the work that waits for them: then each does it alone."""
    done = np.zeros((20, 30), dtype=int)

    def inner(i, first, last):
        done[i, first:last] += 1

    def work(start, stop):
        for i in range(start, stop):
            run_blocks(partial(inner, i), 30, n_jobs)

    run_blocks(work, 20, n_jobs)
    assert_array_equal(done, 1)


def _work_in_a_child(queue):
    done = np.zeros(100, dtype=int)

    def work(start, stop):
        done[start:stop] += 1

    run_blocks(work, 100, 2)
    queue.put(int(done.sum()))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    run_blocks(lambda start, stop: None, 100, 2)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_work_in_a_child, args=(queue,))
    child.start()
    child.join(timeout=30)
    assert child.exitcode == 0
    assert queue.get() == 100


def test_pace_tends_to_the_wanted_time():
    pace = Pace(size=16, seconds=0.05)
    for _ in range(20):
        pace.learn(pace.size, elapsed=pace.size * 1e-4)
    assert pace.size == pytest.approx(500, rel=0.01)


@pytest.mark.parametrize("elapsed", [0.0, 1e-12, 1e9])
def test_pace_changes_by_a_factor_of_4_at_most(elapsed):
    pace = Pace(size=64)
    pace.learn(64, elapsed)
    assert pace.size in (16, 256)


def test_pace_is_never_0():
    pace = Pace(size=1)
    pace.learn(1, elapsed=1e9)
    assert pace.size == 1


# Several Python threads at once

DATA = [np.random.default_rng(seed).normal(scale=3.0, size=(60, 2)) for seed in range(4)]
MAKERS = [
    lambda n_jobs: MeanShift(bandwidth=1.0, n_jobs=n_jobs),
    lambda n_jobs: MeanShift(bandwidth=1.0, seeding="bins", n_jobs=n_jobs),
    lambda n_jobs: StochasticMeanShift(bandwidth=1.0, random_state=0, n_jobs=n_jobs),
    lambda n_jobs: BlurringMeanShift(bandwidth=1.0, n_jobs=n_jobs),
]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_that_fit_at_the_same_time(n_jobs):
    """Each gets what it gets alone, to the last bit."""
    tasks = [(make, data) for data in DATA for make in MAKERS]
    barrier = threading.Barrier(4)

    def fit_when_all_are_ready(task):
        make, data = task
        barrier.wait(timeout=60)
        estimator = make(n_jobs).fit(data)
        return estimator.modes_, estimator.labels_, estimator.predict(data + 0.5)

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fit_when_all_are_ready, tasks))
    for (make, data), (modes, labels, predicted) in zip(tasks, together, strict=True):
        alone = make(1).fit(data)
        assert_array_equal(modes, alone.modes_)
        assert_array_equal(labels, alone.labels_)
        assert_array_equal(predicted, alone.predict(data + 0.5))


def test_one_estimator_predicts_in_several_threads():
    estimator = MeanShift(bandwidth=1.0, n_jobs=2).fit(DATA[0])
    expected = estimator.predict(DATA[1])
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(estimator.predict, [DATA[1]] * 12):
            assert_array_equal(labels, expected)
