"""The engine of a GPU: tensors and Triton kernels.

With ``TRITON_INTERPRET=1`` in the environment the same code runs without a GPU, but slowly.
"""

from functools import partial
from typing import Any

import numpy as np
import torch

from modeshift.engines.cpu.engine import CellTable, posed_cells, stream_of, with_grid
from modeshift.engines.cpu.scale import scale_of
from modeshift.engines.cuda.answers import Answers
from modeshift.engines.cuda.field import DeviceField
from modeshift.engines.cuda.intake import Intake, example_of, take_in
from modeshift.engines.cuda.nearest_field import farthest_of_nearest
from modeshift.engines.cuda.runs import arrange, field_of, run
from modeshift.engines.cuda.space import TorchSpace
from modeshift.engines.finish import find_clusters, merge
from modeshift.engines.pose import pose
from modeshift.engines.prediction import Index, Model
from modeshift.engines.problem import Problem
from modeshift.engines.reporting import reporter
from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer

_SAMPLE = 10_000  # points for the choice of a bandwidth


class CudaEngine:
    """One GPU."""

    name = "cuda"

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def example(self, X: Any) -> Any:
        """Return an array as it is; for a tensor, return one row of the same width."""
        return example_of(X)

    def take_in(self, spec: Spec, X: Any, checked: np.ndarray, sample_weight: Any) -> Intake:
        """Bring points and weights to the device; tensors must be there already."""
        return take_in(spec, X, checked, sample_weight, self._device)

    def sample(self, spec: Spec, data: Intake) -> Sampled:
        """Bring some of the points to the CPU, where the bandwidth is chosen."""
        points = data.points
        generator = torch.Generator().manual_seed(0)
        rows = torch.randperm(len(points), generator=generator)[:_SAMPLE].sort().values
        rows = rows.to(points.device)
        width = None
        if len(rows) < len(points):
            corners = points.amax(dim=0) - points.amin(dim=0)
            width = float(torch.linalg.vector_norm(corners)) or 1.0
        total = float(data.weights.sum())
        return Sampled(points[rows].cpu().numpy(), data.weights[rows].cpu().numpy(), total, width)

    def fit(
        self, spec: Spec, data: Intake, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Cluster the points, or the cells of a grid that stand for them."""
        answers = Answers(data.points.dtype, data.as_tensors)
        if spec.resolution is None:
            space = TorchSpace(self._device, spec.feature_scale)
            problem = pose(space, spec, data.points, data.weights, _scale_of(spec, data))
            return _solve(spec, problem, answers, random_state, observer)
        stream = stream_of(spec, data.on_host())
        cells, problem = posed_cells(spec, stream)
        answers = Answers(data.points.dtype, data.as_tensors, cells)
        problem = _uploaded(problem, self._device)
        fit = _solve(spec, problem, answers, random_state, observer)
        return with_grid(fit, cells, stream.side)

    def index(self, spec: Spec, model: Model) -> "CudaIndex":
        """Return the index; fitted points are uploaded once."""
        return CudaIndex(spec, model, self._device)


def solve(
    device: torch.device, spec: Spec, problem: Problem, cells: Any, dtype: np.dtype,
    random_state: np.random.RandomState, observer: Observer,
) -> Fit:  # fmt: skip
    """Cluster cells on a device, as :func:`modeshift.engines.cpu.engine.solve` on the CPU."""
    answers = Answers(torch.from_numpy(np.empty(0, dtype)).dtype, cells=cells)
    return _solve(spec, _uploaded(problem, device), answers, random_state, observer)


def _solve(
    spec: Spec, problem: Problem, answers: Answers, random_state: np.random.RandomState,
    observer: Observer,
) -> Fit:  # fmt: skip
    """Run the schedule over points in the order of space, and find the clusters."""
    space = TorchSpace(problem.points.device, spec.feature_scale)
    arranged, n = arrange(problem), len(problem.points)

    def shown(positions: torch.Tensor) -> Any:
        return answers.modes(positions) if len(positions) == n else answers.places(positions)

    report = reporter(observer, space, spec, problem, shown)
    watch = observer.watch(report, *_identity(observer, spec, problem))
    with watch.keeping():
        outcome = run(spec, arranged, random_state, watch)
        ends = outcome.ends[arranged.seats]
        components = merge(space, spec, problem, ends)
        firsts = answers.firsts(space.arange(n))
        labels, centers = find_clusters(space, spec, problem, ends, components, firsts)
        in_user_units = partial(space.from_units, exponent=problem.exponent)
        return Fit(
            labels=answers.labels(labels),
            modes=answers.modes(in_user_units(ends)),
            centers=answers.places(in_user_units(centers)),
            scale=float(np.ldexp(problem.scale, problem.exponent)),
            n_iter=outcome.n_iter,
            n_steps=outcome.n_steps,
            converged=outcome.converged,
            model=answers.model(spec, problem, labels, len(centers)),
        )


def _uploaded(problem: Problem, device: torch.device) -> Problem:
    """Return a problem of arrays as one of tensors."""
    points, weights = (
        torch.as_tensor(values, device=device) for values in (problem.points, problem.weights)
    )
    return problem._replace(points=points, weights=weights)


def _scale_of(spec: Spec, data: Intake) -> float:
    """Return the scale; if the bandwidth is infinite, the device finds the nearest points."""
    if np.isfinite(spec.radius):
        return spec.radius
    farthest = partial(farthest_of_nearest, data.points.device)
    return scale_of(spec, data.points.cpu().numpy(), data.weights.cpu().numpy(), farthest)


def _identity(observer: Observer, spec: Spec, problem: Problem) -> tuple:
    """Return what a checkpoint must agree with; nothing if there is none."""
    if observer.checkpoint is None:
        return ()
    arrays = (problem.points.cpu().numpy(), problem.weights.cpu().numpy())
    return ("cuda", *arrays, spec.bandwidth)


class CudaIndex:
    """Index of arrays and tensors.

    New points of a wider type than the model are compared in the wider type. So there is an index
    for each of the two types, built when it is first needed.
    """

    def __init__(self, spec: Spec, model: Model, device: torch.device) -> None:
        self._spec = spec
        self._model = model
        self._device = device
        self._by_type: dict[torch.dtype, Index] = {}

    def label(self, data: Intake, *, outliers: bool) -> Any:
        """Label new points."""
        index, points = self._at(data)
        return data.handed_back(index.label(points, outliers=outliers))

    def membership(self, data: Intake) -> Any:
        """Return the share of the votes for each cluster."""
        index, points = self._at(data)
        return data.handed_back(index.membership(points))

    def log_density(self, data: Intake) -> Any:
        """Return the logarithm of the density."""
        index, points = self._at(data)
        return data.handed_back(index.log_density(points))

    def _at(self, data: Intake) -> tuple[Index, torch.Tensor]:
        """Return the index of the wider type, and the points in that type."""
        own = torch.as_tensor(self._model.problem.points[:0]).dtype
        dtype = torch.promote_types(data.points.dtype, own)
        if dtype not in self._by_type:
            self._by_type[dtype] = self._build(dtype)
        return self._by_type[dtype], data.points.to(dtype)

    def _build(self, dtype: torch.dtype) -> Index:
        tensor = partial(torch.as_tensor, device=self._device)
        problem, grid = self._model.problem, self._model.grid
        problem = problem._replace(
            points=tensor(problem.points).to(dtype), weights=tensor(problem.weights)
        )
        model = self._model._replace(problem=problem, labels=tensor(self._model.labels))

        def make_field(problem: Problem) -> DeviceField:
            return field_of(self._spec, arrange(problem))

        cell_of = None if grid is None else partial(_cell_of, CellTable(grid))
        return Index(TorchSpace(self._device), model, make_field, cell_of)


def _cell_of(table: CellTable, points: torch.Tensor) -> torch.Tensor:
    """Return the cell of each point; cells are looked up on the CPU."""
    found = table.cell_of(points.double().cpu().numpy())
    return torch.as_tensor(found, device=points.device)
