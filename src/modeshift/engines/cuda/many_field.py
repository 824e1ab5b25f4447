"""The field in more than 8 dimensions."""

from functools import partial
from typing import NamedTuple, Self

import torch
from triton import cdiv
from triton.runtime.errors import OutOfResources

from modeshift.engines.cuda.devices import n_processors
from modeshift.engines.cuda.field import LOG2_E, DeviceField
from modeshift.engines.cuda.halves import (
    FAR,
    LARGEST_WIDTH,
    WEIGHT_ERROR,
    Halves,
    doubt_factor,
    make_frame,
    room_for,
    roughness_of,
    slack_of,
    split_rows,
    tiles_near,
    width_of,
)
from modeshift.engines.cuda.local import (
    LAYOUTS,
    blocks_of,
    cut_apart,
    small_steps,
    sweep_local,
)
from modeshift.engines.cuda.many import settle_doubts, sweep_many
from modeshift.engines.cuda.sphere import put_back
from modeshift.engines.cuda.split import finish_many
from modeshift.engines.cuda.tiles import Layout, Visits, padded_with

_BUSY = 2  # programs for each processor
_MOST_SHARES = 16
_JOINED = 32  # places of a program that joins the shares of a sweep
_COLUMNS = 64  # of these places, at a time
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
    centres : Tensor of shape (1, d) or (blocks, d)
        Origin of the sums: one for all places, or one for each block.
    """

    sums: torch.Tensor
    masses: torch.Tensor
    doubts: torch.Tensor
    bits: torch.Tensor
    n_doubts: torch.Tensor
    centres: torch.Tensor


class ManyField(DeviceField):
    """Field that finds neighbours with tensor cores; docs/gpu.md has the error bounds."""

    _room = _ROOM
    _level = 0  # number of layouts that needed too much shared memory

    def _build(self) -> None:
        d = self.points.shape[1]
        self._exact = self.precision == "exact"
        self._width = width_of(d)
        self._parts = -(-self._width // LARGEST_WIDTH)
        self._frame = make_frame(self.points, self.reach)
        self._wide = self.gaussian and self._exact and self._is_wide()
        self._layouts = LAYOUTS if self._wide else layouts_for(self._width, self._exact)
        self._layout = self._layouts[min(self._level, len(self._layouts) - 1)]
        self._masses = padded_with(self.weights.float(), self._layout.tile, 0.0)
        self._heaviest = float(self._masses.max())
        self._weighted = bool((self.weights != 1.0).any())
        self._halves = self._room_for(self.points, self._layout.tile)
        self._values = self._halves
        if self._weighted and not self._wide:
            self._values = self._room_for(self.points, self._layout.tile)
        self._unit = self._frame.factor / (self._heaviest if self._weighted else 1.0)
        sharpness = -0.5 * LOG2_E / (self.radius * self.radius)
        self._limits = self.weights.new_tensor([self.reach * self.reach, sharpness])
        self.follow_state()

    def _is_wide(self) -> bool:
        """Return whether relative to the mean weights may have too large an error."""
        lengths = torch.linalg.vector_norm(self.points - self._frame.centre, dim=1)
        largest = (lengths.max() * self._frame.factor) ** 2
        reach, radius = self.reach * self._frame.factor, self.radius * self._frame.factor
        d = self.points.shape[1]
        slack = 2.0 * slack_of(largest, d) + doubt_factor(d) * reach**2
        return bool(slack > WEIGHT_ERROR * radius**2)

    def follow_state(self) -> None:
        """Split the points for tensor cores; also multiplied by their weights, for the sums."""
        split_rows(self.points, self._frame, self._halves)
        if self._weighted and not self._wide:
            split_rows(self.points, self._frame, self._values, self._masses / self._heaviest)

    def at(self, points: torch.Tensor, weights: torch.Tensor) -> Self:
        """Replace the points and weights; return the field itself."""
        self.points, self.weights = points.contiguous(), weights
        self._build()  # with a new frame: a fit that continues from a checkpoint has no other
        return self

    def move_points(self, rows: torch.Tensor, positions: torch.Tensor) -> None:
        """Move some of the points. They stay in the hull of the data, so the frame is valid."""
        self.points[rows] = positions
        self.follow_state()

    def _room_for(self, rows: torch.Tensor, size: int) -> Halves:
        return room_for(rows, size, self._width, self.precision)

    def _answer(self, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not self._wide:
            return self._answer_blocks(places)
        rows, slots = cut_apart(places, self.reach, self._layout.block)
        return tuple(values[slots] for values in self._answer_blocks(places[rows]))

    def _answer_blocks(self, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        places = places.contiguous()
        m = len(places)
        room = self._room if self._exact else 1
        n_blocks = cdiv(m, self._layout.block)
        n_shares = self._share_out(n_blocks)
        n_places = n_blocks * self._layout.block
        if room * n_shares * n_places > _MOST_ROOM and m > 1:
            halves = [self._answer(half) for half in places.split(cdiv(m, 2))]
            return tuple(torch.cat(column) for column in zip(*halves, strict=True))
        work = self._make_work(places, n_shares, n_places, room)
        try:
            self._sweep(places, work)
        except OutOfResources:  # too little shared memory on this GPU: try smaller tiles
            self._level += 1
            if self._level == len(self._layouts):
                raise
            self._build()
            return self._answer(places)
        most = int(work.n_doubts.max()) if self._exact else 0
        if most > room:
            self._room = 1 << (most - 1).bit_length()
            return self._answer_blocks(places)
        if most > 0:
            self._settle(places, work)
        ends, masses, squares = self._finish(places, work)
        if self._weighted:
            self._answer_light(places, ends, masses, squares)
        return ends, masses, squares

    def _finish(self, places: torch.Tensor, work: Work) -> tuple[torch.Tensor, ...]:
        """Return means, masses and squared shifts from the sums of all shares."""
        m, d = places.shape
        n_shares, n_places = work.masses.shape
        ends, squares = torch.empty_like(places), places.new_empty(m)
        masses = work.masses.new_empty(m)
        finish_many[(cdiv(m, _JOINED),)](
            places, work.centres, work.sums, work.masses, ends, masses, squares,
            m, n_places, n_shares, d, self._width, self._unit, *self._groups(),
            SIZE=_JOINED, STEP=min(self._width, _COLUMNS), SPHERE=self.on_sphere, num_warps=4,
        )  # fmt: skip
        return ends, masses, squares

    def _answer_light(
        self,
        places: torch.Tensor,
        ends: torch.Tensor,
        masses: torch.Tensor,
        squares: torch.Tensor,
    ) -> None:
        """Compute the means that float16 cannot hold again, by differences in float64."""
        points, weights = self.points.double(), self.weights.double()
        light = (masses > 0) & (masses < _LIGHT * self._heaviest)
        for row in light.nonzero()[:, 0].tolist():
            place = places[row].double()
            gaps = points - place
            far = (gaps * gaps).sum(dim=1)
            worth = torch.where(far <= self.reach * self.reach, weights, 0.0)
            if self.gaussian:
                worth = worth * torch.exp(-0.5 * far / (self.radius * self.radius))
            mass = worth.sum()
            end = place + worth @ gaps / mass
            if self.on_sphere:
                end = put_back(end[None], place[None])[0]
            ends[row], masses[row] = end.to(ends.dtype), mass
            squares[row] = ((end - place) ** 2).sum()

    def _groups(self) -> tuple[int, int]:
        """Return the number of places for which sums have the same origin, and how far the next is.

        The number does not matter if all places have the same.
        """
        return self._layout.block, self.points.shape[1] if self._wide else 0

    def _share_out(self, n_blocks: int) -> int:
        """Return the number of programs per block that keeps all processors busy."""
        n_shares = _BUSY * n_processors(self.points.device) // (n_blocks * self._parts)
        return max(1, min(n_shares, len(self._halves.radii), _MOST_SHARES))

    def _make_work(self, places: torch.Tensor, n_shares: int, m: int, room: int) -> Work:
        centres = self._frame.centre[None]
        if self._wide:
            centres = places.reshape(-1, self._layout.block, places.shape[1]).mean(dim=1)
        new = partial(torch.empty, device=self.points.device)
        n_bits = torch.int32 if self._layout.tile <= 32 else torch.int64
        return Work(
            sums=new((n_shares, m, self._width), dtype=torch.float32),
            masses=new((n_shares, m), dtype=torch.float32),
            doubts=new((n_shares, m, room), dtype=torch.int32),
            bits=new((n_shares, m, room), dtype=n_bits),
            n_doubts=new((n_shares, m), dtype=torch.int32),
            centres=centres,
        )

    def _sweep(self, places: torch.Tensor, work: Work) -> None:
        """Add up the points near each place."""
        halves = self._room_for(places, self._layout.block)
        split_rows(places, self._frame, halves)
        visits, listed = tiles_near(halves, self._halves, self.reach * self._frame.factor)
        if self._wide:
            self._sweep_locally(places, visits, listed, work)
            return
        d = places.shape[1]
        reach = 0.5 * (self.reach * self._frame.factor) ** 2
        spread = (self.radius * self._frame.factor) ** 2
        sweep_many[(len(visits.starts), self._parts, len(work.sums))](
            halves.high, halves.low, halves.half_squares - reach,
            slack_of(halves.largest, d) + 2.0 * doubt_factor(d) * reach,
            *self._halves[:3], slack_of(self._halves.largest, d), *self._values[:2],
            self._masses, *visits, work.doubts, work.bits, work.n_doubts, work.sums, work.masses,
            work.doubts.shape[2], reach, LOG2_E / spread, WEIGHT_ERROR * spread,
            roughness_of(d),
            WIDTH=min(self._width, LARGEST_WIDTH), PARTS=self._parts, BLOCK=self._layout.block,
            TILE=self._layout.tile, EXACT=self._exact, GAUSSIAN=self.gaussian,
            WEIGHTED=self._weighted, LISTED=listed, num_warps=self._layout.warps,
            num_stages=self._layout.stages,
        )  # fmt: skip

    def _sweep_locally(
        self, places: torch.Tensor, visits: Visits, listed: bool, work: Work
    ) -> None:
        """Do the same, with an origin for each block of places."""
        d, layout = places.shape[1], self._layout
        blocks = blocks_of(places, work.centres, self._width, self.reach, self.radius)
        shares = self._masses / self._heaviest
        sweep_local[(len(visits.starts), self._parts, len(work.sums))](
            *blocks, self.points, shares, *visits,
            work.doubts, work.bits, work.n_doubts, work.sums, work.masses,
            len(self.points), work.doubts.shape[2], d, doubt_factor(d), small_steps(d),
            self._frame.factor, self._heaviest, WIDTH=min(self._width, LARGEST_WIDTH),
            PARTS=self._parts, BLOCK=layout.block, TILE=layout.tile, WEIGHTED=self._weighted,
            LISTED=listed, FAR=FAR, num_warps=layout.warps, num_stages=layout.stages,
        )  # fmt: skip

    def _settle(self, places: torch.Tensor, work: Work) -> None:
        """Compute the distances of pairs in doubt, and add the points that count."""
        n_shares, n_places, room = work.doubts.shape
        settle_doubts[(len(places),)](
            places, self.points, work.centres, self._masses, work.doubts, work.bits,
            work.n_doubts, work.sums, work.masses, self._limits, n_places, n_shares, room,
            places.shape[1], self._unit, *self._groups(), WIDTH=min(self._width, LARGEST_WIDTH),
            PARTS=self._parts, TILE=self._layout.tile, GAUSSIAN=self.gaussian, num_warps=1,
        )  # fmt: skip
