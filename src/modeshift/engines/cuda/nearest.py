"""Find the nearest target for each of many places, on the device."""

import torch
import triton
import triton.language as tl

_BLOCK = 32
_TILE = 64


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
