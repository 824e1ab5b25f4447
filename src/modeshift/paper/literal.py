"""Algorithm 2 to the letter."""

from dataclasses import replace
from typing import Any

from modeshift import StochasticMeanShift
from modeshift.spec import Wander


class LiteralStochasticMeanShift(StochasticMeanShift):
    """Stochastic mean-shift that stops as the paper says: after a number of quiet steps in a row.

    ``StochasticMeanShift`` then tests every point and goes on if one would still move. Without the
    test, points that chance has chosen seldom stay behind, "outlier clusters" in the paper's words.
    """

    def _schedule(self, values: dict[str, Any]) -> Wander:
        return replace(super()._schedule(values), verify=False)


def patience_of(quiet: int, n: int) -> float:
    """Patience that makes ``ceil(patience * n)`` this number of steps, whatever the rounding."""
    return (quiet - 0.5) / n


def literal_or_verified(quiet: int | None, n: int, **parameters: Any) -> StochasticMeanShift:
    """Make the estimator that stops after so many quiet steps, or the verified one for None."""
    if quiet is None:
        return StochasticMeanShift(**parameters)
    return LiteralStochasticMeanShift(**parameters, patience=patience_of(quiet, n))
