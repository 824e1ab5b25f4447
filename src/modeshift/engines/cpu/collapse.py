"""Points that coincide continue as one (the exact speed-up of Carreira-Perpinan, ICML 2006).

They have the same neighbours, so from then on they have the same mean.
"""

import numpy as np

from modeshift.engines.cpu.hashing import number_rows
from modeshift.engines.space import COINCIDE, WORTH_IT


class Collapse:
    """Points that represent others.

    Attributes
    ----------
    owners : ndarray of shape (n,)
        For each original point, the row of its representative.
    """

    def __init__(self, n: int, radius: float) -> None:
        self.owners = np.arange(n)
        self._side = COINCIDE * radius

    def collapse(self, positions: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and weights of the representatives; all points if few coincide.

        The first of the points that coincide keeps its place and gets the weight of all of them.
        """
        with np.errstate(over="ignore"):
            cells = np.rint(positions / self._side) + 0.0  # no -0.0: it has other bits than 0.0
        # Beyond 2**53 cells every float is a cell of its own, even where the division overflows.
        cells = np.where(np.isinf(cells), positions, cells)
        numbers, firsts = number_rows(cells)
        if len(firsts) > WORTH_IT * len(positions):
            return positions, weights
        self.owners = numbers[self.owners]
        return positions[firsts], np.bincount(numbers, weights=weights)
