"""Climbs that meet, and points that coincide, continue as one.

Only neighbouring rows are compared. Rows are sorted by position, so nearly all are found.
"""

import torch

from modeshift.engines.cuda.sums import add_up
from modeshift.engines.space import COINCIDE, WORTH_IT


class NeighbourMeetings:
    """Table of climbs that follow another: a climb at the place of its neighbour follows it.

    Attributes
    ----------
    leaders : Tensor of shape (n,)
        The climb that each climb follows; -1: none.
    heads : Tensor of shape (n,)
        Steps that leaders were ahead: 0, because climbs meet after the same number of steps.
    """

    def __init__(self, n: int, device: torch.device) -> None:
        self.leaders = torch.full((n,), -1, device=device)
        self.heads = torch.zeros(n, dtype=torch.int64, device=device)

    def meet(self, climbing: torch.Tensor, positions: torch.Tensor, step: int) -> torch.Tensor:
        """Return the mask of the climbs that follow another from now on."""
        first, runs = _runs(positions)
        self.leaders[climbing[~first]] = climbing[first][runs][~first]
        return ~first


class Crowd:
    """Points that represent others; ``owners`` is the row of the representative of each point."""

    def __init__(self, n: int, radius: float, device: torch.device) -> None:
        self.owners = torch.arange(n, device=device)
        self._side = COINCIDE * radius

    def collapse(
        self, positions: torch.Tensor, weights: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return positions and weights of the representatives; all points if few coincide."""
        first, runs = _runs(torch.round(positions / self._side))
        if int(first.sum()) > WORTH_IT * len(positions):
            return positions, weights
        self.owners = runs[self.owners]
        return positions[first], add_up(weights, runs, int(runs[-1]) + 1)


def _runs(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Find runs of equal rows; return the mask of first rows, and the run of each row."""
    first = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    first[1:] = (rows[1:] != rows[:-1]).any(dim=1)
    return first, first.cumsum(dim=0) - 1
