"""What schedules ask of a field: means near many places, and moving many points."""

from typing import Any, Protocol, Self

from modeshift.engines.space import Space


class Means(Protocol):
    """Answers for many places: means, masses, and squares of the shifts."""

    means: Any
    masses: Any
    squares: Any


class BatchField(Protocol):
    """The current positions and weights of all points, able to answer for many places at once.

    Attributes
    ----------
    space : Space
        Adapter of the arrays that the field answers in.
    radius : float
    points, weights : array
    may_collapse : bool
        Whether points that coincide can be one.
    state : tuple or None
        What a checkpoint keeps; None where there are no checkpoints.
    """

    radius: float
    weights: Any
    state: Any

    @property
    def space(self) -> Space:
        """Adapter of the field's arrays."""
        ...

    @property
    def points(self) -> Any:
        """Current positions."""
        ...

    @property
    def may_collapse(self) -> bool:
        """Whether points that coincide can be one."""
        ...

    def means_near(self, places: Any) -> Any:
        """Return the mean near each place."""
        ...

    def at(self, points: Any, weights: Any) -> Self:
        """Return a field over other points; the present one may be used up."""
        ...

    def move_points(self, rows: Any, places: Any) -> None:
        """Put some of the points somewhere else."""
        ...

    def is_quiet(self, tol: float) -> bool:
        """Whether no point would move further than ``tol``."""
        ...
