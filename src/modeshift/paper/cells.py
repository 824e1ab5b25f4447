"""Published cells against the spread of our seeds.

The paper prints shares with two decimals, from one run per cell. So our values are rounded in the
same way. A published cell is *inside* if it lies in the central 95% of the seeds: at least 2.5% of
them are no larger, and at least 2.5% are no smaller.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from modeshift.metrics import PurityReport
from modeshift.paper.published import COLUMNS, PUBLISHED
from modeshift.paper.results import Results

FIELDS = PurityReport._fields
TAIL = 0.025


class Cell(NamedTuple):
    """One number of the paper, with ours.

    ``low`` and ``high`` bound the central 95% of the seeds. ``percentile`` is the share of seeds
    below the published number, in percent; equal seeds count half.
    """

    set_number: int
    algorithm: str
    column: str
    published: float
    low: float
    median: float
    high: float
    percentile: float
    inside: bool


def as_printed(values: np.ndarray) -> np.ndarray:
    """Return values in hundredths, rounded to whole numbers, which compare exactly."""
    return np.rint(100 * np.asarray(values, dtype=float)).astype(int)


def is_inside(published: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return which published numbers lie in the central 95% of the seeds (the last axis)."""
    wanted, ours = as_printed(published)[..., None], as_printed(values)
    return ((ours <= wanted).mean(-1) >= TAIL) & ((ours >= wanted).mean(-1) >= TAIL)


def percentile(published: float, values: np.ndarray) -> float:
    """Return the share of seeds below the published number, in percent; equal ones count half."""
    wanted, ours = as_printed(np.array(published)), as_printed(values)
    return float(100 * ((ours < wanted).mean() + (ours == wanted).mean() / 2))


def central(values: np.ndarray) -> tuple[float, float, float]:
    """Return the lower end of the central 95%, the median, and the upper end."""
    low, median, high = np.quantile(values, [TAIL, 0.5, 1 - TAIL])
    return float(low), float(median), float(high)


def compare(results: Results) -> Iterator[Cell]:
    """Compare each of the 98 published cells with the seeds of the experiment "paper"."""
    for index, rows in PUBLISHED.items():
        for algorithm, row in rows.items():
            ours = results.of("paper", set=index, algorithm=algorithm)
            for column, field, published in zip(COLUMNS, FIELDS, row, strict=True):
                values = ours.column(field)
                yield Cell(
                    index,
                    algorithm,
                    column,
                    published,
                    *central(values),
                    percentile(published, values),
                    bool(is_inside(np.array(published), values)),
                )
