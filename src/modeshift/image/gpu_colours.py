"""Colours on a GPU: from the values of an image to whole units and back, as the CPU rounds them.

PyTorch divides a tensor by a number of Python as by its reciprocal. So divisors are tensors.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from modeshift.image import lab
from modeshift.image.layout import limits_of
from modeshift.image.plan import Plan


def there(values: np.ndarray, device: torch.device) -> torch.Tensor:
    """Bring an array to the device."""
    writeable = np.require(values, requirements=["C", "W"])  # PyTorch warns of other arrays
    return torch.from_numpy(writeable).to(device)


def to_units(plan: Plan, pixels: np.ndarray, device: torch.device) -> Iterator[torch.Tensor]:
    """Return the colours of pixels, bands last, in units of the lattice, one band after another."""
    bands = _lab(pixels, device) if plan.is_lab else there(pixels, device).unbind(-1)
    for band, middle, factor in zip(bands, *_scale(plan), strict=True):
        yield ((band.double() - middle) * factor).round().float()


def from_units(plan: Plan, units: torch.Tensor) -> np.ndarray:
    """Return values in the dtype of the image, bands last, of colours in units, bands first."""
    dtype, device = plan.layout.dtype, units.device
    low, high, whole = limits_of(dtype)
    bands = [
        band.double() / torch.tensor(factor, dtype=torch.float64, device=device) + middle
        for band, middle, factor in zip(units, *_scale(plan), strict=True)
    ]
    if plan.is_lab:
        bands = list(lab.linear_of(*bands))
        if not whole:
            return lab.encoded(torch.stack(bands, dim=-1).cpu().numpy(), dtype)
        borders = there(lab.borders(dtype), device)
        bands = [torch.bucketize(band, borders, right=True) for band in bands]
    elif whole:
        bands = [band.clamp(low, high).round() for band in bands]
    values = torch.from_numpy(np.empty(0, dtype))
    values = torch.empty((*bands[0].shape, len(bands)), dtype=values.dtype, device=device)
    for i, band in enumerate(bands):
        values[..., i] = band
    return values.cpu().numpy()


def _lab(pixels: np.ndarray, device: torch.device) -> Any:
    """Return L*, a* and b* of sRGB."""
    if pixels.dtype.kind == "f":
        light = there(lab.linear(pixels), device).unbind(-1)
    else:
        amounts = there(lab.amounts(pixels.dtype), device)
        light = tuple(amounts[band.int()] for band in there(pixels, device).unbind(-1))
    return lab.lab_of(*light)


def _scale(plan: Plan) -> tuple[list[float], list[float]]:
    return plan.colours.middle.tolist(), plan.colours.factor.tolist()
