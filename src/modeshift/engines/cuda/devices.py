"""The device of a fit."""

import os
from functools import cache

import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
"""Whether Triton runs kernels as Python, for tests. Then the "GPU" is the CPU."""


@cache
def n_processors(device: torch.device) -> int:
    """Return the least number of blocks of a kernel that run at the same time."""
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def find_device() -> torch.device | None:
    """Return the GPU; None if there is none."""
    if INTERPRETED:
        return torch.device("cpu")
    return torch.device("cuda") if torch.cuda.is_available() else None
