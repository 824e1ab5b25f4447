"""Points sorted by position and cut into tiles, so that far tiles can be skipped."""

from typing import NamedTuple

import torch

FEW = 8  # up to this number of features the kernel without tensor cores is faster

_CROWD = 256  # mean number of points of an anchor
_CHUNK = 2**24  # distances to anchors computed at a time


class Layout(NamedTuple):
    """Sizes of the parts of work for a kernel.

    Attributes
    ----------
    block : int
        Number of places in a block.
    tile : int
        Number of points in a tile.
    warps, stages : int
        Triton's settings: groups of 32 threads per program, and tiles fetched ahead.
    """

    block: int
    tile: int
    warps: int
    stages: int


def padded(rows: torch.Tensor, multiple: int) -> torch.Tensor:
    """Repeat the last row until the number of rows is divisible by ``multiple``."""
    missing = -len(rows) % multiple
    if missing == 0:
        return rows
    return torch.cat([rows, rows[-1:].expand(missing, *rows.shape[1:])])


def padded_with(values: torch.Tensor, multiple: int, filler: float) -> torch.Tensor:
    """Add a filler until the number of values is divisible by ``multiple``."""
    missing = -len(values) % multiple
    return torch.nn.functional.pad(values, (0, missing), value=filler)


class Balls(NamedTuple):
    """A ball around the rows of each tile."""

    centres: torch.Tensor
    radii: torch.Tensor


def balls_around(rows: torch.Tensor, size: int) -> Balls:
    """Cut rows, a multiple of ``size``, into tiles and put a ball around each."""
    tiles = rows.reshape(-1, size, rows.shape[1])
    centres = tiles.mean(dim=1)
    radii = torch.linalg.vector_norm(tiles - centres[:, None], dim=2).amax(dim=1)
    return Balls(centres, radii)


def locality_order(points: torch.Tensor) -> torch.Tensor:
    """Return an order in which rows next to each other are near in space."""
    if points.shape[1] <= FEW:
        return torch.argsort(_curve_keys(points), stable=True)
    return _anchor_order(points)


def _curve_keys(points: torch.Tensor) -> torch.Tensor:
    """Return the position of each point on a Z-order curve through the ranks of coordinates.

    Ranks are better than coordinates, because a single far point would squeeze all others together.
    """
    n, d = points.shape
    ranks = torch.argsort(torch.argsort(points, dim=0), dim=0)
    n_bits = min(62 // d, max(1, (n - 1).bit_length()))
    cells = ranks * 2**n_bits // n
    keys = torch.zeros(n, dtype=torch.int64, device=points.device)
    for bit in range(n_bits):
        for feature in range(d):
            keys |= ((cells[:, feature] >> bit) & 1) << (bit * d + feature)
    return keys


def _anchor_order(points: torch.Tensor) -> torch.Tensor:
    """Return an order by the nearest anchor, then by the distance from it.

    Anchors are sorted in the same way. Groups smaller than the crowd of an anchor stay together,
    because their points have similar distances from it.
    """
    n = len(points)
    n_anchors = max(1, n // _CROWD)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randperm(n, generator=generator)[:n_anchors].to(points.device)
    anchors = points[drawn].float()
    groups, _ = _nearest_anchor(anchors, anchors[: max(1, int(n_anchors**0.5))])
    anchors = anchors[torch.argsort(groups, stable=True)]
    groups, squares = _nearest_anchor(points, anchors)
    by_square = torch.argsort(squares, stable=True)
    return by_square[torch.argsort(groups[by_square], stable=True)]


def _nearest_anchor(
    points: torch.Tensor, anchors: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the index of the nearest anchor, and the squared distance; near ties go either way."""
    halves = 0.5 * (anchors * anchors).sum(dim=1)
    rows = max(1, _CHUNK // len(anchors))
    parts = [(halves - part.float() @ anchors.T).min(dim=1) for part in points.split(rows)]
    own = 0.5 * (points.float() ** 2).sum(dim=1)
    return torch.cat([part.indices for part in parts]), own + torch.cat(
        [part.values for part in parts]
    )


class Visits(NamedTuple):
    """Lists of the tiles that each block visits.

    Attributes
    ----------
    starts : Tensor of shape (blocks,), int64
        Start of the list of each block.
    counts : Tensor of shape (blocks,), int32
    tiles : Tensor of int32
        The lists, one after the other.
    """

    starts: torch.Tensor
    counts: torch.Tensor
    tiles: torch.Tensor


ROUNDING = 1e-4  # share of a radius: above the error of float32 with up to 10**5 features
CANCELLED = 1e-9  # share of the squares whose difference is a squared distance, in float64


def centres_apart(blocks: Balls, tiles: Balls) -> torch.Tensor:
    """Return a lower bound of the distance of each two centres, in float64; overflow is near."""
    origin = tiles.centres.mean(dim=0)
    ours, theirs = (blocks.centres - origin).double(), (tiles.centres - origin).double()
    products = (ours * ours).sum(dim=1)[:, None] + (theirs * theirs).sum(dim=1)
    squares = torch.addmm(products, ours, theirs.T, alpha=-2.0)
    apart = (squares - CANCELLED * products).clamp_min(0.0).sqrt() / (1.0 + ROUNDING)
    return apart.nan_to_num(nan=0.0, posinf=torch.inf)


def gaps_between(blocks: Balls, tiles: Balls, apart: torch.Tensor) -> torch.Tensor:
    """Return for each block a lower bound of its distance to each tile; overflow is near."""
    gaps = apart - blocks.radii[:, None] - tiles.radii
    return gaps.nan_to_num(nan=0.0, posinf=torch.inf).clamp_min(0.0)


def near_tiles(blocks: Balls, tiles: Balls, reach: float) -> Visits:
    """Return for each block the list of tiles whose ball comes within reach of its ball."""
    return listed(gaps_between(blocks, tiles, centres_apart(blocks, tiles)) <= reach)


def listed(near: torch.Tensor) -> Visits:
    """Return the lists of tiles from a mask."""
    counts = near.sum(dim=1)
    return Visits(
        starts=counts.cumsum(dim=0) - counts,
        counts=counts.to(torch.int32),
        tiles=near.nonzero()[:, 1].to(torch.int32),
    )
