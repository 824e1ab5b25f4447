"""Results in the user's kind of array, type of float and order of points."""

from typing import Any

import torch

from modeshift.engines.cpu.compress import Cells
from modeshift.engines.cuda.intake import Intake
from modeshift.engines.prediction import Model
from modeshift.engines.problem import Problem
from modeshift.spec import Spec


class Answers:
    """The way back from the tensors of a fit to the user.

    Parameters
    ----------
    data : Intake
    cells : Cells, optional
        With ``resolution``: every original point gets the value of its cell.
    """

    def __init__(self, data: Intake, cells: Cells | None = None) -> None:
        self._data = data
        self._cells = cells

    def labels(self, values: torch.Tensor) -> Any:
        """Return a value for each original point."""
        if self._cells is not None:
            values = values[torch.as_tensor(self._cells.cell_of, device=values.device)]
        return self._data.handed_back(values)

    def modes(self, positions: torch.Tensor) -> Any:
        """Return a position for each original point."""
        return self.labels(positions.to(self._data.points.dtype))

    def places(self, positions: torch.Tensor) -> Any:
        """Return positions that are not those of points."""
        return self._data.handed_back(positions.to(self._data.points.dtype))

    def firsts(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the number of the first original point behind each row."""
        return rows if self._cells is None else rows.new_tensor(self._cells.firsts)

    def model(self, spec: Spec, problem: Problem, labels: torch.Tensor, n_clusters: int) -> Model:
        """Return what ``predict`` needs: tensors if the points are tensors, and arrays of cells."""
        kept = self._data if self._cells is None else self._data._replace(as_tensors=False)
        problem = problem._replace(
            points=kept.kept(problem.points), weights=kept.handed_back(problem.weights)
        )
        return Model(problem, kept.handed_back(labels), n_clusters, spec.feature_scale)
