"""A sample of data in chunks, drawn in one pass."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.cpu.chart import Chart
from modeshift.engines.dask.faults import compute
from modeshift.engines.dask.rows import Rows, check_chunk, check_chunk_weights
from modeshift.engines.dask.tree import new_token, task, tree_reduce

_N_SAMPLES = 1500


class Draw(NamedTuple):
    """The rows with the lowest keys, and facts about all rows that have weight.

    Attributes
    ----------
    keys, points, weights : ndarray
        Keys, points and weights of the drawn rows, sorted by key.
    low, high : ndarray of shape (d,)
        Box around all rows.
    n_rows : int
        Number of rows.
    mass : float
        Total weight of the rows.
    whole : bool
        Whether all weights are whole numbers.
    """

    keys: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_rows: int
    mass: float
    whole: bool

    @property
    def total(self) -> float:
        """Total weight. If weights are not whole numbers, it is the number of rows."""
        return self.mass if self.whole else float(self.n_rows)


def draw_rows(rows: Rows, chart: Chart) -> Draw:
    """Draw rows at random without replacement, with probability proportional to their weight.

    A row has the key E / w, with E from the exponential distribution and its weight w; the rows
    with the lowest keys are the sample (Efraimidis & Spirakis 2006). E depends only on the number
    of the row. So the sample does not depend on the workers, nor on the chunks if their sizes are
    known. All drawn rows have the same weight, unless all rows were drawn.
    """
    token = new_token()
    parts = [
        task(_draw_chunk, block, weights, rows.dtype, rows.points.shape[1], chart, start, chunk,
             name="sample", token=token, index=chunk)
        for chunk, ((block, weights), start) in enumerate(
            zip(rows.blocks(), rows.starts.tolist(), strict=True)
        )
    ]  # fmt: skip
    draw = compute(tree_reduce(parts, _join_draws, name="join-samples", token=token), rows)
    if draw.n_rows == 0:
        raise ValueError("X must have at least one row with a weight above 0.")
    if draw.n_rows > len(draw.keys):
        draw = draw._replace(weights=np.ones(len(draw.keys)))
    return draw


def _draw_chunk(
    block: Any, weights: Any, dtype: np.dtype, n_features: int, chart: Chart, start: int,
    chunk: int,
) -> Draw:  # fmt: skip
    points = check_chunk(block, dtype, n_features, chunk).astype(np.float64, copy=False)
    weights = check_chunk_weights(weights, len(points), chunk)
    points = chart.points(points, f"chunk {chunk} of X")
    numbers = start + np.flatnonzero(weights > 0)
    points, weights = points[weights > 0], weights[weights > 0]
    keys = _exponentials(numbers) / weights
    lowest = np.argsort(keys, kind="stable")[:_N_SAMPLES]
    return Draw(
        keys=keys[lowest],
        points=points[lowest],
        weights=weights[lowest],
        low=points.min(axis=0, initial=np.inf),
        high=points.max(axis=0, initial=-np.inf),
        n_rows=len(points),
        mass=float(weights.sum()),
        whole=bool((weights == np.rint(weights)).all()),
    )


def _join_draws(draws: list[Draw]) -> Draw:
    keys, points, weights = (np.concatenate(parts) for parts in list(zip(*draws, strict=True))[:3])
    lowest = np.argsort(keys, kind="stable")[:_N_SAMPLES]
    return Draw(
        keys=keys[lowest],
        points=points[lowest],
        weights=weights[lowest],
        low=np.min([draw.low for draw in draws], axis=0),
        high=np.max([draw.high for draw in draws], axis=0),
        n_rows=sum(draw.n_rows for draw in draws),
        mass=sum(draw.mass for draw in draws),
        whole=all(draw.whole for draw in draws),
    )


def _exponentials(numbers: np.ndarray) -> np.ndarray:
    """Return exponentially distributed numbers that depend only on the given numbers.

    The bits are mixed as in SplitMix64 (Steele, Lea & Flood 2014).
    """
    with np.errstate(over="ignore"):
        bits = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
    return -np.log(((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)
