"""Find the nearest targets of many places, on the device."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

_BLOCK = 32
_TILE = 64
_ROOM = 16  # the most targets that are searched for


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

        Where squared distances overflow, only their ratios are right.
        """
        rows, squares = nearest_several(self._targets, places, min(k, len(self._targets)))
        far = squares[:, 0].isinf()
        if far.any():
            scale = 1.0 if squares.dtype == torch.float32 else 2.0**-600
            smaller = NearestSearch(self._targets.double() * scale)
            rows[far], found = smaller.several(places[far].double() * scale, k)
            squares[far] = (found / found[:, :1] * 1e30).to(squares.dtype)
        return Neighbours(rows, squares)


def nearest_several(
    targets: torch.Tensor, places: torch.Tensor, k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows and squared distances of the k nearest targets; ties go to the lower index."""
    (m, d), n = places.shape, len(targets)
    room = 1 if k == 1 else _ROOM
    rows = torch.empty((m, room), dtype=torch.int64, device=places.device)
    squares = torch.empty((m, room), dtype=places.dtype, device=places.device)
    nearest_of_all[(triton.cdiv(m, _BLOCK),)](
        targets.contiguous(), places.contiguous(), rows, squares, n, m, d,
        ROOM=room, BLOCK=_BLOCK, TILE=_TILE, num_warps=4,
    )  # fmt: skip
    rows, order = rows.sort(dim=1)
    squares, nearer = squares.gather(1, order).sort(dim=1, stable=True)
    return rows.gather(1, nearer)[:, :k], squares[:, :k]


def nearest_rows(targets: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return for each place the index of the nearest target; ties go to the lower index."""
    return nearest_several(targets, places, 1)[0][:, 0]


@triton.jit(do_not_specialize=["n", "m", "d"])
def nearest_of_all(
    targets, places, found, squares, n, m, d,
    ROOM: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Compare all targets with a block of places, and keep the nearest ROOM, in any order.

    A target that is nearer than the farthest one that is kept takes its slot.
    """
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    slots = tl.arange(0, ROOM)
    kept = tl.full((BLOCK, ROOM), float("inf"), places.dtype.element_ty)
    which = tl.zeros((BLOCK, ROOM), tl.int64)
    for first in range(0, n, TILE):
        others = first + tl.arange(0, TILE).to(tl.int64)
        square = tl.zeros((BLOCK, TILE), places.dtype.element_ty)
        for k in range(d):
            here = tl.load(places + rows * d + k, mask=rows < m, other=0.0)
            there = tl.load(targets + others * d + k, mask=others < n, other=float("inf"))
            gap = here[:, None] - there[None, :]
            square += gap * gap
        nearest, column = tl.min(square, axis=1, return_indices=True)
        farthest, slot = tl.max(kept, axis=1, return_indices=True)
        while tl.max((nearest < farthest).to(tl.int32), axis=0) > 0:
            taken = (nearest < farthest)[:, None]
            here = taken & (slots[None, :] == slot[:, None])
            kept = tl.where(here, nearest[:, None], kept)
            which = tl.where(here, (first + column)[:, None].to(tl.int64), which)
            gone = taken & (tl.arange(0, TILE)[None, :] == column[:, None])
            square = tl.where(gone, float("inf"), square)
            nearest, column = tl.min(square, axis=1, return_indices=True)
            farthest, slot = tl.max(kept, axis=1, return_indices=True)
    at = rows[:, None] * ROOM + slots[None, :]
    tl.store(found + at, which, mask=(rows < m)[:, None])
    tl.store(squares + at, kept, mask=(rows < m)[:, None])
