"""Points that coincide go on as one (the exact speed-up of Carreira-Perpinan, ICML 2006).

They see the same neighbours, so they have the same mean from then on.
"""

import numpy as np

from modeshift.engines.cpu.hashing import number_rows
from modeshift.engines.space import COINCIDE, WORTH_IT


class Collapse:
    """Who stands for whom.

    Attributes
    ----------
    owners : ndarray of shape (n,)
        For each point at the start, the one among those left that stands for it.
    """

    def __init__(self, n: int, radius: float) -> None:
        self.owners = np.arange(n)
        self._side = COINCIDE * radius

    def collapse(self, positions: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and weights of those left: of all, when there would not be much fewer.

        The first of some points that coincide keeps its place and takes the weight of all.
        """
        with np.errstate(over="ignore"):
            cells = np.rint(positions / self._side) + 0.0  # no -0.0: its bits are not those of 0.0
        # Beyond 2**53 cells every float is a cell of its own, even where the division overflows.
        cells = np.where(np.isinf(cells), positions, cells)
        numbers, firsts = number_rows(cells)
        if len(firsts) > WORTH_IT * len(positions):
            return positions, weights
        self.owners = numbers[self.owners]
        return positions[firsts], np.bincount(numbers, weights=weights)
