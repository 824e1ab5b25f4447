"""Results in the user's kind of array, type of float and order of points."""

from typing import Any

import numpy as np
import torch

from modeshift.engines.prediction import Model
from modeshift.engines.problem import Problem
from modeshift.spec import Spec


class Answers:
    """The way back from the tensors of a fit to the user.

    Parameters
    ----------
    dtype : dtype of PyTorch
        Type of the results.
    as_tensors : bool
        Whether they are tensors, and not arrays.
    cells : Cells or ChunkedCells, optional
        With ``resolution``: ``cells.spread`` gives every original point the value of its cell.
    """

    def __init__(self, dtype: torch.dtype, as_tensors: bool = False, cells: Any = None) -> None:
        self._dtype = dtype
        self._as_tensors = as_tensors
        self._cells = cells

    def labels(self, values: torch.Tensor) -> Any:
        """Return a value for each original point."""
        if self._cells is None:
            return self._handed_back(values)
        spread = self._cells.spread(values.cpu().numpy())
        return torch.as_tensor(spread, device=values.device) if self._as_tensors else spread

    def modes(self, positions: torch.Tensor) -> Any:
        """Return a position for each original point."""
        return self.labels(positions.to(self._dtype))

    def places(self, positions: torch.Tensor) -> Any:
        """Return positions that are not those of points."""
        return self._handed_back(positions.to(self._dtype))

    def firsts(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the number of the first original point behind each row."""
        return rows if self._cells is None else rows.new_tensor(self._cells.firsts)

    def model(self, spec: Spec, problem: Problem, labels: torch.Tensor, n_clusters: int) -> Model:
        """Return what ``predict`` needs: tensors if the points are tensors, and arrays of cells.

        Positions in arrays are float64, as the CPU needs them.
        """
        points, weights = problem.points, problem.weights
        if self._cells is not None or not self._as_tensors:
            points, weights = points.double().cpu().numpy(), weights.cpu().numpy()
            labels = labels.cpu().numpy()
        problem = problem._replace(points=points, weights=weights)
        return Model(problem, labels, n_clusters, spec.feature_scale)

    def _handed_back(self, values: torch.Tensor) -> torch.Tensor | np.ndarray:
        return values if self._as_tensors else values.cpu().numpy()
