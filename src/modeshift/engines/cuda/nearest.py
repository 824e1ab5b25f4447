"""Find the nearest targets of many places, on the device."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

_BLOCK = 32
_TILE = 64
_PAIRS = 1 << 27  # distances in memory at the same time


class Neighbours(NamedTuple):
    """The nearest targets of each place, from near to far; tensors of shape (m, k)."""

    rows: torch.Tensor
    squares: torch.Tensor


class NearestSearch:
    """Search for the nearest targets. It compares all targets."""

    def __init__(self, targets: torch.Tensor) -> None:
        self._targets = targets

    def __call__(self, places: torch.Tensor) -> torch.Tensor:
        """Return for each place the index of the nearest target; ties go to the lower index."""
        return nearest_rows(self._targets, places)

    def several(self, places: torch.Tensor, k: int) -> Neighbours:
        """Return the k nearest targets of each place, or all if there are fewer.

        Distances are sums of squared differences, so a target at the place itself has distance 0.
        """
        k, step = min(k, len(self._targets)), max(1, _PAIRS // len(self._targets))
        exactly = "donot_use_mm_for_euclid_dist"
        parts = [
            torch.cdist(some, self._targets, compute_mode=exactly).topk(k, largest=False)
            for some in places.split(step)
        ]
        distances, rows = (torch.cat(column) for column in zip(*parts, strict=True))
        return Neighbours(rows, distances**2)


def nearest_rows(targets: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return for each place the index of the nearest target; ties go to the lower index."""
    m, d = places.shape
    found = torch.empty(m, dtype=torch.int64, device=places.device)
    nearest_of_all[(triton.cdiv(m, _BLOCK),)](
        targets.contiguous(), places.contiguous(), found, len(targets), m, d,
        BLOCK=_BLOCK, TILE=_TILE, num_warps=4,
    )  # fmt: skip
    return found


@triton.jit(do_not_specialize=["n", "m", "d"])
def nearest_of_all(targets, places, found, n, m, d, BLOCK: tl.constexpr, TILE: tl.constexpr):
    """Compare all targets with a block of places."""
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    nearest = tl.zeros((BLOCK,), tl.int64)
    least = tl.full((BLOCK,), float("inf"), places.dtype.element_ty)
    for first in range(0, n, TILE):
        others = first + tl.arange(0, TILE).to(tl.int64)
        square = tl.zeros((BLOCK, TILE), places.dtype.element_ty)
        for k in range(d):
            here = tl.load(places + rows * d + k, mask=rows < m, other=0.0)
            there = tl.load(targets + others * d + k, mask=others < n, other=float("inf"))
            gap = here[:, None] - there[None, :]
            square += gap * gap
        nearer, column = tl.min(square, axis=1, return_indices=True)
        nearest = tl.where(nearer < least, first + column, nearest)
        least = tl.minimum(least, nearer)
    tl.store(found + rows, nearest, mask=rows < m)
