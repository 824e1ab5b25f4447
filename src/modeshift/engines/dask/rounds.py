"""The three schedules over partitions.

They give the same results as :mod:`modeshift.engines.schedules`, up to rounding: a mean is a sum of
contributions of the partitions. Places are sent in blocks, a batch or the points of one partition
at a time, so that no worker holds more than its partitions and a block.
"""

from math import ceil
from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.fields import Field
from modeshift.engines.dask.parts import Parts, Steps, distinct, positions_of
from modeshift.engines.schedules.wander import draw_order, negligible_shift
from modeshift.watching.watch import Watch


class Run(NamedTuple):
    """Ends of the points, and counts of steps.

    Attributes
    ----------
    ends : list of Delayed
        Final positions, for each partition.
    n_iter, n_steps, converged
        As in :class:`modeshift.engines.schedules.outcome.Outcome`.
    """

    ends: list[Any]
    n_iter: int
    n_steps: int
    converged: bool


def wander(
    parts: Parts, *, tol: float, scale: float, patience: float, max_iter: int, batch_size: int,
    random_state: Any, watch: Watch,
) -> Run:  # fmt: skip
    """Stochastic mean-shift in batches, with the same draws as on one machine."""
    n = parts.n_rows
    size = min(batch_size, n)
    wanted = ceil(patience * n)
    negligible = negligible_shift(tol, scale)
    quiet = 0
    for sweep in range(1, max_iter + 1):
        order = draw_order(random_state, n, batch_size)
        n_loud = 0
        for begin in range(0, n, size):
            squares = _move_batch(parts, order[begin : begin + size], negligible)
            loud = np.flatnonzero(squares > tol * tol)
            n_loud += len(loud)
            quiet = len(squares) - 1 - loud[-1] if len(loud) else quiet + len(squares)
            if quiet >= wanted:
                if _is_quiet(parts, tol):
                    n_steps = (sweep - 1) * n + begin + len(squares)
                    return Run(_positions(parts), sweep, n_steps, True)
                quiet = 0
        _tell(watch, parts, _positions(parts), sweep, sweep * n, n_loud)
    return Run(_positions(parts), max_iter, max_iter * n, False)


def blur(parts: Parts, *, tol: float, max_iter: int, watch: Watch) -> Run:
    """Blurring mean-shift: means are computed partition by partition, then all points move."""
    converged = False
    sweep = 0
    while sweep < max_iter and not converged:
        steps, largest, n_moving = [], 0.0, 0
        for field in parts.fields:
            block = parts.ask(parts.task("round-places", positions_of, field))
            step, judged = parts.persist([block, parts.task("round-shift", _judge, block, tol)])
            steps.append(step)
            square, n_loud = parts.get(judged)
            largest, n_moving = max(largest, square), n_moving + n_loud
        parts.fields = parts.persist(
            [
                parts.task("round-move", _move_all, field, step)
                for field, step in zip(parts.fields, steps, strict=True)
            ]
        )
        converged = largest <= tol * tol
        sweep += 1
        _tell(watch, parts, _positions(parts), sweep, sweep * parts.n_rows, n_moving)
    return Run(_positions(parts), sweep, sweep * parts.n_rows, converged)


class Climbers(NamedTuple):
    """Climbs of the points of a partition over points that do not move.

    Attributes
    ----------
    positions : ndarray of shape (n, d)
    climbing : ndarray
        Numbers of the climbs that are still going.
    """

    positions: np.ndarray
    climbing: np.ndarray


def climb(parts: Parts, starts: list[Any], *, tol: float, max_iter: int, watch: Watch) -> Run:
    """Let points climb over all partitions.

    For climbs at exactly the same place the mean is computed once.
    """
    groups = parts.persist([parts.task("climb-start", _at_start, places) for places in starts])
    left = np.array(parts.get([parts.task("climb-left", _count, each) for each in groups]))
    step, n_steps = 0, 0
    while step < max_iter and left.any():
        n_steps += int(left.sum())
        for i in np.flatnonzero(left):
            asked = parts.task("round-places", _climbing_places, groups[i])
            steps = parts.ask(parts.task("round-places", _first_of, asked))
            moved = parts.task("round-move", _take, groups[i], asked, steps, tol)
            groups[i], count = parts.persist([moved, parts.task("climb-left", _count, moved)])
            left[i] = parts.get(count)
        step += 1
        positions = [parts.task("climb-positions", _climb_positions, each) for each in groups]
        _tell(watch, parts, positions, step, n_steps, int(left.sum()))
    ends = parts.persist([parts.task("climb-ends", _climb_positions, each) for each in groups])
    return Run(ends, step, n_steps, not left.any())


def _move_batch(parts: Parts, numbers: np.ndarray, negligible: float) -> np.ndarray:
    """Move some points over the same positions; return the squares of their shifts."""
    owned = parts.owners_of(numbers)
    taken = [
        parts.task("round-places", _take_rows, field, own)
        for field, (own, _) in zip(parts.fields, owned, strict=True)
    ]
    places = parts.task("round-places", _in_order, [slots for _, slots in owned], *taken)
    steps = parts.ask(places)
    moved = [
        parts.task("round-move", _move_rows, field, own, slots, steps, negligible)
        if len(own)
        else field
        for field, (own, slots) in zip(parts.fields, owned, strict=True)
    ]
    *parts.fields, squares = parts.persist([*moved, parts.task("round-shift", _squares, steps)])
    return parts.get(squares)


def _is_quiet(parts: Parts, tol: float) -> bool:
    """Return whether no point would move further than tol. No point is moved."""
    for field in parts.fields:
        steps = parts.ask(parts.task("test-places", positions_of, field))
        if parts.get(parts.task("test-shift", _judge, steps, tol))[0] > tol * tol:
            return False
    return True


def _positions(parts: Parts) -> list[Any]:
    return [parts.task("positions", positions_of, field) for field in parts.fields]


def _tell(
    watch: Watch, parts: Parts, positions: list[Any], sweep: int, n_steps: int, n_moving: int
) -> None:
    watch.swept(
        sweep=sweep, n_steps=n_steps, n_moving=n_moving, positions=lambda: (parts, positions)
    )


# Functions that run as tasks


def _take_rows(field: Field, own: np.ndarray) -> np.ndarray:
    return field.points[own]


def _in_order(slots: list[np.ndarray], *taken: np.ndarray) -> np.ndarray:
    """Put the rows from the partitions into the order of the batch."""
    places = np.empty((sum(map(len, slots)), taken[0].shape[1]))
    for mine, where in zip(taken, slots, strict=True):
        places[where] = mine
    return places


def _move_rows(
    field: Field, own: np.ndarray, slots: np.ndarray, steps: Steps, negligible: float
) -> Field:
    """Return a new field in which some points have moved."""
    moving = steps.squares[slots] > negligible * negligible
    return field.moved(own[moving], steps.means[slots[moving]])


def _move_all(field: Field, steps: Steps) -> Field:
    return field.at(steps.means)


def _squares(steps: Steps) -> np.ndarray:
    return steps.squares


def _judge(steps: Steps, tol: float) -> tuple[float, int]:
    """Return the largest squared shift, and the number of shifts longer than tol."""
    return float(steps.squares.max()), int((steps.squares > tol * tol).sum())


def _at_start(places: np.ndarray) -> Climbers:
    return Climbers(places, np.arange(len(places)))


def _climbing_places(group: Climbers) -> tuple[np.ndarray, np.ndarray]:
    return distinct(group.positions[group.climbing])


def _first_of(pair: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return pair[0]


def _take(
    group: Climbers, asked: tuple[np.ndarray, np.ndarray], steps: Steps, tol: float
) -> Climbers:
    """Take a step of every climb that is still going."""
    numbers = asked[1]
    positions = group.positions.copy()
    positions[group.climbing] = steps.means[numbers]
    onward = steps.squares[numbers] > tol * tol
    return Climbers(positions, group.climbing[onward])


def _count(group: Climbers) -> int:
    return len(group.climbing)


def _climb_positions(group: Climbers) -> np.ndarray:
    return group.positions
