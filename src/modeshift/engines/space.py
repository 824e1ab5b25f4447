"""The adapter for geometry: components, nearest points, units, the sphere."""

from typing import Any, Protocol

from modeshift.engines.arrays import Arrays
from modeshift.engines.problem import Units

COINCIDE = 2.0**-40
"""Side, in bandwidths, of grid cells; points in the same cell coincide.

This is below the rounding error of a mean of many points, and far below 1e-9 of the scale.
"""

WORTH_IT = 0.75
"""Points are joined only if at most this share is left: unequal weights cost time."""


class Meetings(Protocol):
    """Climbs that meet continue as one."""

    leaders: Any
    heads: Any

    def meet(self, climbing: Any, positions: Any, step: int) -> Any:
        """Note the positions of climbs; return the mask of climbs that follow another from now on.

        ``leaders`` then holds the climb that each climb follows (-1: none), and ``heads`` the steps
        of the leader at that place, minus the steps of the follower.
        """
        ...


class Crowd(Protocol):
    """Points that coincide continue as one; ``owners`` holds the representative of each point."""

    owners: Any

    def collapse(self, positions: Any, weights: Any) -> tuple[Any, Any]:
        """Return positions and weights of the representatives."""
        ...


class Neighbours(Protocol):
    """The nearest targets of each place, from near to far."""

    rows: Any
    squares: Any


class NearestSearch(Protocol):
    """A search for the nearest targets, built once."""

    def __call__(self, places: Any) -> Any:
        """Return the nearest target of each place."""
        ...

    def several(self, places: Any, k: int) -> Any:
        """Return the k nearest targets of each place as :class:`Neighbours`."""
        ...


class Space(Arrays, Protocol):
    """Geometric operations of an engine; see :mod:`modeshift.engines.arrays`."""

    def meetings(self, n: int, d: int) -> Meetings:
        """Return a table of the places that n climbs have visited."""
        ...

    def crowd(self, n: int, radius: float) -> Crowd:
        """Return the table of points that represent others."""
        ...

    def connected_components(self, points: Any, radius: float) -> Any:
        """Number the components of "at most a radius apart", by first appearance."""
        ...

    def nearest_search(self, targets: Any) -> NearestSearch:
        """Build a search for the nearest targets."""
        ...

    def order_in_space(self, places: Any) -> Any:
        """Return an order in which rows next to each other are near in space."""
        ...

    def choose_units(self, points: Any, weights: Any, scale: float) -> Units:
        """Choose units of length and weight in which nothing overflows or vanishes."""
        ...

    def to_units(self, positions: Any, exponent: int) -> Any:
        """Divide positions by ``2 ** exponent``."""
        ...

    def from_units(self, positions: Any, exponent: int) -> Any:
        """Multiply positions by ``2 ** exponent``."""
        ...

    def weights_to_units(self, weights: Any, exponent: int) -> Any:
        """Divide weights by ``2 ** exponent``."""
        ...

    def put_back(self, means: Any, otherwise: Any) -> Any:
        """Put means back on the unit sphere; a mean of length 0 becomes ``otherwise``."""
        ...
