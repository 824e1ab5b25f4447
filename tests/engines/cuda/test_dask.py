"""Dask data on GPUs: one for each worker, or that of the client for cells."""

import pickle

import numpy as np
import pytest
import torch

from helpers import make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cuda import part
from modeshift.engines.cuda.part import DevicePart, device_of_worker
from modeshift.engines.rule import Flat
from on_gpu import DEVICE

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

ESTIMATORS = [
    (MeanShift, {}),
    (StochasticMeanShift, {"batch_size": 25, "random_state": 3}),
    (BlurringMeanShift, {}),
]


def crowds(d, n=60, seed=0):
    rng = np.random.RandomState(seed)
    return 4.0 * rng.randn(4, d)[rng.randint(4, size=n)] + 0.5 * rng.randn(n, d)


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
@pytest.mark.parametrize(
    ("d", "scheduler", "options"),
    [
        (2, "threads", {"bandwidth": 1.0}),
        (12, "synchronous", {"bandwidth": 0.3, "metric": "cosine"}),
        (12, "synchronous", {"bandwidth": 2.0, "kernel": "gaussian", "tol": 0.03}),
    ],
)
def test_partitions_on_gpus_give_the_result_of_one_cpu(kind, more, d, options, scheduler):
    X = crowds(d)
    w = make_weights("real", len(X))
    plain = kind(**options, **more).fit(X, sample_weight=w)
    with dask.config.set(scheduler=scheduler):
        chunked = kind(**options, **more, device="cuda")
        chunked.fit(da.from_array(X, chunks=(23, d)), sample_weight=da.from_array(w, chunks=23))
        labels, modes = chunked.labels_.compute(), chunked.modes_.compute()
        predicted = chunked.predict(X)
        density = chunked.score_samples(X)
    assert chunked.engine_ == "rounds"
    np.testing.assert_array_equal(labels, plain.labels_)
    np.testing.assert_array_equal(predicted, plain.labels_)
    np.testing.assert_allclose(modes, plain.modes_, atol=1e-4)
    np.testing.assert_allclose(density, plain.score_samples(X), rtol=1e-3)
    for name in ("n_iter_", "n_steps_", "converged_"):
        assert getattr(chunked, name) == getattr(plain, name), name


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
def test_cells_of_chunks_are_clustered_on_the_gpu(kind, more, monkeypatch):
    X = crowds(2, 150)
    options = {"bandwidth": 1.0, "resolution": 2.0, **more}
    plain = kind(**options).fit(X)
    monkeypatch.setattr("modeshift.engines.cpu.engine.run", lambda *_: pytest.fail("on the CPU"))
    with dask.config.set(scheduler="synchronous"):
        chunked = kind(**options, device="cuda").fit(da.from_array(X, chunks=(40, 2)))
        labels, modes = chunked.labels_.compute(), chunked.modes_.compute()
        predicted = chunked.predict(X[:20])
    np.testing.assert_array_equal(labels, plain.labels_)
    np.testing.assert_array_equal(predicted, plain.labels_[:20])
    np.testing.assert_allclose(modes, plain.modes_, atol=1e-6)
    assert chunked.n_steps_ == plain.n_steps_


def test_options_of_the_cpu_are_refused():
    X = da.from_array(crowds(2), chunks=(20, 2))
    for option in ({"resolution": 2.0, "algorithm": "tree"}, {"algorithm": "anchors"}):
        with pytest.raises(ValueError, match=r"device='cuda' and algorithm=.* do not go together"):
            MeanShift(bandwidth=1.0, device="cuda", **option).fit(X)


def test_a_partition_travels_without_its_field():
    X = crowds(2)
    there = DevicePart(X, np.ones(len(X)), 1.0, Flat())
    means = there.means_near(X[:5], 1.0).means
    again = pickle.loads(pickle.dumps(there))
    assert again._field is None
    np.testing.assert_array_equal(again.means_near(X[:5], 1.0).means, means)
    assert dask.sizeof.sizeof(there) >= X.nbytes


@pytest.mark.parametrize(
    ("number", "visible", "expected"),
    [(0, None, 0), (5, None, 2), ("name", None, 0), (5, "2,0,1", None)],
)
def test_workers_of_a_machine_take_turns(number, visible, expected, monkeypatch):
    monkeypatch.setattr(part, "find_device", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    worker = type("Worker", (), {"name": number})
    monkeypatch.setattr(distributed, "get_worker", worker)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert device_of_worker().index == expected


def test_a_worker_without_a_gpu_says_so(monkeypatch):
    monkeypatch.setattr(part, "find_device", lambda: None)
    X = da.from_array(crowds(2), chunks=(20, 2))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=r"needs a GPU on every Dask worker.*device='cpu'"),
    ):
        MeanShift(bandwidth=1.0, device="cuda").fit(X)


def seen_by_worker(_):
    return device_of_worker().type, distributed.get_worker().name


def test_workers_in_processes_of_their_own_use_their_gpus():
    X = crowds(2)
    plain = BlurringMeanShift(bandwidth=1.0).fit(X)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        addresses = client.scheduler_info()["workers"]
        asked = [client.submit(seen_by_worker, each, workers=each) for each in addresses]
        seen = sorted(client.gather(asked))
        chunked = BlurringMeanShift(bandwidth=1.0, device="cuda")
        chunked.fit(da.from_array(X, chunks=(23, 2)))
        labels = chunked.labels_.compute()
    assert seen == [(DEVICE.type, 0), (DEVICE.type, 1)]
    np.testing.assert_array_equal(labels, plain.labels_)
    assert chunked.n_steps_ == plain.n_steps_
