"""Points that come in batches, kept as exact sums of cells. Old points may count less and less.

Without a half-life the sums are those of one fit to all points, to the last bit, whatever the
order and the sizes of the batches. With a half-life H the weight of point i, of the n points so
far, is w_i 2^(-(n - i) / H). The sums hold w_i 2^(i / H) instead, which never changes ("forward
decay", Cormode et al. 2009), and the factor 2^(-n / H) is put in when clusters are computed. Powers
of 2^26 of these weights are whole places of the digits of a sum, so they never overflow. So the
sums depend on the order of the points, but not on the sizes of the batches.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from modeshift.checks import ONLY_ZEROS
from modeshift.engines.cpu.cell_sums import CellSums, Tally
from modeshift.engines.cpu.compress import Cells, cells_of_tally
from modeshift.engines.cpu.data import Data
from modeshift.engines.cpu.exact_sums import BASE, WEIGHTLESS
from modeshift.engines.cpu.units import check_length, check_weight_range, to_units
from modeshift.engines.problem import Units
from modeshift.spec import Spec

HORIZON = 20
"""Half-lives after its last point at which a cell goes. Its weight is then a millionth of what it
was, or less."""

_CHECKED = 2  # half-lives between two looks for such cells; a divisor of BASE


class Clock(NamedTuple):
    """The age of a stream in half-lives. A row that comes with half-life H adds 1 / H.

    Attributes
    ----------
    start : float
        Age when the half-life was last changed.
    rows : int
        Number of rows since then.
    half_life : float or None
        None: rows add nothing.
    """

    start: float = 0.0
    rows: int = 0
    half_life: float | None = None

    def turned_to(self, half_life: float | None) -> "Clock":
        """Return the clock that goes on with another half-life."""
        return self if half_life == self.half_life else Clock(self.age, 0, half_life)

    def after(self, n: int) -> "Clock":
        """Return the clock after more rows."""
        return self._replace(rows=self.rows + n)

    @property
    def age(self) -> float:
        """Age at the last row."""
        return float(self.ages(0)[0])

    def ages(self, n: int) -> np.ndarray:
        """Return the ages at the last row and at each of the next n rows.

        They depend only on the number of the row, so the sizes of batches do not matter.
        """
        rows = self.rows + np.arange(n + 1, dtype=np.float64)
        return self.start + (rows / self.half_life if self.half_life else 0.0 * rows)


class Saved(NamedTuple):
    """A stream as plain data, for files."""

    origin: dict[str, Any]
    units: Units
    side: float
    dtype: str
    n_seen: int
    clock: Clock
    tally: Tally
    lasts: np.ndarray | None


def origin_of(spec: Spec) -> dict[str, Any]:
    """Return the parameters that decide in which cell a point is."""
    names = ["metric", "feature_scale", "resolution"]
    names += ["kernel"] if spec.on_sphere else []  # it decides the chord of a bandwidth
    high = float(np.max(spec.bandwidth))
    return {"bandwidth": high} | {name: getattr(spec, name) for name in names}


class Stream:
    """The points of all batches so far, as sums of cells.

    Parameters
    ----------
    origin : dict
        Parameters that decide in which cell a point is. They are the same for all batches.
    units : Units
        Units of the problem.
    side : float
        Side of the cells, in these units.
    n_places : int
        Number of coordinates of a point.

    Attributes
    ----------
    n_seen : int
        Number of points of all batches.
    dtype : dtype
        float32 if all batches were; float64 otherwise.
    """

    def __init__(self, origin: dict[str, Any], units: Units, side: float, n_places: int) -> None:
        self.origin, self.units, self.side = origin, units, side
        self.n_seen = 0
        self.dtype = np.dtype(np.float32)
        self._clock = Clock()
        self._sums = CellSums(n_places, side)
        self._lasts: np.ndarray | None = None  # age at the last point of each cell
        self._batch = np.empty(0, dtype=np.int64)  # cell of each point of the last batch

    def differences(self, spec: Spec) -> Iterator[tuple[str, Any, Any]]:
        """Yield the name, value and new value of the parameters with which cells would differ."""
        for name, new in origin_of(spec).items():
            if new != self.origin[name]:
                yield name, self.origin[name], new

    def check(self, data: Data) -> None:
        """Refuse points and weights that do not fit into the units of the stream."""
        check_length(data.points, self.units.length, "X")
        check_weight_range(np.ldexp(data.weights, -self.units.weight), "sample_weight", "streams")

    def add(self, data: Data, half_life: float | None = None) -> None:
        """Add a batch. With a half-life, each of its points ages all points before it."""
        points = to_units(data.points, self.units.length)
        weights = np.ldexp(data.weights, -self.units.weight)
        self.dtype = np.result_type(self.dtype, data.dtype)
        self._clock = self._clock.turned_to(half_life)
        if half_life is None and self._lasts is None:
            self._batch = self._sums.add(points, weights, self.n_seen)
        else:
            self._batch = self._add_aging(points, weights)
        self._clock = self._clock.after(len(points))
        self.n_seen += len(points)

    def cells(self) -> Cells:
        """Return the cells with their present weights, and the cells of the last batch."""
        tally = self._sums.tally()
        if (tally.tops == WEIGHTLESS).all():
            raise ValueError(ONLY_ZEROS)
        place, rest = divmod(self._clock.age, BASE)
        cells = cells_of_tally(tally, self.side, self._batch, int(place))
        return cells._replace(weights=cells.weights * 0.5**rest)

    def forget_batch(self) -> None:
        """Forget which cells the points of the last batch are in."""
        self._batch = np.empty(0, dtype=np.int64)

    def saved(self) -> Saved:
        """Return the stream as plain data, without the last batch."""
        return Saved(
            self.origin, self.units, self.side, self.dtype.name, self.n_seen, self._clock,
            self._sums.tally(), self._lasts,
        )  # fmt: skip

    @classmethod
    def of(cls, saved: Saved) -> Self:
        """Return the stream of plain data."""
        stream = cls(saved.origin, saved.units, saved.side, saved.tally.keys.shape[1])
        stream.n_seen, stream.dtype = saved.n_seen, np.dtype(saved.dtype)
        stream._clock, stream._lasts = saved.clock, saved.lasts
        stream._sums.merge(saved.tally)
        return stream

    def _add_aging(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Add points whose weights grow with the age of the stream; return their cells."""
        ages = self._clock.ages(len(points))
        if self._lasts is None:
            self._lasts = np.full(len(self._sums), ages[0])
        terms = np.floor(ages / _CHECKED)
        starts = np.flatnonzero(np.diff(terms)).tolist()  # of the points with a new term
        cell_of = np.empty(len(points), dtype=np.int32)
        for start, stop in pairwise([0, *(i for i in starts if i > 0), len(points)]):
            if terms[start + 1] > terms[start]:
                moved = self._drop_cells(_CHECKED * terms[start + 1] - HORIZON)
                cell_of[:start] = moved[cell_of[:start]]
            place = _CHECKED * terms[start + 1] // BASE
            grown = weights[start:stop] * 2.0 ** (ages[start + 1 : stop + 1] - BASE * place)
            found = self._sums.add(points[start:stop], grown, self.n_seen + start, int(place))
            self._lasts = np.pad(self._lasts, (0, len(self._sums) - len(self._lasts)))
            self._lasts[found] = ages[start + 1 : stop + 1]  # of several points the last one's
            cell_of[start:stop] = found
        return cell_of

    def _drop_cells(self, limit: float) -> np.ndarray:
        """Drop cells without a point since this age; return the new numbers, -1 at the end."""
        assert self._lasts is not None
        kept = self._lasts >= limit
        if not kept.all():
            self._sums.keep(kept)
            self._lasts = self._lasts[kept]
        return np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
