"""A partition of Dask data on the GPU of its worker."""

import os
from threading import Lock
from typing import Any, Self

import numpy as np
import torch

from modeshift.engines.cpu.fields.field import Means
from modeshift.engines.cuda.devices import find_device
from modeshift.engines.cuda.few_field import FewField
from modeshift.engines.cuda.field import DeviceField
from modeshift.engines.cuda.many_field import ManyField
from modeshift.engines.cuda.tiles import FEW, locality_order
from modeshift.engines.rule import Rule

_ONE_AT_A_TIME = Lock()  # the threads of a worker share its GPU


class DevicePart:
    """The points of a partition, with queries that a GPU answers.

    It has what partitions use of a field on the CPU. Arrays stay on the host, so that Dask can move
    a partition to another worker; the field on the device is made when it is first asked.

    Parameters
    ----------
    points : ndarray of shape (n, d), float64
    weights : ndarray of shape (n,), float64
    radius : float
    rule : Rule
    """

    def __init__(self, points: np.ndarray, weights: np.ndarray, radius: float, rule: Rule) -> None:
        self.points = points
        self.weights = weights
        self._radius = radius
        self._rule = rule
        self._field: DeviceField | None = None

    def __sizeof__(self) -> int:
        """Return the memory of the arrays. Dask moves small objects to large ones."""
        return self.points.nbytes + self.weights.nbytes

    def at(self, points: np.ndarray) -> Self:
        """Return a partition with the same weights at other places."""
        return type(self)(points, self.weights, self._radius, self._rule)

    def moved(self, rows: np.ndarray, places: np.ndarray) -> Self:
        """Return a copy of the partition in which some points have moved."""
        points = self.points.copy()
        points[rows] = places
        return self.at(points)

    def means_near(self, places: np.ndarray, radius: float) -> Means:
        """Return the means near many places."""
        assert radius == self._radius
        device = device_of_worker()
        with _ONE_AT_A_TIME, torch.cuda.device(device if device.type == "cuda" else -1):
            if self._field is None:
                self._field = self._made(device)
            asked = torch.as_tensor(places, device=device)
            order = locality_order(asked)
            answer = self._field.means_near(asked[order])
            back = torch.argsort(order)
            return Means(*(values[back].double().cpu().numpy() for values in answer))

    def _made(self, device: torch.device) -> DeviceField:
        points = torch.as_tensor(self.points, device=device)
        weights = torch.as_tensor(self.weights, device=device)
        order = locality_order(points)
        kind = FewField if points.shape[1] <= FEW else ManyField
        return kind(points[order], weights[order], self._radius, self._rule, "exact")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the field on the device."""
        return {**vars(self), "_field": None}


def device_of_worker() -> torch.device:
    """Return the GPU of this Dask worker.

    If ``CUDA_VISIBLE_DEVICES`` is set, as dask-cuda does for each worker, it is the first one.
    Otherwise the workers of a machine, which ``LocalCluster`` numbers, take turns.
    """
    found = find_device()
    if found is None:
        raise ValueError(
            "device='cuda' needs a GPU on every Dask worker, and PyTorch finds none on this one. "
            "Take device='cpu'."
        )
    if found.type != "cuda" or "CUDA_VISIBLE_DEVICES" in os.environ:
        return found
    return torch.device(found.type, _number_of_worker() % torch.cuda.device_count())


def _number_of_worker() -> int:
    """Return the number of this worker; 0 if it has a name, or if there is no cluster."""
    try:
        from distributed import get_worker

        return int(get_worker().name)
    except (ImportError, ValueError):
        return 0
