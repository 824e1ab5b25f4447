"""The stochastic and the blurring schedule: pixels move over the current places of the others.

The schedules are those of the estimators, over a field of its own kind: a point is near if it is
within the radius in space and within the range in colour. Both are 1 in the units of the field.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.protocol import average_near, implements, move
from modeshift.engines.cpu.jit import bare_kernel, kernel
from modeshift.engines.cpu.steps import CompiledSteps
from modeshift.engines.rule import Flat, Rule
from modeshift.engines.schedules.blur import blur
from modeshift.engines.schedules.stopping import LargestShift
from modeshift.engines.schedules.wander import negligible_shift, wander
from modeshift.image.block import Block
from modeshift.image.climb import Ends, no_ends
from modeshift.image.plan import Plan

_FLAT = Flat()


class JointState(NamedTuple):
    """Positions (n, 3 + bands), weights, and lists of the points in each cell of a grid in space.

    A cell has the side of a radius. ``heads`` holds the first point of each cell, ``after`` and
    ``before`` the next and the last one of a point in its list; -1 is none.
    """

    points: np.ndarray
    weights: np.ndarray
    rule: Rule
    heads: np.ndarray
    after: np.ndarray
    before: np.ndarray


class JointField(Field):
    """Field of pixels in space and colour.

    Parameters
    ----------
    points : ndarray of shape (n, 3 + bands)
        Places in radii, colours in ranges.
    weights, radius, n_jobs, rule
        As for every field; the radius is 1.
    cells : tuple of 3 int
        Shape of the grid of cells.
    """

    def __init__(
        self,
        points: np.ndarray,
        weights: np.ndarray,
        radius: float = 1.0,
        n_jobs: int = 1,
        rule: Rule = _FLAT,
        cells: tuple[int, int, int] = (1, 1, 1),
    ) -> None:
        self._cells = cells
        super().__init__(points, weights, radius, n_jobs, rule)

    def _build(self, points: np.ndarray) -> JointState:
        n = len(points)
        heads, after, before = np.full(self._cells, -1), np.full(n, -1), np.full(n, -1)
        state = JointState(points, self.weights, self.rule, heads, after, before)
        _enter_all(state)
        return state

    def at(self, points: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Return a field of the same kind over other positions, and other weights if given."""
        weights = self.weights if weights is None else weights
        return type(self)(points, weights, self.radius, self.n_jobs, self.rule, self._cells)


@bare_kernel
def _cell(heads, x):
    """Return the cell of a place."""
    z = min(max(np.int64(np.floor(x[0])), 0), heads.shape[0] - 1)
    y = min(max(np.int64(np.floor(x[1])), 0), heads.shape[1] - 1)
    return z, y, min(max(np.int64(np.floor(x[2])), 0), heads.shape[2] - 1)


@bare_kernel
def _enter(state, j):
    cell = _cell(state.heads, state.points[j])
    first = state.heads[cell]
    state.after[j], state.before[j] = first, -1
    if first >= 0:
        state.before[first] = j
    state.heads[cell] = j


@kernel
def _enter_all(state):
    for j in range(state.points.shape[0] - 1, -1, -1):
        _enter(state, j)


@implements(average_near, JointState, Flat)
def _average_near(state, x, radius, out):
    """Average the points within the radius in space and in colour; see ``fields/brute.py``."""
    d = x.shape[0]
    mass = 0.0
    for k in range(d):
        out[k] = 0.0
    heads = state.heads
    cz, cy, cx = _cell(heads, x)
    for z in range(max(cz - 1, 0), min(cz + 2, heads.shape[0])):
        for y in range(max(cy - 1, 0), min(cy + 2, heads.shape[1])):
            for c in range(max(cx - 1, 0), min(cx + 2, heads.shape[2])):
                i = heads[z, y, c]
                while i >= 0:
                    space, colour = 0.0, 0.0
                    for k in range(3):
                        difference = state.points[i, k] - x[k]
                        space += difference * difference
                    for k in range(3, d):
                        difference = state.points[i, k] - x[k]
                        colour += difference * difference
                    if space <= radius * radius and colour <= radius * radius:
                        weight = state.weights[i]
                        mass += weight
                        for k in range(d):
                            out[k] += weight * (state.points[i, k] - x[k])
                    i = state.after[i]
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass


@implements(move, JointState)
def _move(state, j, x):
    old = _cell(state.heads, state.points[j])
    new = _cell(state.heads, x)
    for k in range(state.points.shape[1]):
        state.points[j, k] = x[k]
    if old == new:
        return
    before, after = state.before[j], state.after[j]
    if before >= 0:
        state.after[before] = after
    else:
        state.heads[old] = after
    if after >= 0:
        state.before[after] = before
    _enter(state, j)


def joint_field(plan: Plan, block: Block, n_threads: int) -> JointField:
    """Return the field of all pixels of a block that count."""
    settings, n_bands = plan.settings, plan.layout.n_bands
    where = np.argwhere(block.valid)
    inside = slice(block.pad, block.pad + block.shape[2])
    colours = block.planes[:n_bands, ..., inside][:, block.valid].T / plan.colours.range_units
    places = where * settings.unit / np.array(settings.radius)
    points = np.concatenate([places, colours], axis=1).astype(np.float64)
    cells = tuple(int(top) + 1 for top in places.max(axis=0))
    return JointField(points, np.ones(len(points)), n_jobs=n_threads, cells=cells)  # type: ignore[arg-type]


def seek(plan: Plan, block: Block, random_state: Any, n_threads: int) -> tuple[Ends, bool]:
    """Run the stochastic or the blurring schedule; return the ends, and whether it converged."""
    settings, n_bands = plan.settings, plan.layout.n_bands
    field = joint_field(plan, block, n_threads)
    tol = float(np.sqrt(settings.quiet))
    if plan.schedule == "blurring":
        outcome = blur(field, stop=LargestShift(tol), max_iter=settings.max_iter)
    else:
        negligible = negligible_shift(tol, 1.0)
        outcome = wander(
            field,
            CompiledSteps(field, 1, tol, negligible, record=False),
            tol=tol,
            patience=1.0,
            max_iter=settings.max_iter,
            random_state=random_state,
        )
    ends = no_ends(n_bands, block.valid.size)
    pixels = np.flatnonzero(block.valid)
    ends.places[:, pixels] = np.rint(outcome.ends[:, :3] * np.array(settings.radius)).T
    ends.colours[:, pixels] = np.rint(outcome.ends[:, 3:] * plan.colours.range_units).T
    return ends, outcome.converged
