"""What tests of the GPU's kernels share: PyTorch and Triton, or one line that they are left out."""

import pytest

try:
    import torch
    import triton  # noqa: F401
except ImportError as error:
    pytest.skip(
        f"the kernels for the GPU are left out: {error}; pip install torch==2.13.0 triton",
        allow_module_level=True,
    )

from modeshift.gpu.devices import find_device

DEVICE = find_device()
if DEVICE is None:
    pytest.skip("there is no GPU, and TRITON_INTERPRET is not 1", allow_module_level=True)


def tensor(values, dtype=None):
    """Bring values to the device."""
    return torch.as_tensor(values, dtype=dtype, device=DEVICE)
