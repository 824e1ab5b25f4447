"""The engine of a GPU: tensors and Triton kernels.

With ``TRITON_INTERPRET=1`` in the environment the same code runs without a GPU, but slowly.
"""

from functools import partial
from typing import Any

import numpy as np
import torch

from modeshift.engines.cuda.field import DeviceField
from modeshift.engines.cuda.intake import Intake, example_of, take_in
from modeshift.engines.cuda.runs import Sorted, arrange, field_of, run
from modeshift.engines.cuda.space import TorchSpace
from modeshift.engines.finish import find_clusters, merge
from modeshift.engines.pose import pose
from modeshift.engines.prediction import Index, Model
from modeshift.engines.problem import Problem
from modeshift.engines.reporting import reporter
from modeshift.spec import Fit, Sampled, Spec
from modeshift.watching.observer import Observer
from modeshift.watching.watch import Watch

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
        return Sampled(
            points[rows].cpu().numpy(), data.weights[rows].cpu().numpy(), width=width, nearest=False
        )

    def fit(
        self, spec: Spec, data: Intake, random_state: np.random.RandomState, observer: Observer
    ) -> Fit:
        """Run the schedule over points in the order of space, and find the clusters."""
        space = TorchSpace(self._device, spec.feature_scale)
        problem = pose(space, spec, data.points, data.weights)
        arranged = arrange(problem)
        report = reporter(observer, space, spec, problem, data.handed_back)
        watch = observer.watch(report, *_identity(observer, spec, problem))
        with watch.keeping():
            return self._solved(spec, data, problem, arranged, random_state, watch)

    def _solved(
        self, spec: Spec, data: Intake, problem: Problem, arranged: Sorted, random_state: Any,
        watch: Watch,
    ) -> Fit:  # fmt: skip
        """Run the schedule, and find the clusters."""
        space, seats = TorchSpace(self._device, spec.feature_scale), arranged.seats
        outcome = run(spec, arranged, random_state, watch)
        ends = outcome.ends[seats]
        components = merge(space, spec, problem, ends)
        rows = space.arange(len(ends))
        labels, centers = find_clusters(space, spec, problem, ends, components, rows)
        centers = centers.to(ends.dtype)
        in_user_units = partial(space.from_units, exponent=problem.exponent)
        back, kept = data.handed_back, data.kept
        return Fit(
            labels=back(labels),
            modes=back(in_user_units(ends)),
            centers=back(in_user_units(centers)),
            scale=float(np.ldexp(problem.scale, problem.exponent)),
            n_iter=outcome.n_iter,
            n_steps=outcome.n_steps,
            converged=outcome.converged,
            model=Model(
                problem._replace(points=kept(problem.points), weights=back(problem.weights)),
                back(labels),
                len(centers),
                spec.feature_scale,
            ),
        )

    def index(self, spec: Spec, model: Model) -> "CudaIndex":
        """Return the index; fitted points are uploaded once."""
        return CudaIndex(spec, model, self._device)


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
        problem = self._model.problem
        problem = problem._replace(
            points=tensor(problem.points).to(dtype), weights=tensor(problem.weights)
        )
        model = self._model._replace(problem=problem, labels=tensor(self._model.labels))

        def make_field(problem: Problem) -> DeviceField:
            return field_of(self._spec, arrange(problem).problem)

        return Index(TorchSpace(self._device), model, make_field)
