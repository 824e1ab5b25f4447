"""The field in up to 8 dimensions."""

from typing import NamedTuple

import torch

from modeshift.engines.cuda.devices import n_processors
from modeshift.engines.cuda.few import sweep_few
from modeshift.engines.cuda.field import LOG2_E, DeviceField
from modeshift.engines.cuda.tiles import Layout, padded, padded_with

_FAN = 32  # tiles per group, and groups per flock: the bits of an int32
_BUSY = 16  # programs for each processor
_ROUNDING = 1e-5  # margin for squared distances between boxes, computed in float32


class Crowds(NamedTuple):
    """Boxes around neighbouring points, stored by columns: coordinate, then box."""

    lows: torch.Tensor
    highs: torch.Tensor
    means: torch.Tensor
    masses: torch.Tensor


def layout_for(d: int) -> Layout:
    """Return the layout that was fastest on an H200 (docs/gpu.md)."""
    return Layout(block=16, tile=64 if d <= 3 else 32, warps=2, stages=1)


def filled_up(crowds: Crowds, multiple: int) -> Crowds:
    """Add boxes infinitely far away, until their number is divisible by ``multiple``."""
    missing = (0, -len(crowds.masses) % multiple)
    pad = torch.nn.functional.pad
    return Crowds(
        lows=pad(crowds.lows, missing, value=torch.inf),
        highs=pad(crowds.highs, missing, value=-torch.inf),
        means=pad(crowds.means, missing),
        masses=pad(crowds.masses, missing),
    )


def gather(crowds: Crowds, size: int) -> Crowds:
    """Put a box around every ``size`` boxes. Means are relative to the first of them."""
    d = len(crowds.lows)
    masses = crowds.masses.reshape(-1, size)
    means = crowds.means.reshape(d, -1, size)
    firsts = means[:, :, :1]
    total = masses.sum(dim=1)
    moments = ((means - firsts) * masses).sum(dim=2)
    return Crowds(
        lows=crowds.lows.reshape(d, -1, size).amin(dim=2),
        highs=crowds.highs.reshape(d, -1, size).amax(dim=2),
        means=firsts[:, :, 0] + moments / torch.where(total > 0, total, 1.0),
        masses=total,
    )


class FewField(DeviceField):
    """Computes in the precision of the points, or in float32 with ``precision="fast"``."""

    def _build(self) -> None:
        self._dtype = torch.float32 if self.precision == "fast" else self.points.dtype
        self._layout = layout_for(self.points.shape[1])
        columns = padded(self.points.to(self._dtype), self._layout.tile).T.contiguous()
        weights = padded_with(self.weights.to(self._dtype), self._layout.tile, 0.0)
        self._places = Crowds(columns, columns, columns, weights)
        self._tiles = filled_up(gather(self._places, self._layout.tile), _FAN * _FAN)
        self._groups = gather(self._tiles, _FAN)
        square = self.reach * self.reach
        inner = -1.0 if self.gaussian else square * (1.0 - _ROUNDING)
        outer = square * (1.0 + _ROUNDING)
        sharpness = -0.5 * LOG2_E / (self.radius * self.radius)
        self._limits = columns.new_tensor([square, inner, outer, sharpness])

    def _average(self, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        m, d = places.shape
        block = self._layout.block
        asked = padded(places.to(self._dtype), block).T.contiguous()
        n_asked = asked.shape[1]
        boxes = asked.reshape(d, -1, block)
        n_blocks, n_flocks = boxes.shape[1], len(self._groups.masses) // _FAN
        n_shares = min(n_flocks, max(1, _BUSY * n_processors(places.device) // n_blocks))
        sums = asked.new_empty((d, n_shares, n_asked))
        masses = asked.new_empty((n_shares, n_asked))
        sweep_few[(n_blocks, n_shares)](
            asked, self._places.means, self._places.masses,
            boxes.amin(dim=2), boxes.amax(dim=2), *self._tiles, *self._groups,
            sums, masses, self._limits, n_asked, self._places.means.shape[1],
            len(self._tiles.masses), n_flocks,
            D=d, BLOCK=block, TILE=self._layout.tile, FAN=_FAN, GAUSSIAN=self.gaussian,
            num_warps=self._layout.warps,
        )  # fmt: skip
        total = masses.sum(dim=0)[:m]
        shifts = sums.sum(dim=1)[:, :m] / total
        return places + shifts.T.to(places.dtype), total
