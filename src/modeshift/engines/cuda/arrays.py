"""The adapter for PyTorch tensors on a device; see :mod:`modeshift.engines.arrays`."""

from typing import Any

import numpy as np
import torch

from modeshift.engines.cuda.sums import add_up, lowest_of


class TorchArrays:
    """Tensors on one device."""

    def __init__(
        self, device: torch.device, feature_scale: tuple[float, ...] | None = None
    ) -> None:
        self.device = device
        self.feature_scale = feature_scale

    def copy(self, values: torch.Tensor) -> torch.Tensor:
        """Copy a tensor."""
        return values.clone()

    def in_double(self, values: torch.Tensor) -> torch.Tensor:
        """Return values as float64."""
        return values.double()

    def to_numpy(self, values: torch.Tensor) -> np.ndarray:
        """Bring values to the host."""
        return values.cpu().numpy()

    def arange(self, n: int) -> torch.Tensor:
        """Return 0 to n - 1."""
        return torch.arange(n, device=self.device)

    def full(self, n: int, value: bool | int) -> torch.Tensor:
        """Return a tensor of n equal values."""
        return torch.full((n,), value, device=self.device)

    def nonzero(self, mask: torch.Tensor) -> torch.Tensor:
        """Return the positions at which a mask is True."""
        return mask.nonzero()[:, 0]

    def where(self, mask: torch.Tensor, values: Any, others: Any) -> torch.Tensor:
        """Choose between two values, element by element."""
        return torch.where(mask, values, others)

    def concatenate(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """Join tensors, row after row."""
        return torch.cat(parts)

    def log(self, values: torch.Tensor) -> torch.Tensor:
        """Return natural logarithms; that of 0 is -inf."""
        return values.log()

    def ranking(self, values: torch.Tensor) -> torch.Tensor:
        """Return the order that sorts values upwards; equal values keep their order."""
        return torch.argsort(values, stable=True)

    def cut(self, values: torch.Tensor, owners: torch.Tensor) -> list[torch.Tensor]:
        """Return the rows of each owner, in the order of the rows. No owner is without rows."""
        return list(values[self.ranking(owners)].split(torch.bincount(owners).tolist()))

    def sums(self, values: torch.Tensor, owners: torch.Tensor, n_owners: int) -> torch.Tensor:
        """Sum the values, or rows, of each owner."""
        return add_up(values, owners, n_owners)

    def lowest(self, values: torch.Tensor, owners: torch.Tensor, n_owners: int) -> torch.Tensor:
        """Return the lowest value of each owner."""
        return lowest_of(values, owners, n_owners)
