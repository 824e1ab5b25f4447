"""Gaussian sweeps over wide data in many dimensions: every block of places has its own origin.

Coordinates relative to the mean of data that extend over many bandwidths are large, and so is the
error of their products. Relative to a block they are as small as the block and the reach.
"""

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl

from modeshift.engines.cuda.field import LOG2_E
from modeshift.engines.cuda.halves import LARGEST, WEIGHT_ERROR, doubt_factor, slack_of
from modeshift.engines.cuda.many import SCALE, note_doubts
from modeshift.engines.cuda.tiles import Layout

LAYOUTS = (Layout(64, 32, 4, 1), Layout(32, 32, 4, 1), Layout(16, 16, 2, 1))
"""The layout of the kernel, then smaller ones."""

_FREE = 2**12  # positions of blocks that may be filled, however few the places
_SAFETY = 1.0 + 2.0**-16  # for squared lengths that are computed in float32


class Segments(NamedTuple):
    """Places cut where neighbours are far apart, so that no block has places of both sides.

    Attributes
    ----------
    rows : Tensor
        The place at each position of the blocks; the last place of a segment fills its last block.
    slots : Tensor of shape (m,)
        The position of each place.
    """

    rows: torch.Tensor
    slots: torch.Tensor


class Blocks(NamedTuple):
    """Places relative to the centres of their blocks, in a unit of each block.

    Attributes
    ----------
    high, low : Tensor of shape (rows, width), float16
    half_squares : Tensor of shape (rows,), float32
        Half the squared length.
    centres : Tensor of shape (blocks, d)
    numbers : Tensor of shape (blocks, 5), float32
        Factor of the coordinates, slack, half the squared reach, sharpness of the Gaussian, largest
        slack that is allowed.
    """

    high: torch.Tensor
    low: torch.Tensor
    half_squares: torch.Tensor
    centres: torch.Tensor
    numbers: torch.Tensor


def cut_apart(places: torch.Tensor, reach: float, block: int) -> Segments:
    """Cut places between neighbours farther apart than the reach, unless most are."""
    m = len(places)
    jumps = torch.linalg.vector_norm(places[1:] - places[:-1], dim=1) > reach
    segment = torch.nn.functional.pad(jumps.cumsum(dim=0), (1, 0))
    n_segments = int(segment[-1]) + 1
    if n_segments * block > max(_FREE, m):
        segment, n_segments = torch.zeros_like(segment), 1
    sizes = torch.bincount(segment, minlength=n_segments)
    room = (sizes + block - 1) // block * block
    first, start = sizes.cumsum(dim=0) - sizes, room.cumsum(dim=0) - room
    within = torch.arange(int(room.sum()), device=places.device)
    owner = torch.repeat_interleave(torch.arange(n_segments, device=places.device), room)
    rows = first[owner] + torch.minimum(within - start[owner], sizes[owner] - 1)
    slots = start[segment] + torch.arange(m, device=places.device) - first[segment]
    return Segments(rows, slots)


def blocks_of(
    places: torch.Tensor, centres: torch.Tensor, width: int, reach: float, radius: float
) -> Blocks:
    """Return places relative to the centres of their blocks, which are equally large."""
    d = places.shape[1]
    blocks = places.reshape(len(centres), -1, d)
    local = (blocks - centres[:, None]).float()
    largest = local.abs().amax(dim=(1, 2)).clamp_min(reach)
    factor = torch.exp2(LARGEST - torch.frexp(largest).exponent.float())
    scaled = _widened(local * factor[:, None, None], width)
    high = scaled.half()
    squares = (scaled * scaled).sum(dim=2)
    longest = _SAFETY * squares.amax(dim=1)
    half_reach = 0.5 * (reach * factor) ** 2
    spread = (radius * factor) ** 2
    slack = slack_of(longest, d) + 2.0 * doubt_factor(d) * half_reach
    numbers = (factor, slack, half_reach, LOG2_E / spread, WEIGHT_ERROR * spread)
    return Blocks(
        high=high.reshape(-1, width),
        low=(scaled - high.float()).half().reshape(-1, width),
        half_squares=0.5 * squares.reshape(-1),
        centres=centres,
        numbers=torch.stack(numbers, dim=1),
    )


def _widened(rows: torch.Tensor, width: int) -> torch.Tensor:
    """Fill rows with zeros up to a width."""
    return torch.nn.functional.pad(rows, (0, width - rows.shape[-1])).contiguous()


def small_steps(d: int) -> float:
    """Return the error of a margin by the smallest steps of float16, in the length of a row."""
    return 2.0**-25 * math.sqrt(d)


@triton.jit(do_not_specialize=["n", "room"])
def sweep_local(
    q_high, q_low, q_half, q_centres, numbers, x, weights,
    starts, counts, visits, doubts, bits, n_doubts, sums, masses,
    n, room, d, doubt, small, unit, heaviest,
    WIDTH: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr,
    WEIGHTED: tl.constexpr, LISTED: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    """Add up the values of the points near each place, and their weights; see ``sweep_many``.

    A point is taken relative to the centre of the block, and split into two float16, here. Points
    that float16 cannot hold are infinitely far. ``weights`` are shares of the heaviest one. Sums
    are relative to the centre of the block, multiplied by ``unit`` and divided by the heaviest
    weight.
    """
    block = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    share = tl.program_id(2)
    n_shares = tl.num_programs(2)
    n_places = tl.num_programs(0).to(tl.int64) * BLOCK
    places = block * BLOCK + tl.arange(0, BLOCK)
    out = share * n_places + places
    columns = tl.arange(0, TILE)
    in_block = tl.arange(0, BLOCK)[:, None] * (PARTS * WIDTH) + tl.arange(0, WIDTH)[None, :]
    listing = tl.load(starts + block)
    n_here = tl.load(counts + block)
    begin = (n_here * share) // n_shares
    end = (n_here * (share + 1)) // n_shares

    factor = tl.load(numbers + block * 5)
    block_slack = tl.load(numbers + block * 5 + 1)
    reach = tl.load(numbers + block * 5 + 2)
    sharpness = tl.load(numbers + block * 5 + 3)
    most_slack = tl.load(numbers + block * 5 + 4)
    edge = (tl.load(q_half + places) - reach)[:, None]
    origin = q_centres + block * d
    q_high += block * BLOCK * PARTS * WIDTH
    q_low += block * BLOCK * PARTS * WIDTH
    if PARTS == 1:
        q1 = tl.load(q_high + in_block)
        q2 = tl.load(q_low + in_block)
    total = tl.zeros((BLOCK, WIDTH), tl.float32)
    mass = tl.zeros((BLOCK,), tl.float32)
    n_listed = tl.zeros((BLOCK,), tl.int32)
    lists = out * room
    ones = tl.full((TILE,), 1, bits.dtype.element_ty) << columns
    for visit in range(begin, end):
        tile = visit
        if LISTED:
            tile = tl.load(visits + listing + visit)
        rows = tl.cast(tile, tl.int64) * TILE + columns
        score = tl.zeros((BLOCK, TILE), tl.float32)
        rest = tl.zeros((BLOCK, TILE), tl.float32)
        square = tl.zeros((TILE,), tl.float32)
        far = (rows >= n).to(tl.int32)
        for k in tl.static_range(PARTS):
            if PARTS > 1:
                q1 = tl.load(q_high + k * WIDTH + in_block)
                q2 = tl.load(q_low + k * WIDTH + in_block)
            value = _relative(x, rows, n, d, origin, factor, k, WIDTH)
            fits = tl.abs(value) < FAR
            far = tl.maximum(far, 1 - tl.min(fits.to(tl.int32), axis=1))
            value = tl.where(fits, value, 0.0)
            square += tl.sum(value * value, axis=1)
            x1 = value.to(tl.float16)
            x2 = (value - x1.to(tl.float32)).to(tl.float16)
            score = tl.dot(q1, tl.trans(x1), score)
            rest = tl.dot(q1, tl.trans(x2), rest)
            rest = tl.dot(q2, tl.trans(x1), rest)
        half = tl.where(far > 0, float("inf"), 0.5 * square)
        slack = block_slack + doubt * square + small * tl.sqrt(square)
        margin = (score + rest) - half[None, :] - edge
        limit = tl.where((slack > most_slack) & (far == 0), -slack, float("inf"))[None, :]
        doubtful = margin >= limit
        near = (margin >= 0.0) & (margin < limit)
        n_listed = note_doubts(doubtful, tile, ones, doubts + lists, bits + lists, n_listed, room)
        worth = tl.exp2(tl.minimum(margin - reach, 0.0) * sharpness)
        worth = tl.where(near, SCALE * worth, 0.0)
        if WEIGHTED:
            worth = worth * tl.load(weights + rows)[None, :]
        if PARTS > 1:
            value = _relative(x, rows, n, d, origin, factor, part, WIDTH)
            value = tl.where(tl.abs(value) < FAR, value, 0.0)
            x1 = value.to(tl.float16)
            x2 = (value - x1.to(tl.float32)).to(tl.float16)
        p1 = worth.to(tl.float16)
        p2 = (worth - p1.to(tl.float32)).to(tl.float16)
        total = tl.dot(p2, x1, total)
        total = tl.dot(p1, x1, total)
        total = tl.dot(p1, x2, total)
        mass += tl.sum(worth, axis=1)

    mass = mass / SCALE
    total = total * (unit / (SCALE * factor))
    sums += (share * n_places + block * BLOCK) * (PARTS * WIDTH) + part * WIDTH
    tl.store(sums + in_block, total)
    if part == 0:
        tl.store(masses + out, mass * heaviest)
        tl.store(n_doubts + out, n_listed)


@triton.jit
def _relative(x, rows, n, d, origin, factor, k, WIDTH: tl.constexpr):
    """Return a part of the rows of a tile relative to the centre of the block, in its unit."""
    columns = k * WIDTH + tl.arange(0, WIDTH)
    inside = (columns < d)[None, :]
    value = tl.load(x + rows[:, None] * d + columns[None, :], mask=inside & (rows < n)[:, None])
    value = value - tl.load(origin + columns, mask=columns < d)[None, :]
    return tl.where(inside, value.to(tl.float32), 0.0) * factor
