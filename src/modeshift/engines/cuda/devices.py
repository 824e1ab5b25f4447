"""Which device a fit runs on."""

import os
from functools import cache

import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
"""Whether Triton runs kernels as Python: then the "GPU" is the CPU, for tests."""


@cache
def n_processors(device: torch.device) -> int:
    """Return how many blocks of a kernel run at the same time, at least."""
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def find_device() -> torch.device | None:
    """Return the GPU, or None where there is none."""
    if INTERPRETED:
        return torch.device("cpu")
    return torch.device("cuda") if torch.cuda.is_available() else None
