"""The field of ``n_neighbors``: of the points within the radius only the nearest count."""

from collections.abc import Iterator
from math import ceil
from typing import Self

import numpy as np
import torch
import triton
import triton.language as tl

from modeshift.engines.cuda.field import DeviceField
from modeshift.engines.cuda.nearest import (
    MOST,
    NOBODY,
    Floor,
    Neighbours,
    keep_nearest,
    lay_out,
)
from modeshift.engines.cuda.sphere import put_back
from modeshift.engines.cuda.tiles import locality_order
from modeshift.engines.rule import Flat, Nearest, Rule, nearest

_BLOCK = 32  # places of a program that adds up offsets
_COLUMNS = 64  # of these places, at a time
_SPARE = 8  # points that are kept beyond twice the usual number, if weights differ


class NearestField(DeviceField):
    """Field that averages the nearest points up to the mass ``rule.k``.

    The nearest points are searched for in rounds, because only so many can be kept at a time; one
    round is enough unless k is large or weights differ. Distances have the precision of the
    points, or float32 with ``precision="fast"``. Sums are in float64.

    Parameters
    ----------
    points, weights, radius, rule, precision
        As those of :class:`DeviceField`; the rule is :class:`Nearest`.
    numbers : Tensor of shape (n,)
        Original numbers of the points: of equally near points the lower number comes first.
    """

    may_collapse = False  # ties go by the numbers of the points

    def __init__(
        self,
        points: torch.Tensor,
        weights: torch.Tensor,
        radius: float,
        rule: Rule,
        precision: str,
        numbers: torch.Tensor,
    ) -> None:
        assert isinstance(rule, Nearest)
        self._k = rule.k
        self._numbers = numbers
        self._row_of = torch.argsort(numbers)
        super().__init__(points, weights, radius, rule, precision)

    def _build(self) -> None:
        heavy = self.weights > 0.0
        self._dtype = torch.float32 if self.precision == "fast" else self.points.dtype
        self._counting = torch.where(heavy, self._numbers, NOBODY)
        weights = self.weights[heavy]
        most = min(len(weights), ceil(self._k / float(weights.min())))
        usual = ceil(self._k / float(weights.mean()))
        self._room = min(MOST, most, 2 * usual + _SPARE)
        self._in_one_round = most <= self._room
        self.follow_state()

    def follow_state(self) -> None:
        """Cut the points into tiles."""
        self._targets = lay_out(self.points.to(self._dtype), self._counting)

    def at(self, points: torch.Tensor, weights: torch.Tensor) -> Self:
        """Replace the points; no points are joined, so weights stay the same."""
        self.points, self.weights = points.contiguous(), weights
        self.follow_state()
        return self

    def move_points(self, rows: torch.Tensor, positions: torch.Tensor) -> None:
        """Move some of the points."""
        self.points[rows] = positions
        self.follow_state()

    def _answer(self, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        sums = torch.zeros_like(places, dtype=torch.float64)
        masses = sums.new_zeros(len(places))
        for rows, squares, shares in self._rounds(places):
            worths = shares
            if self.gaussian:
                worths = shares * torch.exp(-0.5 * squares.double() / self.radius**2)
            self._add_offsets(places, rows, worths, sums)
            masses += worths.sum(dim=1)
        return self._means(places, sums, masses)

    def farthest(self, places: torch.Tensor) -> torch.Tensor:
        """Return the squared distance of each place to the farthest of its nearest points."""
        parts = [
            torch.where(shares > 0.0, squares, 0.0).amax(dim=1)
            for _, squares, shares in self._rounds(places)
        ]
        return torch.stack(parts).amax(dim=0)

    def _rounds(self, places: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield rows of points, their squared distances, and how much of their weights counts."""
        asked, floor = places.to(self._dtype), None
        held = torch.zeros(len(places), dtype=torch.float64, device=places.device)
        while True:
            found = keep_nearest(self._targets, asked, self._room, self.reach**2, floor)
            rows = self._row_of[found.rows.clamp_max(len(self._row_of) - 1)]
            weights = torch.where(found.rows < NOBODY, self.weights[rows], 0.0)
            before = held[:, None] + weights.cumsum(dim=1) - weights
            yield rows, found.squares, torch.minimum(weights, (self._k - before).clamp_min(0.0))
            if self._in_one_round:
                return
            held += weights.sum(dim=1)
            floor = self._floor_behind(found, held)
            if floor is None:
                return

    def _floor_behind(self, found: Neighbours, held: torch.Tensor) -> Floor | None:
        """Return where the next round begins; None if no place needs more points."""
        full = found.rows[:, -1] < NOBODY
        wanting = full & (held < self._k)
        if not bool(wanting.any()):
            return None
        return Floor(
            torch.where(wanting, found.squares[:, -1], torch.inf),
            torch.where(wanting, found.rows[:, -1], NOBODY).to(torch.int32),
        )

    def _add_offsets(
        self, places: torch.Tensor, rows: torch.Tensor, shares: torch.Tensor, sums: torch.Tensor
    ) -> None:
        """Add the offsets from places to points, times their shares, to the sums."""
        m, d = places.shape
        width = min(_COLUMNS, triton.next_power_of_2(d))
        add_offsets[(triton.cdiv(m, _BLOCK), triton.cdiv(d, width))](
            places.contiguous(), self.points, rows, shares, sums, m, d, rows.shape[1],
            BLOCK=_BLOCK, WIDTH=width, num_warps=4,
        )  # fmt: skip

    def _means(
        self, places: torch.Tensor, sums: torch.Tensor, masses: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return means, masses and squared shifts. Without mass a place stays where it is."""
        starts = places.double()
        means = starts + sums / torch.where(masses > 0.0, masses, 1.0)[:, None]
        if self.on_sphere:
            means = put_back(means, starts)
        return means.to(places.dtype), masses, ((means - starts) ** 2).sum(dim=1)


def farthest_of_nearest(
    device: torch.device, points: np.ndarray, weights: np.ndarray, places: np.ndarray, k: int
) -> np.ndarray:
    """Return the squared distance of each place to its k-th nearest point, by weight."""
    tensors = (torch.as_tensor(values, device=device) for values in (points, weights, places))
    there, worths, asked = tensors
    order = locality_order(there)
    field = NearestField(
        there[order], worths[order], np.inf, nearest(Flat(), k, weights), "exact", order
    )
    sorted_places = locality_order(asked)
    squares = torch.empty_like(asked[:, 0])
    squares[sorted_places] = field.farthest(asked[sorted_places])
    return squares.cpu().numpy()


@triton.jit(do_not_specialize=["m", "d", "room"])
def add_offsets(
    places, points, rows, shares, sums, m, d, room, BLOCK: tl.constexpr, WIDTH: tl.constexpr
):
    """Add the offsets from each place to its points, times their shares, to the sums."""
    here = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    asked = tl.minimum(here, m - 1).to(tl.int64)
    real = (here < m)[:, None] & (columns < d)[None, :]
    at = asked[:, None] * d + columns[None, :]
    start = tl.load(places + at, mask=real, other=0.0).to(tl.float64)
    total = tl.load(sums + at, mask=real, other=0.0)
    for j in range(room):
        row = tl.load(rows + asked * room + j)
        share = tl.load(shares + asked * room + j)
        other = tl.load(points + row[:, None] * d + columns[None, :], mask=real, other=0.0)
        total += share[:, None] * (other.to(tl.float64) - start)
    tl.store(sums + at, total, mask=real)
