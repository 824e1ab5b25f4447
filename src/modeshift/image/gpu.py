"""The deterministic schedule on a GPU, with the same places to the last bit."""

from typing import Any

import numpy as np

from modeshift.image.block import Block
from modeshift.image.climb import Ends
from modeshift.image.lattice import Settings
from modeshift.io.optional import require

_BLOCK = 128
_MOST_BANDS = 16
"""All bands of a pixel are in registers."""


def check_gpu(n_bands: int) -> Any:
    """Return the device; refuse if there is none, or if the bands do not fit."""
    require("torch", "gpu")
    require("triton", "gpu")
    from modeshift.engines.cuda.devices import find_device

    device = find_device()
    if device is None:
        raise ValueError(
            "device='cuda' needs a GPU, and PyTorch finds none (torch.cuda.is_available() is "
            "False). Take device='cpu'."
        )
    if n_bands > _MOST_BANDS:
        raise ValueError(
            f"device='cuda' takes up to {_MOST_BANDS} bands, and image has {n_bands}; take "
            "device='cpu'."
        )
    return device


def climb_on_gpu(block: Block, settings: Settings, pixels: np.ndarray, n_bands: int) -> Ends:
    """Climb from some pixels of a whole image; the other ends stay 0."""
    device = check_gpu(n_bands)
    import torch

    from modeshift.image.gpu_kernel import climb_pixels

    def there(values: Any) -> Any:
        return torch.as_tensor(np.ascontiguousarray(values), device=device)

    depth, height, width = block.shape
    n_all, n = block.valid.size, len(pixels)
    places = torch.zeros((3, n_all), dtype=torch.int32, device=device)
    colours = torch.zeros((n_bands, n_all), dtype=torch.float32, device=device)
    steps = torch.zeros(n_all, dtype=torch.int32, device=device)
    rz, ry, rx = settings.radius
    stretches = (settings.stretch[0], settings.stretch[1])
    across = [
        np.square(np.arange(-radius, radius + 1) * stretch)
        for radius, stretch in zip((rz, ry), stretches, strict=True)
    ]
    shares = [np.square(np.arange(radius + 1) / radius) for radius in settings.radius]
    halves = [0 if n == 1 else radius // settings.unit + 1 for n, radius in
              zip(block.shape, settings.radius, strict=True)]  # fmt: skip
    limits = np.array([float(rx) * rx, settings.reach, settings.quiet])
    climb_pixels[((n + _BLOCK - 1) // _BLOCK,)](
        there(block.planes[:n_bands]), there(pixels), places, colours, steps,
        *(there(table) for table in (*across, *shares, limits)),
        n, n_all, depth, height, width, block.planes.shape[3], block.pad, settings.max_iter,
        UNIT=settings.unit, RZ=rz, RY=ry, RX=rx,
        HALF_Z=halves[0], HALF_Y=halves[1], HALF_X=halves[2], B=n_bands, BLOCK=_BLOCK,
    )  # fmt: skip
    return Ends(places.cpu().numpy(), colours.cpu().numpy(), steps.cpu().numpy().astype(np.int16))
