"""The adapter for all that knows distances: components, nearest points, units, the sphere."""

from collections.abc import Callable
from typing import Any, Protocol

from modeshift.engines.arrays import Arrays
from modeshift.engines.problem import Units

COINCIDE = 2.0**-40
"""Points coincide when they are in the same cell of a grid of this side, in bandwidths.

That is below what rounding may do to a mean of many points, and far below 1e-9 of the scale.
"""

WORTH_IT = 0.75
"""Share of the points that may be left for a field of fewer points, of unequal weights, to pay."""


class Meetings(Protocol):
    """Climbs that meet go on as one."""

    leaders: Any
    heads: Any

    def meet(self, climbing: Any, positions: Any, step: int) -> Any:
        """Note where climbs are; return the mask of those that follow another one from now on.

        ``leaders`` then holds the climb that each one follows (-1: none), and ``heads`` the steps
        that the leader had taken at that place, less those of the follower.
        """
        ...


class Crowd(Protocol):
    """Points that coincide go on as one; ``owners`` holds the one that stands for each."""

    owners: Any

    def collapse(self, positions: Any, weights: Any) -> tuple[Any, Any]:
        """Return positions and weights of the points that are left."""
        ...


class Space(Arrays, Protocol):
    """What an engine can do with places; see :mod:`modeshift.engines.arrays`."""

    def meetings(self, n: int, d: int) -> Meetings:
        """Make a table of the places where n climbs have been."""
        ...

    def crowd(self, n: int, radius: float) -> Crowd:
        """Make the list of points that stand for others."""
        ...

    def connected_components(self, points: Any, radius: float) -> Any:
        """Number the components of "at most a radius apart", by first appearance."""
        ...

    def nearest_search(self, targets: Any) -> Callable[[Any], Any]:
        """Build an index once; return a function from places to the nearest target of each."""
        ...

    def order_in_space(self, places: Any) -> Any:
        """Return an order in which neighbours in the list are neighbours in space."""
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
        """Put means back on the unit sphere, or to ``otherwise`` if they have no direction."""
        ...
