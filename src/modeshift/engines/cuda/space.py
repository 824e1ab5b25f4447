"""Places as PyTorch tensors on a device; see :mod:`modeshift.engines.space`."""

import numpy as np
import torch

from modeshift.engines.cuda.arrays import TorchArrays
from modeshift.engines.cuda.components import connected_components
from modeshift.engines.cuda.meeting import Crowd, NeighbourMeetings
from modeshift.engines.cuda.nearest import NearestSearch
from modeshift.engines.cuda.sphere import put_back
from modeshift.engines.cuda.tiles import locality_order
from modeshift.engines.problem import Units


class TorchSpace(TorchArrays):
    """Tensors on one device, with searches by kernels."""

    def meetings(self, n: int, d: int) -> NeighbourMeetings:
        """Return the table of climbs that follow others."""
        return NeighbourMeetings(n, self.device)

    def crowd(self, n: int, radius: float) -> Crowd:
        """Return the table of points that represent others."""
        return Crowd(n, radius, self.device)

    def connected_components(self, points: torch.Tensor, radius: float) -> torch.Tensor:
        """Number the components of "at most a radius apart", by first appearance."""
        return connected_components(points, radius)

    def nearest_search(self, targets: torch.Tensor) -> NearestSearch:
        """Return a search for the nearest targets. It compares all targets."""
        return NearestSearch(targets)

    def order_in_space(self, places: torch.Tensor) -> torch.Tensor:
        """Return an order in which rows next to each other are near in space."""
        return locality_order(places)

    def choose_units(self, points: torch.Tensor, weights: torch.Tensor, scale: float) -> Units:
        """Choose units in which the scale and the heaviest weight lie between 1 and 2."""
        length = int(np.frexp(scale)[1]) - 1
        if not bool(torch.isfinite(points * 2.0**-length).all()):
            raise ValueError(
                f"bandwidth={scale!r} is too small for values as large as "
                f"{float(points.abs().max()):.2g} on a GPU. Take a larger bandwidth, or "
                "device='cpu'."
            )
        return Units(length, int(np.frexp(float(weights.max()))[1]) - 1)

    def to_units(self, positions: torch.Tensor, exponent: int) -> torch.Tensor:
        """Divide positions by ``2 ** exponent``."""
        return positions * 2.0**-exponent

    def from_units(self, positions: torch.Tensor, exponent: int) -> torch.Tensor:
        """Multiply positions by ``2 ** exponent``, and by the scale of each feature."""
        scaled = positions * 2.0**exponent
        return (
            scaled
            if self.feature_scale is None
            else scaled * positions.new_tensor(self.feature_scale)
        )

    def weights_to_units(self, weights: torch.Tensor, exponent: int) -> torch.Tensor:
        """Divide weights by ``2 ** exponent``."""
        return weights * 2.0**-exponent

    def put_back(self, means: torch.Tensor, otherwise: torch.Tensor) -> torch.Tensor:
        """Put means back on the unit sphere; a mean of length 0 becomes ``otherwise``."""
        return put_back(means, otherwise)
