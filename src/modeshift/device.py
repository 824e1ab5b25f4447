"""Which device a fit runs on: the CPU, or a GPU through the extra ``modeshift[gpu]``."""

import sys
from importlib.util import find_spec
from typing import Any

from modeshift.extras import require
from modeshift.validation import refuse

DEVICES = ("cpu", "cuda", "auto")
PRECISIONS = ("exact", "fast")

_CPU_ONLY = {
    "n_neighbors": None,
    "resolution": None,
    "record": False,
    "checkpoint": None,
    "field": "auto",
    "seeding": None,
    "n_climbers": None,
    "n_runs": 1,
    "stop": "shift",
    "feature_weights": None,
}
"""Options that only the CPU has, with the value at which they are off."""


def choose_device(estimator: Any, X: Any) -> Any:
    """Return the device of PyTorch that a fit to X, or a prediction, runs on; None is the CPU.

    "auto" takes a GPU if there is one and all options work there.
    """
    elsewhere = is_tensor(X) and X.device.type != "cpu"
    if estimator.device == "cpu":
        if elsewhere:
            raise ValueError(
                f"X is a tensor on {X.device}, but device='cpu'. Pass device='cuda' to work there, "
                "or X.cpu().numpy()."
            )
        return None
    hindrance = _cpu_only_option(estimator)
    if estimator.device == "auto" and not elsewhere:
        if hindrance is not None or find_spec("torch") is None or find_spec("triton") is None:
            return None
        return _find_device()
    require("torch", "gpu")
    require("triton", "gpu")
    if hindrance is not None:
        refuse(
            f"device={estimator.device!r}", hindrance,
            "only the CPU does that. Take device='cpu', or leave the option at its default.",
        )  # fmt: skip
    device = _find_device()
    if device is None:
        raise ValueError(
            "device='cuda' needs a GPU, and PyTorch finds none (torch.cuda.is_available() is "
            "False). Take device='cpu', or 'auto' to use a GPU only where there is one."
        )
    return device


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of PyTorch, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def _find_device() -> Any:
    from modeshift.gpu.devices import find_device

    return find_device()


def _cpu_only_option(estimator: Any) -> str | None:
    """Return an option of the estimator that no GPU has, as users write it."""
    parameters = estimator.get_params(deep=False)
    if isinstance(parameters["bandwidth"], tuple | list):
        return f"bandwidth={parameters['bandwidth']!r}"
    for name, off in _CPU_ONLY.items():
        value = parameters.get(name, off)
        if value is not off and not (isinstance(value, type(off)) and value == off):
            return f"{name}={value!r}" if isinstance(value, str | int | float) else f"{name}=..."
    return None
