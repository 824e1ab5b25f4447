"""Find the nearest targets of many places, on the device.

Targets are cut into tiles, each with a ball around it. A block of places visits the tiles from
where it lies outwards, and skips those whose ball is farther away than all that it keeps.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from modeshift.engines.cuda.tiles import (
    FEW,
    Balls,
    balls_around,
    centres_apart,
    gaps_between,
    locality_order,
    padded,
)

NOBODY = 2**31 - 1
"""Number of a target that is never found."""

MOST = 256
"""The most targets that a search can keep for each place."""

_TILE = 64
_FAN = 16  # tiles whose distances are compared at a time
_PLACES, _FEW_PLACES = 16, 8  # of a program, in many and in few dimensions
_KEPT = 2048  # targets that a program keeps, at most, of all its places
_ENTRIES = 2**24  # pairs of a block and a tile, and targets that are kept, at a time


class Neighbours(NamedTuple):
    """The nearest targets of each place, from near to far; tensors of shape (m, k)."""

    rows: torch.Tensor
    squares: torch.Tensor


class Targets(NamedTuple):
    """Targets as the kernel reads them.

    Attributes
    ----------
    columns : Tensor of shape (d, n)
        Coordinates; n is a multiple of the tile.
    numbers : Tensor of shape (n,), int32
        The numbers that are found; of equally near targets the lower one comes first.
    balls : Balls
        Around the tiles.
    """

    columns: torch.Tensor
    numbers: torch.Tensor
    balls: Balls


class Floor(NamedTuple):
    """The last target of each place that was found before: only targets behind it count."""

    squares: torch.Tensor
    numbers: torch.Tensor


class NearestSearch:
    """Search for the nearest targets. They are sorted once."""

    def __init__(self, targets: torch.Tensor) -> None:
        self._targets = targets
        order = locality_order(targets)
        self._tiles = lay_out(targets[order], order)

    def __call__(self, places: torch.Tensor) -> torch.Tensor:
        """Return for each place the index of the nearest target; ties go to the lower index."""
        return self._search(places, 1).rows[:, 0]

    def several(self, places: torch.Tensor, k: int) -> Neighbours:
        """Return the k nearest targets of each place, or all if there are fewer.

        Where squared distances overflow, only their ratios are right.
        """
        rows, squares = self._search(places, min(k, len(self._targets)))
        far = squares[:, 0].isinf()
        if far.any():
            scale = 1.0 if squares.dtype == torch.float32 else 2.0**-600
            smaller = NearestSearch(self._targets.double() * scale)
            rows[far], found = smaller.several(places[far].double() * scale, k)
            squares[far] = (found / found[:, :1] * 1e30).to(squares.dtype)
        return Neighbours(rows, squares)

    def _search(self, places: torch.Tensor, k: int) -> Neighbours:
        """Search in the order of space, so that blocks of places are small."""
        order = locality_order(places)
        found = keep_nearest(self._tiles, places[order], k)
        back = torch.argsort(order)
        return Neighbours(found.rows[back], found.squares[back])


def lay_out(targets: torch.Tensor, numbers: torch.Tensor) -> Targets:
    """Cut targets, which are in the order of space, into tiles."""
    rows = padded(targets, _TILE)
    missing = len(rows) - len(targets)
    numbers = torch.nn.functional.pad(numbers.to(torch.int32), (0, missing), value=NOBODY)
    return Targets(rows.T.contiguous(), numbers, balls_around(rows, _TILE))


def keep_nearest(
    targets: Targets,
    places: torch.Tensor,
    k: int,
    reach: float = float("inf"),
    floor: Floor | None = None,
) -> Neighbours:
    """Return the nearest targets of each place, in the order of distance, then number.

    Parameters
    ----------
    targets : Targets
    places : Tensor of shape (m, d)
        In the order of space.
    k : int
        Number of targets, up to ``MOST``. ``rows`` is ``NOBODY`` if there are fewer.
    reach : float
        Largest squared distance.
    floor : Floor, optional
        Only targets behind it count.
    """
    if floor is None:
        floor = Floor(places.new_full((len(places),), -1.0), targets.numbers.new_zeros(len(places)))
    block = block_for(k, places.shape[1])
    rows = max(1, _ENTRIES // max(len(targets.balls.radii), block * k)) * block
    parts = zip(places.split(rows), *(values.split(rows) for values in floor), strict=True)
    found = [_search_part(targets, part, k, reach, Floor(*behind)) for part, *behind in parts]
    return Neighbours(*(torch.cat(column) for column in zip(*found, strict=True)))


def block_for(k: int, d: int) -> int:
    """Return the number of places of a program; more places share the coordinates of a target."""
    return min(_FEW_PLACES if d <= FEW else _PLACES, _KEPT // triton.next_power_of_2(k))


def _search_part(
    targets: Targets, places: torch.Tensor, k: int, reach: float, floor: Floor
) -> Neighbours:
    m, d = places.shape
    block, room, n_tiles = block_for(k, d), triton.next_power_of_2(k), len(targets.balls.radii)
    balls = balls_around(padded(places, block), block)
    apart = centres_apart(balls, targets.balls)
    gaps = gaps_between(balls, targets.balls, apart)
    n_homes = min(n_tiles, triton.cdiv(k, _TILE))
    numbers = torch.empty((m, room), dtype=torch.int32, device=places.device)
    squares = torch.empty((m, room), dtype=places.dtype, device=places.device)
    nearest_of_all[(len(gaps),)](
        targets.columns, targets.numbers, places.contiguous(), gaps.to(places.dtype),
        apart.argmin(dim=1).clamp_max(n_tiles - n_homes), floor.squares, floor.numbers,
        places.new_tensor([reach]), numbers, squares, targets.columns.shape[1], n_tiles, m, d,
        n_homes, triton.cdiv(k, n_homes),
        ROOM=room, BLOCK=block, TILE=_TILE, FAN=_FAN, NOBODY=NOBODY, num_warps=4,
        enable_fp_fusion=False,  # squared distances are those of the CPU, to the last bit
    )  # fmt: skip
    numbers, order = numbers.sort(dim=1)
    squares, nearer = squares.gather(1, order).sort(dim=1, stable=True)
    return Neighbours(numbers.gather(1, nearer)[:, :k].long(), squares[:, :k])


@triton.jit(do_not_specialize=["n", "n_tiles", "m", "d", "n_homes", "wanted"])
def nearest_of_all(
    columns, numbers, places, gaps, homes, floors, floor_numbers, limit, found, squares,
    n, n_tiles, m, d, n_homes, wanted,
    ROOM: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr, FAN: tl.constexpr,
    NOBODY: tl.constexpr,
):  # fmt: skip
    """Keep the nearest targets of each place of a block, up to ROOM, in any order.

    First bounds are the largest of the ``wanted``-th smallest squared distances in ``n_homes``
    tiles, from the one nearest to the block on. Then a target that comes before the last one that
    is kept takes its slot; the order is by distance, then by number. ``gaps`` are lower bounds of
    the distances between a place of the block and a target of the tile. Free slots have the highest
    numbers.
    """
    block = tl.program_id(0)
    places_here = block * BLOCK + tl.arange(0, BLOCK)
    rows = tl.minimum(places_here, m - 1).to(tl.int64)
    slots = tl.arange(0, ROOM)
    fan = tl.arange(0, FAN)
    reach = tl.load(limit)
    floor = tl.load(floors + rows)[:, None]
    floor_number = tl.load(floor_numbers + rows)[:, None]
    kept = tl.full((BLOCK, ROOM), float("inf"), places.dtype.element_ty)
    which = tl.zeros((BLOCK, ROOM), tl.int32) + (NOBODY - ROOM + slots)[None, :]
    farthest, last = _last_of(kept, which)
    home = tl.load(homes + block).to(tl.int32)
    nearby = tl.zeros((BLOCK,), places.dtype.element_ty)
    for tile in range(home, home + n_homes):
        square, number = _squares_of(
            columns, numbers, places, rows, floor, floor_number, reach, tile, n, d,
            BLOCK, TILE, NOBODY,
        )  # fmt: skip
        smallest = nearby
        for _ in range(wanted):
            smallest = tl.min(square, axis=1)
            square = tl.where(square == smallest[:, None], float("inf"), square)
        nearby = tl.maximum(nearby, smallest)
    bound = tl.minimum(reach, tl.max(nearby, axis=0))
    n_flights = tl.cdiv(n_tiles, FAN)
    home = home // FAN
    for turn in range(n_flights):
        flight = (home + turn) % n_flights
        tiles = flight * FAN + fan
        real = tiles < n_tiles
        gap = tl.load(gaps + block.to(tl.int64) * n_tiles + tiles, mask=real, other=0.0)
        bits = tl.sum((real & (gap * gap <= bound)).to(tl.int32) << fan, axis=0)
        for tile in range(FAN):
            if (bits >> tile) & 1:
                square, number = _squares_of(
                    columns, numbers, places, rows, floor, floor_number, reach,
                    flight * FAN + tile, n, d, BLOCK, TILE, NOBODY,
                )  # fmt: skip
                beyond = square > nearby[:, None]
                square = tl.where(beyond, float("inf"), square)
                number = tl.where(beyond, NOBODY, number)
                nearest, first = _first_of(square, number, NOBODY)
                enters = (nearest < farthest) | ((nearest == farthest) & (first < last))
                while tl.max(enters.to(tl.int32), axis=0) > 0:
                    taken = enters[:, None]
                    slot = taken & (which == last[:, None])
                    kept = tl.where(slot, nearest[:, None], kept)
                    which = tl.where(slot, first[:, None], which)
                    gone = taken & (number == first[:, None])
                    square = tl.where(gone, float("inf"), square)
                    number = tl.where(gone, NOBODY, number)
                    nearest, first = _first_of(square, number, NOBODY)
                    farthest, last = _last_of(kept, which)
                    enters = (nearest < farthest) | ((nearest == farthest) & (first < last))
                bound = tl.minimum(reach, tl.max(tl.minimum(nearby, farthest), axis=0))
    at = rows[:, None] * ROOM + slots[None, :]
    inside = (places_here < m)[:, None]
    tl.store(found + at, tl.where(which < NOBODY - ROOM, which, NOBODY), mask=inside)
    tl.store(squares + at, kept, mask=inside)


@triton.jit
def _squares_of(
    columns, numbers, places, rows, floor, floor_number, reach, tile, n, d,
    BLOCK: tl.constexpr, TILE: tl.constexpr, NOBODY: tl.constexpr,
):  # fmt: skip
    """Return squared distances to the targets of a tile, and their numbers.

    Targets that do not count are infinitely far and have the number NOBODY.
    """
    others = tile * TILE + tl.arange(0, TILE)
    square = tl.zeros((BLOCK, TILE), places.dtype.element_ty)
    column = columns
    for k in range(d):
        here = tl.load(places + rows * d + k)
        step = tl.load(column + others)[None, :] - here[:, None]
        square += step * step
        column += n
    number = tl.load(numbers + others)[None, :] + tl.zeros((BLOCK, TILE), tl.int32)
    behind = (square > floor) | ((square == floor) & (number > floor_number))
    counts = behind & (square <= reach) & (number < NOBODY)
    return tl.where(counts, square, float("inf")), tl.where(counts, number, NOBODY)


@triton.jit
def _first_of(square, number, NOBODY: tl.constexpr):
    """Return the nearest of the targets of each place, and its number."""
    nearest = tl.min(square, axis=1)
    return nearest, tl.min(tl.where(square == nearest[:, None], number, NOBODY), axis=1)


@triton.jit
def _last_of(kept, which):
    """Return the farthest of the targets that are kept for each place, and its number."""
    farthest = tl.max(kept, axis=1)
    return farthest, tl.max(tl.where(kept == farthest[:, None], which, -1), axis=1)
