"""Points in the order of space, cut into tiles: what lies far from a tile is never looked at."""

from typing import NamedTuple

import torch

FEW = 8  # features up to which the kernel without tensor cores is faster

_CROWD = 256  # points an anchor, on average
_CHUNK = 2**24  # distances to anchors at a time


class Layout(NamedTuple):
    """How work is cut for a kernel.

    Attributes
    ----------
    block : int
        Places that ask together.
    tile : int
        Points that are looked at together.
    warps, stages : int
        As Triton takes them: groups of 32 threads a program, and tiles fetched ahead.
    """

    block: int
    tile: int
    warps: int
    stages: int


def padded(rows: torch.Tensor, multiple: int) -> torch.Tensor:
    """Repeat the last row until their number is a multiple."""
    missing = -len(rows) % multiple
    if missing == 0:
        return rows
    return torch.cat([rows, rows[-1:].expand(missing, *rows.shape[1:])])


def padded_with(values: torch.Tensor, multiple: int, filler: float) -> torch.Tensor:
    """Add a filler until the number of values is a multiple."""
    missing = -len(values) % multiple
    return torch.nn.functional.pad(values, (0, missing), value=filler)


class Balls(NamedTuple):
    """A ball around the rows of each tile."""

    centres: torch.Tensor
    radii: torch.Tensor


def balls_around(rows: torch.Tensor, size: int) -> Balls:
    """Cut rows, a multiple of ``size``, into tiles and put a ball around each."""
    tiles = rows.float().reshape(-1, size, rows.shape[1])
    centres = tiles.mean(dim=1)
    radii = torch.linalg.vector_norm(tiles - centres[:, None], dim=2).amax(dim=1)
    return Balls(centres, radii)


def locality_order(points: torch.Tensor) -> torch.Tensor:
    """Return an order of the rows in which neighbours in the list are neighbours in space."""
    if points.shape[1] <= FEW:
        return torch.argsort(_curve_keys(points), stable=True)
    return _anchor_order(points)


def _curve_keys(points: torch.Tensor) -> torch.Tensor:
    """Place of each point on a Z-order curve through the ranks of its coordinates.

    Ranks rather than coordinates: one point far away would take the room from all others.
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
    """Sort by the nearest of some anchors, and these by the nearest of fewer anchors."""
    n = len(points)
    n_anchors = max(1, n // _CROWD)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randperm(n, generator=generator)[:n_anchors].to(points.device)
    anchors = points[drawn].float()
    groups = _nearest_anchor(anchors, anchors[: max(1, int(n_anchors**0.5))])
    anchors = anchors[torch.argsort(groups, stable=True)]
    return torch.argsort(_nearest_anchor(points, anchors), stable=True)


def _nearest_anchor(points: torch.Tensor, anchors: torch.Tensor) -> torch.Tensor:
    """Index of the nearest anchor. Near ties may go either way: it is only an order."""
    halves = 0.5 * (anchors * anchors).sum(dim=1)
    rows = max(1, _CHUNK // len(anchors))
    return torch.cat(
        [(halves - part.float() @ anchors.T).argmin(dim=1) for part in points.split(rows)]
    )


class Visits(NamedTuple):
    """Which tiles each block has to look at.

    Attributes
    ----------
    starts : Tensor of shape (blocks,), int64
        Where the list of each block begins.
    counts : Tensor of shape (blocks,), int32
    tiles : Tensor of int32
        The lists, one after the other.
    """

    starts: torch.Tensor
    counts: torch.Tensor
    tiles: torch.Tensor


ROUNDING = 1e-4  # of a radius: more than float32 loses on up to 10**5 features
_CANCELLED = 1e-9  # of the squares of which a squared distance is the difference, in float64


def are_near(blocks: Balls, tiles: Balls, reach: float) -> torch.Tensor:
    """Tell for each block which tiles have a ball that comes within reach of its own."""
    origin = tiles.centres.mean(dim=0)
    ours, theirs = (blocks.centres - origin).double(), (tiles.centres - origin).double()
    products = (ours * ours).sum(dim=1)[:, None] + (theirs * theirs).sum(dim=1)
    squares = torch.addmm(products, ours, theirs.T, alpha=-2.0)
    limits = (1.0 + ROUNDING) * (reach + blocks.radii[:, None] + tiles.radii)
    return squares <= limits * limits + _CANCELLED * products


def near_tiles(blocks: Balls, tiles: Balls, reach: float) -> Visits:
    """List for each block the tiles whose ball comes within reach of its own."""
    return listed(are_near(blocks, tiles, reach))


def listed(near: torch.Tensor) -> Visits:
    """Write the tiles that are near each block one after the other."""
    counts = near.sum(dim=1)
    return Visits(
        starts=counts.cumsum(dim=0) - counts,
        counts=counts.to(torch.int32),
        tiles=near.nonzero()[:, 1].to(torch.int32),
    )
