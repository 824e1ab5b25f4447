"""Algorithm 2, exactly as the paper states it."""

from dataclasses import replace
from typing import Any

from modeshift import StochasticMeanShift
from modeshift.spec import Wander


class LiteralStochasticMeanShift(StochasticMeanShift):
    """Stochastic mean-shift that stops as the paper says: after a number of quiet steps in a row.

    ``StochasticMeanShift`` then tests every point, and continues if one would still move. Without
    the test, points that were rarely chosen stop early: "outlier clusters" in the paper's words.
    """

    def _schedule(self, values: dict[str, Any]) -> Wander:
        return replace(super()._schedule(values), verify=False)


def patience_of(quiet: int, n: int) -> float:
    """Return a patience for which ``ceil(patience * n)`` is this number of steps."""
    return (quiet - 0.5) / n


def literal_or_verified(quiet: int | None, n: int, **parameters: Any) -> StochasticMeanShift:
    """Return the estimator that stops after ``quiet`` quiet steps; for None, the verified one."""
    if quiet is None:
        return StochasticMeanShift(**parameters)
    return LiteralStochasticMeanShift(**parameters, patience=patience_of(quiet, n))
