"""A cluster that is lost ends the wait with one error; one that comes late is waited for."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import make_data
from modeshift import StochasticMeanShift, image

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from faults.cluster import free_port  # noqa: E402
from faults.proxy import Proxy  # noqa: E402

pytestmark = [
    pytest.mark.jit,
    # Connections that were cut leave their sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

X = make_data("clustered", 300, 2)[0]


CLUSTER = {
    "n_workers": 1,
    "threads_per_worker": 1,
    "processes": False,
    "protocol": "tcp://",
    "dashboard_address": ":0",
}


@pytest.fixture
def cluster():
    with distributed.LocalCluster(**CLUSTER) as cluster:
        yield cluster


@pytest.fixture
def line(cluster):
    """The line of a client to the scheduler."""
    proxy = Proxy(int(cluster.scheduler_address.rsplit(":", 1)[1]))
    yield proxy
    proxy.close()


@pytest.fixture(autouse=True)
def short_limit():
    """A client that is closed within its own ``with`` stays in the settings; here it does not."""
    with dask.config.set({"distributed.scheduler.worker-ttl": "2s", "scheduler": None}):
        yield


def batches():
    return StochasticMeanShift(bandwidth=3.0, batch_size=100, random_state=0)


def fit_and(harm):
    """Fit in rounds; do harm after the first sweep."""

    def once(progress):
        if progress.sweep == 1:
            harm()

    return batches().set_callbacks(once).fit(da.from_array(X, chunks=(150, 2)))


def test_a_scheduler_that_is_silent_is_not_waited_for_forever(line):
    """Before, the fit hung: Dask waits as long as the connection is open."""
    client = distributed.Client(line.address, timeout="5s")
    with pytest.raises(ConnectionError, match=r"scheduler has not answered for 2 s .*call again"):
        fit_and(line.stall)
    line.close()
    client.close()


def test_a_scheduler_that_is_lost_is_one_error(line):
    """Before, it was Dask's error in two lines, with the name of a task."""
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "60s"}),
        distributed.Client(line.address, timeout="0.3s"),
        pytest.raises(ConnectionError, match="connection to its scheduler was lost") as caught,
    ):
        fit_and(line.cut)
    assert "\n" not in str(caught.value)


def test_a_client_that_is_closed_is_one_error(cluster):
    """Before, Dask went on here without its results: a missing dependency of a task."""
    client = distributed.Client(cluster)
    with pytest.raises(ConnectionError, match="Connect a client to a scheduler that runs"):
        fit_and(client.close)


def test_a_cluster_without_workers_is_not_waited_for_forever(cluster):
    """Before, the fit hung."""
    with (
        distributed.Client(cluster),
        pytest.raises(ConnectionError, match="All workers of the Dask cluster were lost"),
    ):
        fit_and(lambda: cluster.scale(0))


def test_workers_that_are_still_in_a_queue_are_waited_for(cluster):
    cluster.scale(0)
    with distributed.Client(cluster) as client:
        while client.scheduler_info(n_workers=-1)["workers"]:
            time.sleep(0.1)
        timer = threading.Timer(5.0, cluster.scale, (1,))  # more than twice the limit
        timer.start()
        chunked = batches().fit(da.from_array(X, chunks=(150, 2)))
        timer.join()
        assert_array_equal(chunked.labels_.compute(), batches().fit(X).labels_)


def test_results_that_cannot_be_fetched_are_one_error():
    """Before, Dask tried forever, a hundred times a second: the worker's port is closed for all."""
    port = free_port()
    line = Proxy(port)
    addresses = {"port": port, "contact_address": line.address}
    with (
        distributed.LocalCluster(**CLUSTER, **addresses) as cluster,
        distributed.Client(cluster),
        pytest.raises(ConnectionError, match="cannot be fetched for 2 s"),
    ):
        fit_and(line.cut)
    line.close()


def test_without_a_limit_a_cluster_is_waited_for(cluster):
    no_limit = dask.config.set({"distributed.scheduler.worker-ttl": None})
    with no_limit, distributed.Client(cluster):
        assert_array_equal(fit_and(lambda: time.sleep(0.1)).labels_, batches().fit(X).labels_)


def test_a_prediction_without_workers_is_one_error(cluster):
    """Workers lost since the fit were waited for forever, as if they had still to come."""
    with distributed.Client(cluster):
        fitted = fit_and(lambda: None)
        fitted.predict(X[:20])
        cluster.scale(0)
        with pytest.raises(ConnectionError, match="All workers of the Dask cluster were lost"):
            fitted.predict(X[:20])


def test_a_prediction_without_its_client_is_one_error(cluster):
    with distributed.Client(cluster) as client:
        fitted = fit_and(lambda: None)
        assert_array_equal(fitted.predict(X[:20]), batches().fit(X).predict(X[:20]))
        client.close()
        with pytest.raises(ConnectionError, match="call again"):
            fitted.predict(X[:20])


def test_an_image_without_workers_is_not_waited_for_forever(cluster):
    pixels = da.random.default_rng(0).integers(0, 255, (64, 64, 3), chunks=(32, 32, 3))

    def slowly(block):
        time.sleep(0.5)
        return block

    pixels = pixels.map_blocks(slowly, dtype=pixels.dtype, meta=np.empty((0, 0, 0), pixels.dtype))
    with distributed.Client(cluster):
        timer = threading.Timer(0.7, cluster.scale, (0,))
        timer.start()
        with pytest.raises(ConnectionError, match="All workers of the Dask cluster were lost"):
            image.segment(pixels)
        timer.join()
