"""Errors about devices name the parameter, the value and the remedy."""

import sys

import numpy as np
import pytest
import torch

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cuda import devices
from on_gpu import tensor

X = np.random.RandomState(0).randn(20, 3)

CPU_ONLY = [
    (MeanShift, {"record": True}),
    (MeanShift, {"algorithm": "brute"}),
    (StochasticMeanShift, {"bandwidth": (0.5, 1.0)}),
    (BlurringMeanShift, {"stop": "entropy"}),
    (BlurringMeanShift, {"feature_weights": "learned"}),
]


@pytest.mark.parametrize(("kind", "option"), CPU_ONLY)
def test_options_of_the_cpu_are_refused_by_name(kind, option):
    name = next(iter(option))
    with pytest.raises(ValueError, match=rf"device='cuda' and {name}.* do not go together"):
        kind(**{"bandwidth": 1.0, **option}, device="cuda").fit(X)


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_fast_needs_a_gpu(device, monkeypatch):
    monkeypatch.setattr(devices, "INTERPRETED", False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"algorithm='fast'.*Take device='cuda'"):
        MeanShift(bandwidth=1.0, algorithm="fast", device=device).fit(X)


@pytest.mark.parametrize("option", [{"record": True}, {"algorithm": "tree"}])
def test_auto_takes_the_cpu_for_them(option):
    found = MeanShift(bandwidth=1.0, device="auto", **option).fit(X)
    np.testing.assert_array_equal(found.labels_, MeanShift(bandwidth=1.0, **option).fit(X).labels_)


def test_no_gpu(monkeypatch):
    monkeypatch.setattr(devices, "INTERPRETED", False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"needs a GPU, and PyTorch finds none.*device='cpu'"):
        MeanShift(bandwidth=1.0, device="cuda").fit(X)
    MeanShift(bandwidth=1.0, device="auto").fit(X)


@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_without_the_extra_it_says_which(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf"needs {missing}.*pip install 'modeshift\[gpu\]'"):
        MeanShift(bandwidth=1.0, device="cuda").fit(X)
    MeanShift(bandwidth=1.0).fit(X)


@pytest.mark.parametrize(
    ("name", "value"), [("device", "gpu"), ("device", 0), ("algorithm", "exactly")]
)
def test_unknown_choices(name, value):
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        MeanShift(bandwidth=1.0, **{name: value}).fit(X)


def test_devices_do_not_mix():
    away = torch.empty((20, 3), device="meta")  # a device that is neither here nor on the GPU
    with pytest.raises(ValueError, match=r"X is a tensor on meta, but device='cpu'.*numpy"):
        MeanShift(bandwidth=1.0).fit(away)
    with pytest.raises(ValueError, match=r"X is a tensor on meta, but the fit runs on"):
        MeanShift(bandwidth=1.0, device="cuda").fit(away)
    weights = torch.empty(20, device="meta")
    with pytest.raises(ValueError, match=r"sample_weight is a tensor on meta, but X is on"):
        MeanShift(bandwidth=1.0, device="cuda").fit(tensor(X), sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight is a tensor on meta, but X is not"):
        MeanShift(bandwidth=1.0, device="cuda").fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (torch.ones(5), "two dimensions"),
        (torch.ones((0, 3)), "at least one point"),
        (torch.ones((5, 3)) * torch.nan, "NaN or infinity"),
        (torch.ones((5, 3), dtype=torch.complex64), "must be real"),
    ],
)
def test_bad_tensors(bad, message):
    with pytest.raises(ValueError, match=message):
        MeanShift(bandwidth=1.0, device="cuda").fit(tensor(bad))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (torch.ones(19), r"shape \(20,\)"),
        (-torch.ones(20), "not negative"),
        (torch.zeros(20), "above 0"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        MeanShift(bandwidth=1.0, device="cuda").fit(tensor(X), sample_weight=tensor(weights))


def test_bad_predictions():
    model = MeanShift(bandwidth=1.0, device="cuda").fit(tensor(X))
    with pytest.raises(ValueError, match="has 2 features, but MeanShift is expecting 3"):
        model.predict(tensor(X[:, :2]))
    with pytest.raises(ValueError, match=r"fitted to a tensor, and its points.*device='cuda'"):
        model.set_params(device="cpu").predict(X)


def test_a_vector_without_direction():
    rows = np.vstack([X, np.zeros(3)])
    with pytest.raises(ValueError, match="zero vector in row 20"):
        MeanShift(bandwidth=0.5, metric="cosine", device="cuda").fit(rows)


def test_a_bandwidth_far_below_the_data():
    with pytest.raises(ValueError, match="too small for values as large as 3e\\+30"):
        MeanShift(bandwidth=1e-30, device="cuda").fit(
            np.array([[3e30, 0.0], [0.0, 1.0]], dtype=np.float32)
        )
