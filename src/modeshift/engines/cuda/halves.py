"""Points for tensor cores: centred, scaled, and split into numbers of 16 bits.

Precision "exact" writes a coordinate as the sum of two float16, of 11 bits each, and marks the
pairs that this leaves in doubt. "fast" takes one bfloat16, of 8 bits. docs/gpu.md derives the
bounds.
"""

import math
from typing import NamedTuple

import torch

from modeshift.engines.cuda.devices import INTERPRETED

_LARGEST = 10  # coordinates are scaled to lie below 2 ** 10, far below the limit of float16
_FAR = 2.0**15  # farther from any point than the reach, which is below 2 ** 10 too
_STEP = 16  # features that tensor cores add up at a time


class Frame(NamedTuple):
    """Origin and unit of the scaled coordinates.

    Attributes
    ----------
    centre : Tensor of shape (d,)
    factor : float
        A power of two that coordinates are multiplied by.
    """

    centre: torch.Tensor
    factor: float


class Halves(NamedTuple):
    """Rows for tensor cores.

    Attributes
    ----------
    high, low : Tensor of shape (rows, width)
        They add up to the row; with "fast", ``low`` is not used.
    half_squares : Tensor of shape (rows,), float32
        Half the squared length.
    """

    high: torch.Tensor
    low: torch.Tensor
    half_squares: torch.Tensor


def make_frame(points: torch.Tensor, reach: float) -> Frame:
    """Choose a frame in which no coordinate of the points reaches 2 ** 10, nor does the reach."""
    centre = points.mean(dim=0)
    largest = max(float((points - centre).abs().max()), reach)
    return Frame(centre, 2.0 ** (_LARGEST - math.frexp(largest)[1]))


def split_rows(rows: torch.Tensor, frame: Frame, width: int, precision: str) -> Halves:
    """Centre and scale rows, round them to 16 bits, and pad them to a width with zeros.

    Rows that float16 cannot hold are infinitely far, beyond the reach of all points.
    """
    scaled = (rows - frame.centre) * frame.factor
    scaled = torch.nn.functional.pad(scaled, (0, width - scaled.shape[1]))
    if precision == "fast":
        # Lengths of the rounded rows: the distance of a point to itself must be 0.
        scaled = scaled.to(torch.bfloat16).float()
    half_squares = (0.5 * (scaled * scaled).sum(dim=1, dtype=torch.float64)).float()
    if bool((half_squares >= 0.5 * _FAR**2).any()):
        far = (scaled.abs() >= _FAR).any(dim=1)
        scaled[far], half_squares[far] = 0.0, torch.inf
    if precision == "fast":
        high = scaled if INTERPRETED else scaled.to(torch.bfloat16)
        return Halves(high, high, half_squares)
    high = scaled.to(torch.float16)
    return Halves(high, (scaled - high).to(torch.float16), half_squares)


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


def width_of(d: int) -> int:
    """Return the padded number of columns: a power of two, or a multiple of the largest."""
    if d <= LARGEST_WIDTH:
        return max(_STEP, 1 << (d - 1).bit_length())
    return -(-d // LARGEST_WIDTH) * LARGEST_WIDTH


LARGEST_WIDTH = 256
"""Number of features that a kernel holds at a time; more are taken in parts."""
