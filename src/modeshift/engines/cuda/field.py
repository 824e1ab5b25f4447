"""The field on a device: positions and weights of all points, and means near places."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import torch

from modeshift.engines.cuda.memory import in_chunks
from modeshift.engines.cuda.space import TorchSpace
from modeshift.engines.rule import TRUNCATION, Gaussian, Nearest, Rule, Sphere

LOG2_E = 1.4426950408889634


class Means(NamedTuple):
    """Means near many places, like :class:`modeshift.engines.cpu.fields.field.Means`."""

    means: torch.Tensor
    masses: torch.Tensor
    squares: torch.Tensor


class DeviceState(NamedTuple):
    """What a checkpoint holds of a field; all else follows from it."""

    points: torch.Tensor


class DeviceField(ABC):
    """Base of the fields on a device.

    Parameters
    ----------
    points : Tensor of shape (n, d), float32 or float64
        Positions, sorted so that rows next to each other are near in space.
    weights : Tensor of shape (n,), float64
    radius : float
    rule : Rule
        In the plane or on the sphere.
    precision : {"exact", "fast"}
    """

    may_collapse = True
    points: torch.Tensor

    def __init__(
        self,
        points: torch.Tensor,
        weights: torch.Tensor,
        radius: float,
        rule: Rule,
        precision: str,
    ) -> None:
        self.weights = weights
        self.radius = radius
        self.rule = rule
        self.precision = precision
        self.gaussian = isinstance(rule.ball if isinstance(rule, Nearest) else rule, Gaussian)
        self.on_sphere = isinstance(rule.space, Sphere)
        self.reach = radius * (TRUNCATION if self.gaussian else 1.0)
        self.points = points.clone(memory_format=torch.contiguous_format)
        self.space = TorchSpace(points.device)
        self._build()

    @property
    def state(self) -> DeviceState:
        """State for a checkpoint."""
        return DeviceState(self.points)

    @abstractmethod
    def follow_state(self) -> None:
        """Compute again what follows from the points."""

    @abstractmethod
    def _build(self) -> None:
        """Prepare the field for ``points``."""

    @abstractmethod
    def _answer(self, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the mean near each place, its mass, and the squared shift.

        Without mass a place stays where it is.
        """

    @abstractmethod
    def at(self, points: torch.Tensor, weights: torch.Tensor) -> Self:
        """Replace the points and weights; return the field itself."""

    @abstractmethod
    def move_points(self, rows: torch.Tensor, positions: torch.Tensor) -> None:
        """Move some of the points."""

    def means_near(self, places: torch.Tensor) -> Means:
        """Return the means near many places, computed in parts that fit into memory."""
        return Means(*in_chunks(self._answer, places))

    def is_quiet(self, tol: float) -> bool:
        """Return whether no point would move further than ``tol``. No point is moved."""
        return bool(self.means_near(self.points).squares.max() <= tol * tol)
