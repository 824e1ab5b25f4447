"""Places as NumPy arrays; see :mod:`modeshift.engines.space`."""

import numpy as np

from modeshift.engines.cpu.arrays import NumpyArrays
from modeshift.engines.cpu.chart import Chart
from modeshift.engines.cpu.collapse import Collapse
from modeshift.engines.cpu.components import connected_components
from modeshift.engines.cpu.meeting import MeetingTable
from modeshift.engines.cpu.nearest import NearestSearch
from modeshift.engines.cpu.sphere import put_back
from modeshift.engines.cpu.units import choose_units, to_units
from modeshift.engines.problem import Units


class NumpySpace(NumpyArrays):
    """NumPy arrays; searches use several threads."""

    def __init__(self, n_threads: int = 1, chart: Chart | None = None) -> None:
        self._n_threads = n_threads
        self._chart = chart or Chart()

    def meetings(self, n: int, d: int) -> MeetingTable:
        """Return a table of the places that n climbs have visited."""
        return MeetingTable(n, d, self._n_threads)

    def crowd(self, n: int, radius: float) -> Collapse:
        """Return the table of points that represent others."""
        return Collapse(n, radius)

    def connected_components(self, points: np.ndarray, radius: float) -> np.ndarray:
        """Number the components of "at most a radius apart", by first appearance."""
        return connected_components(points, radius)

    def nearest_search(self, targets: np.ndarray) -> NearestSearch:
        """Build a tree that finds the nearest targets."""
        return NearestSearch(targets, self._n_threads)

    def order_in_space(self, places: np.ndarray) -> slice:
        """Return the order as it is: fields on the CPU sort places themselves."""
        return slice(None)

    def choose_units(self, points: np.ndarray, weights: np.ndarray, scale: float) -> Units:
        """Choose units of length and weight in which nothing overflows or vanishes."""
        return choose_units(points, weights, scale)

    def to_units(self, positions: np.ndarray, exponent: int) -> np.ndarray:
        """Divide positions by ``2 ** exponent``."""
        return to_units(positions, exponent)

    def from_units(self, positions: np.ndarray, exponent: int) -> np.ndarray:
        """Multiply positions by ``2 ** exponent``, and turn them into rows of the user."""
        return self._chart.rows(np.ldexp(positions, exponent))

    def weights_to_units(self, weights: np.ndarray, exponent: int) -> np.ndarray:
        """Divide weights by ``2 ** exponent``."""
        return np.ldexp(weights, -exponent)

    def put_back(self, means: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Put means back on the unit sphere; a mean of length 0 becomes ``otherwise``."""
        return put_back(means, otherwise)
