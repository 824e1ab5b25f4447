"""Connected components of points at most a radius apart, on the device."""

import torch
import triton
import triton.language as tl

from modeshift.engines.cuda.sums import lowest_of
from modeshift.engines.cuda.tiles import (
    ROUNDING,
    Balls,
    balls_around,
    locality_order,
    near_tiles,
    padded,
)

_TILE = 64
_SHARES = 8  # programs that share the tiles of a block: a block on a border has many
_ENTRIES = 2**25  # pairs of a block and a tile compared at a time


def connected_components(points: torch.Tensor, radius: float) -> torch.Tensor:
    """Number the connected components, by first appearance.

    In each round every point, and the owner of its label, takes the smallest label within the
    radius; then every label is replaced by the label of its owner. The rounds end when nothing
    changes. There are few, because trees of labels halve their height in each.
    """
    n = len(points)
    order = locality_order(points)
    places = padded(points[order], _TILE)
    balls = balls_around(places, _TILE)
    roots = _roots_of_tiles(balls, n, radius)
    rows = max(1, _ENTRIES // len(balls.radii))
    visits = [
        near_tiles(Balls(centres, radii), balls, radius)
        for centres, radii in zip(balls.centres.split(rows), balls.radii.split(rows), strict=True)
    ]
    columns = places.T.contiguous()
    reach = columns.new_tensor([radius * radius])  # a Python number would become float32
    while True:
        lowest = roots.clone()
        for number, part in enumerate(visits):
            smallest_near[(len(part.starts), _SHARES)](
                columns, roots, part.starts, part.counts, part.tiles, lowest, reach, number * rows,
                len(places), places.shape[1], BLOCK=_TILE, TILE=_TILE, num_warps=4,
            )  # fmt: skip
        found = lowest.scatter_reduce(0, roots, lowest, "amin")
        while not torch.equal(found, deeper := found[found]):
            found = deeper
        if torch.equal(found, roots):
            break
        roots = found
    owners = torch.empty(n, dtype=torch.int64, device=points.device)
    owners[order] = order[roots[:n]]
    return _number_by_first(owners)


def _roots_of_tiles(balls: Balls, n: int, radius: float) -> torch.Tensor:
    """Label each point by its row; in a small tile, all points by its first row."""
    rows = torch.arange(len(balls.radii) * _TILE, device=balls.radii.device)
    tight = (2.0 * (1.0 + ROUNDING) * balls.radii <= radius).repeat_interleave(_TILE)
    return torch.where(tight, rows - rows % _TILE, rows).clamp_max(n - 1)


def _number_by_first(components: torch.Tensor) -> torch.Tensor:
    """Renumber components by their first row."""
    _, numbers = torch.unique(components, return_inverse=True)
    rows = torch.arange(len(numbers), device=numbers.device)
    firsts = lowest_of(rows, numbers, int(numbers.max()) + 1)
    ranks = torch.empty_like(firsts)
    ranks[torch.argsort(firsts)] = torch.arange(len(firsts), device=ranks.device)
    return ranks[numbers]


@triton.jit(do_not_specialize=["first_block", "n", "d"])
def smallest_near(
    points, labels, starts, counts, visits, lowest, limit, first_block, n, d,
    BLOCK: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the smallest label within reach of each point of a block.

    Coordinate k of point i is points[k * n + i].
    """
    block = tl.program_id(0)
    share = tl.program_id(1)
    n_shares = tl.num_programs(1)
    rows = (first_block + block).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    best = tl.load(labels + rows)
    reach = tl.load(limit)
    listing = tl.load(starts + block)
    for visit in range(share, tl.load(counts + block), n_shares):
        others = tl.load(visits + listing + visit).to(tl.int64) * TILE + tl.arange(0, TILE)
        theirs = tl.load(labels + others)
        if tl.min(theirs) < tl.max(best):
            square = tl.zeros((BLOCK, TILE), points.dtype.element_ty)
            column = points
            for _ in range(d):
                gap = tl.load(column + rows)[:, None] - tl.load(column + others)[None, :]
                square += gap * gap
                column += n
            near = tl.where(square <= reach, theirs[None, :], best[:, None])
            best = tl.minimum(best, tl.min(near, axis=1))
    tl.atomic_min(lowest + rows, best)
