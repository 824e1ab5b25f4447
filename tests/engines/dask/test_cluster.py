"""Fits on real worker processes: any number of them, and ones that die."""

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import assert_close, make_data
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from faults.cluster import kill_one_worker  # noqa: E402

pytestmark = [
    pytest.mark.jit,
    # A worker that is killed leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def start_cluster(n_workers=2, **settings):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        **settings,
    )


@pytest.fixture(scope="module")
def client():
    with start_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


def slowly(array, seconds):
    """The same array, each chunk of which takes a while to make."""

    def wait(block):
        time.sleep(seconds)
        return block

    return array.map_blocks(wait, dtype=array.dtype, meta=array._meta)


def points(n=2000):
    return make_data("clustered", n, 2)[0]


def cells_estimator(**parameters):
    return StochasticMeanShift(bandwidth=1.5, resolution=4, random_state=0, **parameters)


def test_workers_give_the_labels_of_the_plain_fit(client):
    X = points()
    plain = cells_estimator().fit(X)
    chunked = cells_estimator().fit(da.from_array(X, chunks=(150, 2)))
    assert_array_equal(chunked.labels_.compute(), plain.labels_)
    assert_array_equal(chunked.predict(da.from_array(X, chunks=(500, 2))), plain.predict(X))


def test_a_worker_that_is_killed_costs_time_and_not_the_result(client):
    X = points()
    plain = cells_estimator().fit(X)
    killed = []
    timer = threading.Timer(1.0, lambda: killed.append(kill_one_worker(client)))
    timer.start()
    chunked = cells_estimator().fit(slowly(da.from_array(X, chunks=(100, 2)), 0.2))
    assert not timer.is_alive()
    assert not set(killed) & set(client.run(os.getpid).values())
    assert_array_equal(chunked.labels_.compute(), plain.labels_)


def batches(**parameters):
    return StochasticMeanShift(bandwidth=1.5, batch_size=250, random_state=0, **parameters)


def test_a_worker_that_is_killed_between_rounds_costs_time_and_not_the_result(client):
    """What was on it is made anew, by the same steps."""
    X = points()
    sweeps = []

    def kill(progress):
        sweeps.append(progress.sweep)
        if progress.sweep == 2:
            kill_one_worker(client)

    plain = batches().fit(X)
    chunked = batches().set_callbacks(kill).fit(da.from_array(X, chunks=(500, 2)))
    assert sweeps == list(range(1, len(sweeps) + 1))
    assert len(sweeps) > 3
    assert_array_equal(chunked.labels_.compute(), plain.labels_)
    assert chunked.n_steps_ == plain.n_steps_
    assert_close(chunked.modes_.compute(), plain.modes_, X, 1.5)
    assert_array_equal(chunked.predict(X[:50] + 0.1), plain.predict(X[:50] + 0.1))


GOES_AWAY = """
import sys, time
import dask.array as da, distributed
from modeshift import MeanShift

def wait(block):
    time.sleep(0.3)
    return block

client = distributed.Client(sys.argv[1])
X = da.random.default_rng(0).normal(size=(4000, 2), chunks=(40, 2))
print("start", flush=True)
MeanShift(bandwidth=1.0, resolution=4).fit(X.map_blocks(wait, dtype=float, meta=X._meta))
"""


def n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def nothing_left(client):
    """Wait until the scheduler has nothing to do nor to keep."""
    gc.collect()
    wait_until(lambda: client.run_on_scheduler(n_tasks) == 0)


def test_a_client_that_goes_away_leaves_no_stray_work(client):
    nothing_left(client)
    address = client.scheduler.address
    process = subprocess.Popen([sys.executable, "-c", GOES_AWAY, address], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"start\n"
        wait_until(lambda: client.run_on_scheduler(n_tasks) > 10)
    finally:
        process.kill()
        process.communicate()
    nothing_left(client)


@pytest.mark.parametrize("make", [cells_estimator, batches])
def test_no_tasks_are_left_when_the_estimator_is_gone(client, make):
    make().fit(da.from_array(points(), chunks=(500, 2)))
    nothing_left(client)


def test_tasks_have_telling_names(client):
    seen = set()

    def watch(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks]

    def look():
        while running.is_set():
            seen.update(
                name.rsplit("-", 2)[0].strip("('") for name in client.run_on_scheduler(watch)
            )
            time.sleep(0.05)

    running = threading.Event()
    running.set()
    thread = threading.Thread(target=look)
    thread.start()
    try:
        cells_estimator().fit(slowly(da.from_array(points(), chunks=(200, 2)), 0.05))
    finally:
        running.clear()
        thread.join()
    assert any(name.startswith("modeshift-compress") for name in seen)
    assert any(name.startswith("modeshift-join-cells") for name in seen)


@pytest.mark.slow
def test_four_workers_one_and_none_give_the_same_labels():
    X = points(20_000)
    labels = []
    for n_workers in (4, 1):
        with start_cluster(n_workers) as cluster, distributed.Client(cluster):
            fitted = [e.fit(da.from_array(X, chunks=(1700, 2))) for e in all_estimators()]
            labels.append([each.labels_.compute() for each in fitted])
    labels.append(
        [e.fit(da.from_array(X, chunks=(1700, 2))).labels_.compute() for e in all_estimators()]
    )
    labels.append([e.fit(X).labels_ for e in all_estimators()])
    for others in labels[1:]:
        for ours, theirs in zip(labels[0], others, strict=True):
            assert_array_equal(ours, theirs)


def all_estimators():
    return [
        MeanShift(bandwidth=1.5, resolution=4),
        BlurringMeanShift(bandwidth=1.5, resolution=4),
        cells_estimator(),
        StochasticMeanShift(bandwidth=1.5, batch_size=5000, random_state=0),
    ]


def take_memory(block):
    """Make a chunk that no worker of the test has room for."""
    return np.concatenate([np.ones((60_000_000, 2)), block])[-len(block) :]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # nannies say that they restart workers
def test_out_of_memory_says_which_chunks_to_use():
    settings = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(settings),
        start_cluster(1, memory_limit="500MiB") as cluster,
        distributed.Client(cluster),
    ):
        X = da.ones((1_000_000, 2), chunks=(500_000, 2))
        X = X.map_blocks(take_memory, dtype=float, meta=X._meta)
        with pytest.raises(MemoryError, match=r"500,000 rows .*Use chunks of about [\d,]+ rows"):
            cells_estimator().fit(X)
