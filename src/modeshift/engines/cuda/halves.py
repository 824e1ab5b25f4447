"""Points for tensor cores: centred, scaled, and split into numbers of 16 bits.

Precision "exact" writes a coordinate as the sum of two float16, of 11 bits each, and marks the
pairs that this leaves in doubt. "fast" takes one bfloat16, of 8 bits. docs/gpu.md derives the
bounds.
"""

import math
from functools import partial
from typing import NamedTuple

import torch
import triton

from modeshift.engines.cuda.devices import INTERPRETED
from modeshift.engines.cuda.split import list_tiles, split_tiles
from modeshift.engines.cuda.tiles import CANCELLED, ROUNDING, Visits

LARGEST = 10
"""Coordinates are scaled to lie below 2 ** 10, far below the limit of float16."""

FAR = 2.0**15
"""A coordinate that is farther from any point than the reach, which is below 2 ** 10 too."""

WEIGHT_ERROR = 2.0**-8
"""Largest relative error of a Gaussian weight."""

_STEP = 16  # features that tensor cores add up at a time
_COLUMNS = 32  # of the rows of a tile that are split at a time
_LISTED = 1024  # tiles that are compared with a block at a time
_WORTH_LISTING = 0.9  # up to this share of the tiles a list of them is faster than visiting all


class Frame(NamedTuple):
    """Origin and unit of the scaled coordinates.

    Attributes
    ----------
    centre : Tensor of shape (d,)
    factor : float
        A power of two that coordinates are multiplied by.
    numbers : Tensor of shape (1,)
        The factor, on the device.
    """

    centre: torch.Tensor
    factor: float
    numbers: torch.Tensor


class Halves(NamedTuple):
    """Rows for tensor cores, and balls around the rows of each tile, in the units of the frame.

    Attributes
    ----------
    high, low : Tensor of shape (rows, width)
        They add up to the row; with "fast", ``low`` is not used.
    half_squares : Tensor of shape (rows,), float32
        Half the squared length.
    centres : Tensor of shape (tiles, width), float32
    centre_squares : Tensor of shape (tiles,), float64
        Squared length of the centres.
    radii : Tensor of shape (tiles,), float32
    largest : Tensor of shape (tiles,), float32
        Largest squared length of the rows of the tile.
    """

    high: torch.Tensor
    low: torch.Tensor
    half_squares: torch.Tensor
    centres: torch.Tensor
    centre_squares: torch.Tensor
    radii: torch.Tensor
    largest: torch.Tensor


def make_frame(points: torch.Tensor, reach: float) -> Frame:
    """Choose a frame in which no coordinate of the points reaches 2 ** 10, nor does the reach."""
    centre = points[0] + (points - points[0]).mean(dim=0)  # exact if all points coincide
    largest = max(float((points - centre).abs().max()), reach)
    factor = 2.0 ** (LARGEST - math.frexp(largest)[1])
    return Frame(centre, factor, centre.new_tensor([factor]))


def room_for(rows: torch.Tensor, size: int, width: int, precision: str) -> Halves:
    """Return room for rows, in tiles of ``size``."""
    n_tiles = triton.cdiv(len(rows), size)
    new = partial(torch.empty, device=rows.device)
    fast = precision == "fast"
    kind = torch.bfloat16 if fast else torch.float16
    high = new((n_tiles * size, width), dtype=torch.float32 if fast and INTERPRETED else kind)
    numbers = new((2, n_tiles), dtype=torch.float32)
    return Halves(
        high=high,
        low=high if fast else torch.empty_like(high),
        half_squares=new(n_tiles * size, dtype=torch.float32),
        centres=new((n_tiles, width), dtype=torch.float32),
        centre_squares=new(n_tiles, dtype=torch.float64),
        radii=numbers[0],
        largest=numbers[1],
    )


def split_rows(
    rows: torch.Tensor, frame: Frame, out: Halves, weights: torch.Tensor | None = None
) -> Halves:
    """Centre and scale rows, round them to 16 bits, and pad them to a width with zeros.

    Rows that float16 cannot hold are infinitely far, beyond the reach of all points; so are the
    rows that fill the last tile. With ``weights``, of at most 1, rows are multiplied by them.
    """
    n_tiles, width = out.centres.shape
    split_tiles[(n_tiles,)](
        rows, rows if weights is None else weights, frame.centre, frame.numbers, *out, len(rows),
        rows.shape[1], width, SIZE=len(out.high) // n_tiles, STEP=min(width, _COLUMNS), FAR=FAR,
        FAST=out.low is out.high, WEIGHTED=weights is not None, num_warps=4,
    )  # fmt: skip
    return out


def tiles_near(blocks: Halves, tiles: Halves, reach: float) -> tuple[Visits, bool]:
    """Return for each block the list of tiles whose ball comes within reach of its ball.

    The second result is False if all tiles should be visited, because a list would save little.
    The reach is in the units of the frame.
    """
    n_blocks, n_tiles = len(blocks.radii), len(tiles.radii)
    new = partial(torch.empty, device=blocks.radii.device, dtype=torch.int32)
    counts, listed = new(n_blocks), new(n_blocks * n_tiles)
    list_tiles[(n_blocks,)](
        blocks.centres.double() @ tiles.centres.double().T,
        blocks.centre_squares, tiles.centre_squares, blocks.radii, tiles.radii,
        blocks.centre_squares.new_tensor([reach]), counts, listed, n_tiles,
        ROUNDING=ROUNDING, CANCELLED=CANCELLED, STEP=_LISTED, num_warps=4,
    )  # fmt: skip
    starts = torch.arange(0, n_blocks * n_tiles, n_tiles, device=counts.device)
    worth_it = int(counts.sum()) <= _WORTH_LISTING * n_blocks * n_tiles
    return Visits(starts, counts if worth_it else counts.fill_(n_tiles), listed), worth_it


def doubt_factor(d: int) -> float:
    """Return the error bound of q.x - |x|^2/2 - |q|^2/2 + h^2/2, in |q|^2 + |x|^2 + h^2.

    Two parts of 11 bits leave 2^-22 of a coordinate, of both and in the product of the lower parts
    that is not taken; with the rounding of float32 before, 4 * 2^-22 |q| |x|. Tensor cores add d
    products to a float32, 16 at a time, and cut off less than 2^-23 |q| |x| each time; a quarter of
    that is for safety. The squares and their sums lose 2^-22 of themselves. And
    |q| |x| <= (|q|^2 + |x|^2) / 2.
    """
    n_sums = -(-d // _STEP)
    return (4 + 0.625 * n_sums + 2) * 2.0**-23


def slack_of(largest: torch.Tensor, d: int) -> torch.Tensor:
    """Return the share of the rows of each tile in the error bound of a margin.

    ``largest`` is their largest squared length. Coordinates below 2^-14 lose up to 2^-25, because
    float16 has no smaller steps than 2^-24; the product loses that times the length of the other
    row, sqrt(d) 2^-25 (|q| + |x|).
    """
    return doubt_factor(d) * largest + 2.0**-25 * math.sqrt(d) * largest.sqrt()


def roughness_of(d: int) -> float:
    """Return the error bound of a margin from the upper parts alone, as a multiple of the slack.

    The lower part of a row is at most 2^-11 of the row, and sqrt(d) 2^-25 more, which is in the
    slack. So q1.x2 + q2.x1 is at most 2^-10 |q| |x| <= 2^-11 (|q|^2 + |x|^2), and a share of 2^-9
    of that is for safety.
    """
    return 1.0 + (1.0 + 2.0**-9) * 2.0**-11 / doubt_factor(d)


def width_of(d: int) -> int:
    """Return the padded number of columns: a power of two, or a multiple of the largest."""
    if d <= LARGEST_WIDTH:
        return max(_STEP, 1 << (d - 1).bit_length())
    return -(-d // LARGEST_WIDTH) * LARGEST_WIDTH


LARGEST_WIDTH = 256
"""Number of features that a kernel holds at a time; more are taken in parts."""
