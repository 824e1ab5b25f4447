"""The field as schedules use it: means near many places, and moves of many points."""

from typing import Any, Protocol, Self

from modeshift.engines.space import Space


class Means(Protocol):
    """Means near many places, their masses, and the squared shifts."""

    means: Any
    masses: Any
    squares: Any


class StillField(Protocol):
    """A field as climbs use it: no point moves.

    Attributes
    ----------
    space : Space
        Adapter of the field's arrays.
    """

    @property
    def space(self) -> Space:
        """Adapter of the field's arrays."""
        ...

    def means_near(self, places: Any) -> Any:
        """Return the mean near each place."""
        ...


class Climbed(Protocol):
    """Ends of several steps of many places.

    Attributes
    ----------
    means, squares : array
        End of each place, and the squared shift of its last step.
    steps : array
        Number of steps of each place.
    """

    means: Any
    squares: Any
    steps: Any


class LeapingField(StillField, Protocol):
    """A field that takes several steps of a climb at once."""

    def leap_length(self, n_places: int) -> int:
        """Return the number of steps that are best taken at once."""
        ...

    def leap(self, places: Any, tol: float, most: int) -> Any:
        """Take up to ``most`` steps of each place, until a step is at most ``tol``."""
        ...


class BatchField(StillField, Protocol):
    """The current positions and weights of all points, with queries for many places at once.

    Attributes
    ----------
    radius : float
    points, weights : array
    may_collapse : bool
        Whether points that coincide can be joined.
    """

    radius: float
    weights: Any

    @property
    def points(self) -> Any:
        """Current positions."""
        ...

    @property
    def may_collapse(self) -> bool:
        """Whether points that coincide can be joined."""
        ...

    def at(self, points: Any, weights: Any) -> Self:
        """Return a field over other points. The current field must not be used afterwards."""
        ...

    def move_points(self, rows: Any, places: Any) -> None:
        """Move some of the points."""
        ...

    @property
    def state(self) -> Any:
        """State for a checkpoint, a named tuple."""
        ...

    def follow_state(self) -> None:
        """Compute again what follows from ``state``, after a checkpoint was put into it."""
        ...

    def is_quiet(self, tol: float) -> bool:
        """Return whether no point would move further than ``tol``."""
        ...
