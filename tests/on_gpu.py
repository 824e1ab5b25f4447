"""What tests of the GPU's kernels share. Without PyTorch and Triton they are not collected."""

import pytest
import torch

from modeshift.engines.cuda.devices import find_device

DEVICE = find_device()
if DEVICE is None:
    pytest.skip("there is no GPU, and TRITON_INTERPRET is not 1", allow_module_level=True)


def tensor(values, dtype=None):
    """Bring values to the device."""
    return torch.as_tensor(values, dtype=dtype, device=DEVICE)
