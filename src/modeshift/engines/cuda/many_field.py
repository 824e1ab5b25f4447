"""The field in more than 8 dimensions."""

from functools import partial
from typing import NamedTuple, Self

import torch
from triton.runtime.errors import OutOfResources

from modeshift.engines.cuda.devices import n_processors
from modeshift.engines.cuda.field import LOG2_E, DeviceField
from modeshift.engines.cuda.halves import (
    LARGEST_WIDTH,
    Halves,
    doubt_factor,
    make_frame,
    split_rows,
    width_of,
)
from modeshift.engines.cuda.many import settle_doubts, sweep_many
from modeshift.engines.cuda.sphere import put_back
from modeshift.engines.cuda.tiles import (
    Layout,
    Visits,
    are_near,
    balls_around,
    listed,
    padded,
    padded_with,
)

_BUSY = 2  # programs for each processor
_MOST_SHARES = 16
_WORTH_LISTING = 0.9  # up to this share of the tiles a list of them is faster than visiting all
_WEIGHT_ERROR = 2.0**-8  # largest relative error of a Gaussian weight
_ROOM = 64  # first length of the list of tiles in doubt of a place
_MOST_ROOM = 2**28  # tiles in doubt, of all places together
_LIGHT = 2.0**-10  # share of the heaviest weight: a lighter sum loses digits in 16 bits


def layouts_for(width: int, exact: bool) -> list[Layout]:
    """Return the layout that was fastest on an H200 (docs/gpu.md), then smaller ones."""
    wide = 32 if exact and width >= LARGEST_WIDTH else 64
    layouts = [Layout(128, wide, 8, 3), Layout(128, wide, 8, 1), Layout(64, 32, 4, 1)]
    return [*layouts[width > LARGEST_WIDTH :], Layout(32, 32, 4, 1), Layout(16, 16, 2, 1)]


class Work(NamedTuple):
    """Output of a sweep for each share of the tiles and each place.

    Attributes
    ----------
    sums, masses : Tensor
        Sums of the values and weights of the points near a place.
    doubts, bits, n_doubts : Tensor
        Tiles with points in doubt, a bit for each such point, and the number of these tiles.
    """

    sums: torch.Tensor
    masses: torch.Tensor
    doubts: torch.Tensor
    bits: torch.Tensor
    n_doubts: torch.Tensor


class ManyField(DeviceField):
    """Field that finds neighbours with tensor cores; docs/gpu.md has the error bounds."""

    _room = _ROOM
    _level = 0  # number of layouts that needed too much shared memory

    def _build(self) -> None:
        n, d = self.points.shape
        self._exact = self.precision == "exact"
        self._width = width_of(d)
        self._parts = -(-self._width // LARGEST_WIDTH)
        self._layout = layouts_for(self._width, self._exact)[self._level]
        tile = self._layout.tile
        points = padded(self.points, tile)
        self._frame = make_frame(self.points, self.reach)
        self._halves = self._split(points, n)
        self._balls = balls_around(points, tile)
        self._masses = padded_with(self.weights.float(), tile, 0.0)
        self._heaviest = float(self._masses.max())
        self._weighted = bool((self.weights != 1.0).any())
        self._values = self._weigh(points, self._masses) if self._weighted else self._halves
        self._unit = self._frame.factor / (self._heaviest if self._weighted else 1.0)
        self._doubt = doubt_factor(d)
        sharpness = -0.5 * LOG2_E / (self.radius * self.radius)
        self._limits = self.weights.new_tensor([self.reach * self.reach, sharpness])

    def at(self, points: torch.Tensor, weights: torch.Tensor) -> Self:
        """Replace the points and weights; return the field itself."""
        self.points, self.weights = points, weights
        self._build()
        return self

    def move_points(self, rows: torch.Tensor, positions: torch.Tensor) -> None:
        """Move some of the points. They stay in the hull of the data, so the frame is valid."""
        self.points[rows] = positions
        parts = [(self._halves, self._split(positions, len(rows)))]
        if self._weighted:
            parts.append((self._values, self._weigh(positions, self._masses[rows])))
        for whole, part in parts:
            for column, changed in zip(whole, part, strict=True):
                column[rows] = changed
        self._balls = balls_around(padded(self.points, self._layout.tile), self._layout.tile)

    def _split(self, rows: torch.Tensor, n: int) -> Halves:
        """Split rows. Rows from the n-th on are padding, infinitely far away."""
        halves = split_rows(rows, self._frame, self._width, self.precision)
        halves.half_squares[n:] = torch.inf
        return halves

    def _weigh(self, points: torch.Tensor, masses: torch.Tensor) -> Halves:
        """Multiply points by their weights, once for all kernels."""
        centred = (points - self._frame.centre) * (masses / self._heaviest)[:, None]
        origin = self._frame._replace(centre=torch.zeros_like(self._frame.centre))
        return split_rows(centred, origin, self._width, self.precision)

    def _visits(self, asked: torch.Tensor) -> tuple[Visits, bool]:
        """List the tiles near each block; all tiles if a list would save little."""
        near = are_near(balls_around(asked, self._layout.block), self._balls, self.reach)
        if int(near.sum()) <= _WORTH_LISTING * near.numel():
            return listed(near), True
        n_blocks, n_tiles = near.shape
        starts = torch.zeros(n_blocks, dtype=torch.int64, device=near.device)
        counts = torch.full((n_blocks,), n_tiles, dtype=torch.int32, device=near.device)
        return Visits(starts, counts, tiles=counts), False  # the kernel does not read the list

    def _answer(self, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        means, masses = self._average(places)
        alone = masses <= 0
        if bool(alone.any()):
            means[alone] = places[alone]
        if self.on_sphere:
            means = put_back(means, places)
        shifts = torch.linalg.vector_norm(means - places, dim=1)
        return means, masses, shifts * shifts

    def _average(self, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        m, d = places.shape
        asked = padded(places, self._layout.block)
        room = self._room if self._exact else 1
        n_shares = self._share_out(len(asked) // self._layout.block)
        if room * n_shares * len(asked) > _MOST_ROOM and m > 1:
            parts = [self._average(half) for half in places.split(-(-m // 2))]
            return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])
        work = self._make_work(n_shares, len(asked), room)
        try:
            self._sweep(asked, m, work)
        except OutOfResources:  # too little shared memory on this GPU: try smaller tiles
            self._level += 1
            if self._level == len(layouts_for(self._width, self._exact)):
                raise
            self._build()
            return self._average(places)
        most = int(work.n_doubts.max()) if self._exact else 0
        if most > room:
            self._room = 1 << (most - 1).bit_length()
            return self._average(places)
        if most > 0:
            self._settle(places.contiguous(), work)
        total = work.masses.sum(dim=0)[:m]
        offsets = work.sums[0] if n_shares == 1 else work.sums.sum(dim=0)
        shares = (1.0 / (self._unit * total))[:, None]
        means = torch.addcmul(self._frame.centre, offsets[:m, :d].to(places.dtype), shares)
        if self._weighted:
            self._average_light(places, means, total)
        return means, total

    def _average_light(
        self, places: torch.Tensor, means: torch.Tensor, total: torch.Tensor
    ) -> None:
        """Compute the means that float16 cannot hold again, by differences in float64."""
        points, weights = self.points.double(), self.weights.double()
        light = (total > 0) & (total < _LIGHT * self._heaviest)
        for row in light.nonzero()[:, 0].tolist():
            gaps = points - places[row].double()
            squares = (gaps * gaps).sum(dim=1)
            worth = torch.where(squares <= self.reach * self.reach, weights, 0.0)
            if self.gaussian:
                worth = worth * torch.exp(-0.5 * squares / (self.radius * self.radius))
            mass = worth.sum()
            means[row] = places[row] + (worth @ gaps / mass).to(places.dtype)
            total[row] = mass

    def _share_out(self, n_blocks: int) -> int:
        """Return the number of programs per block that keeps all processors busy."""
        n_shares = _BUSY * n_processors(self.points.device) // (n_blocks * self._parts)
        return max(1, min(n_shares, len(self._balls.radii), _MOST_SHARES))

    def _make_work(self, n_shares: int, m: int, room: int) -> Work:
        new = partial(torch.empty, device=self.points.device)
        n_bits = torch.int32 if self._layout.tile <= 32 else torch.int64
        return Work(
            sums=new((n_shares, m, self._width), dtype=torch.float32),
            masses=new((n_shares, m), dtype=torch.float32),
            doubts=new((n_shares, m, room), dtype=torch.int32),
            bits=new((n_shares, m, room), dtype=n_bits),
            n_doubts=new((n_shares, m), dtype=torch.int32),
        )

    def _sweep(self, asked: torch.Tensor, m: int, work: Work) -> None:
        """Add up the points near the first m places; the other places are padding."""
        visits, listed = self._visits(asked)
        halves = self._split(asked, m)
        reach = 0.5 * (self.reach * self._frame.factor) ** 2
        spread = (self.radius * self._frame.factor) ** 2
        sweep_many[(len(visits.starts), self._parts, len(work.sums))](
            halves.high, halves.low, halves.half_squares - reach,
            self._slack(halves, self._layout.block, 2.0 * reach),
            *self._halves, self._slack(self._halves, self._layout.tile), *self._values[:2],
            self._masses, *visits, work.doubts, work.bits, work.n_doubts, work.sums, work.masses,
            work.doubts.shape[2], reach, LOG2_E / spread, _WEIGHT_ERROR * spread,
            WIDTH=min(self._width, LARGEST_WIDTH), PARTS=self._parts, BLOCK=self._layout.block,
            TILE=self._layout.tile, EXACT=self._exact, GAUSSIAN=self.gaussian,
            WEIGHTED=self._weighted, LISTED=listed, num_warps=self._layout.warps,
            num_stages=self._layout.stages,
        )  # fmt: skip

    def _settle(self, places: torch.Tensor, work: Work) -> None:
        """Compute the distances of pairs in doubt, and add the points that count."""
        n_shares, n_places, room = work.doubts.shape
        settle_doubts[(len(places),)](
            places, self.points, self._frame.centre, self._masses, work.doubts, work.bits,
            work.n_doubts, work.sums, work.masses, self._limits, n_places, n_shares, room,
            places.shape[1], self._unit, WIDTH=min(self._width, LARGEST_WIDTH), PARTS=self._parts,
            TILE=self._layout.tile, GAUSSIAN=self.gaussian, num_warps=1,
        )  # fmt: skip

    def _slack(self, halves: Halves, size: int, more: float = 0.0) -> torch.Tensor:
        """Return the error bound of a margin for the rows of each tile, without padding."""
        squares = torch.where(halves.half_squares < torch.inf, 2.0 * halves.half_squares, 0.0)
        return self._doubt * (squares.reshape(-1, size).amax(dim=1) + more)
