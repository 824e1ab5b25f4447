"""Choose the engine by the kind of data, ``device`` and the table of parameters."""

from functools import partial
from importlib.util import find_spec
from typing import Any

from modeshift.checks import refuse
from modeshift.engines.kinds import is_dask, is_tensor
from modeshift.engines.protocol import Engine
from modeshift.io.optional import require
from modeshift.parameters import ENGINES, Values, refusal_by


def choose_engine(values: Values, X: Any) -> Engine:
    """Return the engine for parameters and data; raise if it cannot do an option.

    "auto" takes a GPU if there is one and all options work there.
    """
    if is_dask(X):
        return _dask_engine(values)
    elsewhere = is_tensor(X) and X.device.type != "cpu"
    if values["device"] == "cpu":
        if elsewhere:
            raise ValueError(
                f"X is a tensor on {X.device}, but device='cpu'. Pass device='cuda' to fit on "
                "the GPU, or pass X.cpu().numpy()."
            )
        return _cpu_engine(values)
    if values["device"] == "auto" and not elsewhere and not gpu_can(values):
        return _cpu_engine(values)
    return _cuda_engine(values)


def choose_predictor(values: Values, X: Any, model: Any) -> Engine:
    """Return the engine that labels new data: chosen by the data, or the one with the model."""
    if hasattr(model, "engine"):
        return model.engine()
    if not is_dask(X):
        return choose_engine(values, X)
    _refuse_for("cells", {"algorithm": values["algorithm"]})
    return _cells_engine()


def gpu_can(values: Values) -> bool:
    """Return whether there is a GPU, with PyTorch and Triton, that can do all options."""
    installed = find_spec("torch") is not None and find_spec("triton") is not None
    return installed and refusal_by("cuda", values) is None and _gpu() is not None


def _cpu_engine(values: Values) -> Engine:
    refused = refusal_by("cpu", values)
    if refused is not None:
        option, why = refused
        refuse(option, f"device={values['device']!r}", why)
    from modeshift.engines.cpu.engine import CpuEngine

    return CpuEngine()


def _cuda_engine(values: Values) -> Engine:
    _refuse_on_gpu(values)
    device = _device()
    from modeshift.engines.cuda.engine import CudaEngine

    return CudaEngine(device)


def _device() -> Any:
    """Return the GPU; raise if there is none."""
    _require_packages()
    device = _gpu()
    if device is None:
        raise ValueError(
            "device='cuda' needs a GPU, and PyTorch finds none (torch.cuda.is_available() is "
            "False). Take device='cpu', or device='auto' to use a GPU only if there is one."
        )
    return device


def _require_packages() -> None:
    require("torch", "gpu")
    require("triton", "gpu")


def _gpu() -> Any:
    from modeshift.engines.cuda.devices import find_device

    return find_device()


def _dask_engine(values: Values) -> Engine:
    name = "rounds" if values["resolution"] is None else "cells"
    _refuse_for(name, values)
    on_gpu = values["device"] == "cuda"
    if on_gpu:
        _refuse_on_gpu(values)
    if name == "rounds":
        from modeshift.engines.dask.engine import RoundsEngine

        return RoundsEngine(on_gpu)
    return _cells_engine(_device()) if on_gpu else _cells_engine()


def _cells_engine(device: Any = None) -> Engine:
    from modeshift.engines.dask.engine import CellsEngine

    if device is None:
        return CellsEngine()
    from modeshift.engines.cuda.engine import solve

    return CellsEngine(partial(solve, device))


def _refuse_on_gpu(values: Values) -> None:
    """Refuse options that a GPU does not have."""
    refused = refusal_by("cuda", values)
    if refused is not None:
        refuse(f"device={values['device']!r}", *refused)


def _refuse_for(engine: str, values: Values) -> None:
    """Refuse options that an engine of Dask data does not have."""
    refused = refusal_by(engine, values)
    if refused is not None:
        option, why = refused
        refuse(option, ENGINES[engine], why)
