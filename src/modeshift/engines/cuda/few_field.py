"""The field in up to 8 dimensions."""

from typing import NamedTuple, Self

import torch
from triton import cdiv

from modeshift.engines.cuda.devices import n_processors
from modeshift.engines.cuda.few import box_groups, box_tiles, climb_few, finish_few, sweep_few
from modeshift.engines.cuda.field import LOG2_E, DeviceField
from modeshift.engines.cuda.memory import in_chunks
from modeshift.engines.cuda.tiles import Layout

_FAN = 32  # tiles per group, and groups per flock: the bits of an int32
_BUSY = 16  # programs for each processor
_JOINED = 128  # places of a program that joins the shares of a sweep
_ROUNDING = 1e-5  # margin for squared distances between boxes, computed in float32
_LEAP = 16  # steps at once
_MOST_LEAPING = 2**16  # places: with more, a launch costs little beside a step


class Crowds(NamedTuple):
    """Boxes around neighbouring points, stored by columns: coordinate, then box."""

    lows: torch.Tensor
    highs: torch.Tensor
    means: torch.Tensor
    masses: torch.Tensor


class Tiles(NamedTuple):
    """Points by columns, their weights, and the boxes around tiles and groups of tiles."""

    columns: torch.Tensor
    weights: torch.Tensor
    tiles: Crowds
    groups: Crowds


class Climbed(NamedTuple):
    """Ends of several steps of many places; of the last step the mass and the squared shift."""

    means: torch.Tensor
    masses: torch.Tensor
    squares: torch.Tensor
    steps: torch.Tensor


def layout_for(d: int) -> Layout:
    """Return the layout that was fastest on an H200 (docs/gpu.md)."""
    return Layout(block=16, tile=64 if d <= 3 else 32, warps=2, stages=1)


class FewField(DeviceField):
    """Computes in the precision of the points, or in float32 with ``precision="fast"``."""

    def _build(self) -> None:
        n, d = self.points.shape
        self._dtype = torch.float32 if self.precision == "fast" else self.points.dtype
        self._layout = layout_for(d)
        self._n_places = cdiv(n, self._layout.tile) * self._layout.tile
        self._n_tiles = cdiv(n, self._layout.tile * _FAN * _FAN) * _FAN * _FAN
        columns = self.points.new_empty((d, self._n_places), dtype=self._dtype)
        self._tiles = Tiles(
            columns, columns.new_empty(self._n_places), _room_for(columns, self._n_tiles),
            _room_for(columns, self._n_tiles // _FAN),
        )  # fmt: skip
        square = self.reach * self.reach
        inner = -1.0 if self.gaussian else square * (1.0 - _ROUNDING)
        outer = square * (1.0 + _ROUNDING)
        sharpness = -0.5 * LOG2_E / (self.radius * self.radius)
        self._numbers = [square, inner, outer, sharpness]
        self._limits: dict[float, torch.Tensor] = {}
        self.follow_state()

    def follow_state(self) -> None:
        """Compute columns and boxes from the points."""
        n, d = self.points.shape
        columns, weights, tiles, groups = self._tiles
        n_occupied = self._n_places // self._layout.tile
        box_tiles[(n_occupied,)](
            self.points, self.weights, columns, weights, *tiles, n, self._n_places, self._n_tiles,
            D=d, TILE=self._layout.tile, num_warps=1,
        )  # fmt: skip
        box_groups[(cdiv(n_occupied, _FAN),)](
            *tiles, *groups, self._n_tiles, self._n_tiles // _FAN, D=d, FAN=_FAN, num_warps=1
        )

    def at(self, points: torch.Tensor, weights: torch.Tensor) -> Self:
        """Replace the points and weights; return the field itself."""
        alike = len(points) == len(self.points)
        self.points, self.weights = points.contiguous(), weights
        if alike:
            self.follow_state()
        else:
            self._build()
        return self

    def move_points(self, rows: torch.Tensor, positions: torch.Tensor) -> None:
        """Move some of the points."""
        self.points[rows] = positions
        self.follow_state()

    def leap(self, places: torch.Tensor, tol: float, most: int) -> Climbed:
        """Take up to ``most`` steps of each place, until a step is at most ``tol``."""
        return Climbed(*in_chunks(lambda part: self._climb(part, tol * tol, most), places))

    def leap_length(self, n_places: int) -> int:
        """Return the number of steps that are best taken at once.

        Climbs that meet others take part until the end of a leap, so many climbs do not leap. If
        there are few places, several programs share each step.
        """
        alone = self._n_shares(n_places) == 1
        return _LEAP if alone and n_places <= _MOST_LEAPING else 1

    def _answer(self, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        places = places.contiguous()
        m, d = places.shape
        n_shares = self._n_shares(m)
        sums = places.new_empty((n_shares, m, d), dtype=self._dtype)
        masses = places.new_empty((n_shares, m), dtype=self._dtype)
        columns, weights, tiles, groups = self._tiles
        sweep_few[(cdiv(m, self._layout.block), n_shares)](
            places, columns, weights, *tiles, *groups, sums, masses, self._limits_for(0.0),
            m, self._n_places, self._n_tiles, self._n_flocks, **self._constants(),
        )  # fmt: skip
        ends, totals = torch.empty_like(places), masses.new_empty(m)
        squares = places.new_empty(m)
        finish_few[(cdiv(m, _JOINED),)](
            places, sums, masses, ends, totals, squares, m, n_shares,
            D=d, BLOCK=_JOINED, SPHERE=self.on_sphere, num_warps=4,
        )  # fmt: skip
        return ends, totals, squares

    def _climb(self, places: torch.Tensor, quiet: float, most: int) -> tuple[torch.Tensor, ...]:
        """Take up to ``most`` steps; ``quiet`` is the squared length of the last one."""
        places = places.contiguous()
        m = len(places)
        ends, squares = torch.empty_like(places), places.new_empty(m)
        masses = places.new_empty(m, dtype=self._dtype)
        steps = places.new_empty(m, dtype=torch.int64)
        columns, weights, tiles, groups = self._tiles
        climb_few[(cdiv(m, self._layout.block),)](
            places, columns, weights, *tiles, *groups, ends, masses, squares, steps,
            self._limits_for(quiet), m, self._n_places, self._n_tiles, self._n_flocks, most,
            SPHERE=self.on_sphere, **self._constants(),
        )  # fmt: skip
        return ends, masses, squares, steps

    @property
    def _n_flocks(self) -> int:
        return self._n_tiles // (_FAN * _FAN)

    def _n_shares(self, m: int) -> int:
        """Return the number of programs per block that keeps all processors busy."""
        n_blocks = cdiv(m, self._layout.block)
        return min(self._n_flocks, max(1, _BUSY * n_processors(self.points.device) // n_blocks))

    def _limits_for(self, quiet: float) -> torch.Tensor:
        """Return the limits on the device, with the squared length of a quiet step."""
        if quiet not in self._limits:
            numbers = [*self._numbers, quiet]
            self._limits[quiet] = self._tiles.columns.new_tensor(numbers)
        return self._limits[quiet]

    def _constants(self) -> dict[str, int | bool]:
        layout = self._layout
        return {
            "D": self.points.shape[1], "BLOCK": layout.block, "TILE": layout.tile, "FAN": _FAN,
            "GAUSSIAN": self.gaussian, "num_warps": layout.warps,
        }  # fmt: skip


def _room_for(columns: torch.Tensor, n: int) -> Crowds:
    """Return room for the boxes of n tiles. A tile without points is infinitely far away."""
    shape = (len(columns), n)
    return Crowds(
        lows=columns.new_full(shape, torch.inf),
        highs=columns.new_full(shape, -torch.inf),
        means=columns.new_zeros(shape),
        masses=columns.new_zeros(n),
    )
