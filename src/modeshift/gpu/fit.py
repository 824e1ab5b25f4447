"""Fit and predict on a device: validate, run a schedule, merge, label, all in tensors."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from modeshift.base import Fitted
from modeshift.fields.rule import Flat, Gaussian, Plane, Sphere
from modeshift.gpu.clusters import cluster_centers, join_strays, label_components
from modeshift.gpu.components import connected_components
from modeshift.gpu.few_field import FewField
from modeshift.gpu.field import DeviceField, put_back
from modeshift.gpu.intake import Intake, to_device
from modeshift.gpu.many_field import ManyField
from modeshift.gpu.nearest import nearest_rows
from modeshift.gpu.schedules import Outcome, climb
from modeshift.gpu.tiles import FEW, locality_order
from modeshift.units import Problem
from modeshift.watch import Progress

_SAMPLE = 10_000  # points that are looked at to choose a bandwidth


class Sorted(NamedTuple):
    """A problem whose points are in the order of space.

    Attributes
    ----------
    problem : Problem
    order : Tensor of shape (n,)
        The number that each row had before.
    seats : Tensor of shape (n,)
        The row that each number has now.
    """

    problem: Problem
    order: torch.Tensor
    seats: torch.Tensor


def fit_on(estimator: Any, X: Any, sample_weight: Any, device: torch.device) -> None:
    """Fit an estimator on a device, and set what a fit sets: arrays for arrays, else tensors."""
    intake = to_device(estimator, X, sample_weight, device)
    bandwidth, problem = pose(estimator, intake)
    arranged = _arrange(problem)
    outcome = estimator._run_on_device(
        arranged, make_field(estimator, arranged.problem), _reporter(estimator, arranged, intake)
    )
    outcome = outcome._replace(ends=outcome.ends[arranged.seats])
    _set_fitted(estimator, problem, bandwidth, outcome, intake)


def predict_on(estimator: Any, X: Any, device: torch.device) -> Any:
    """Label new points, as ``predict`` does."""
    intake = to_device(estimator, X, None, device, reset=False)
    problem, ends, labels = estimator._fitted_
    dtype = torch.promote_types(intake.points.dtype, torch.as_tensor(ends[:0]).dtype)

    def tensor(values: Any) -> torch.Tensor:
        return torch.as_tensor(values, device=device)

    points, weights = tensor(problem.points).to(dtype), tensor(problem.weights)
    ends, labels = tensor(ends).to(dtype), tensor(labels)
    arranged = _arrange(problem._replace(points=points, weights=weights))
    starts = intake.points.to(dtype)
    if isinstance(problem.rule.space, Sphere):
        starts = normalised(starts)
    starts = starts * 2.0**-problem.exponent
    order = locality_order(starts)
    climbs = climb(
        make_field(estimator, arranged.problem),
        starts[order],
        tol=float(estimator.tol) * problem.scale,
        max_iter=estimator.max_iter,
        report=lambda **numbers: None,
    )
    predicted = torch.empty(len(starts), dtype=labels.dtype, device=device)
    found = labels[nearest_rows(ends, climbs.outcome.ends)]
    if climbs.lonely.any():
        centers = tensor(estimator.cluster_centers_).to(dtype) * 2.0**-problem.exponent
        lonely = starts[order][climbs.lonely]
        found[climbs.lonely] = nearest_rows(centers, lonely) if len(centers) else -1
    predicted[order] = found
    return intake.handed_back(predicted)


def pose(estimator: Any, intake: Intake) -> tuple[float, Problem]:
    """Return the bandwidth, as users give it, and the problem in its units, in tensors."""
    points = intake.points
    if estimator._on_sphere:
        points = normalised(points)
    bandwidth = _choose_bandwidth(estimator, points, intake.weights)
    radius = float(estimator._as_length(bandwidth))
    exponent = 0 if estimator._on_sphere else int(np.frexp(radius)[1]) - 1
    scaled = points * 2.0**-exponent
    if not bool(torch.isfinite(scaled).all()):
        raise ValueError(
            f"bandwidth={bandwidth!r} is too small for values as large as "
            f"{float(points.abs().max()):.2g} on a GPU. Take a larger one, or device='cpu'."
        )
    heaviest = int(np.frexp(float(intake.weights.max()))[1]) - 1
    space = Sphere() if estimator._on_sphere else Plane()
    radius = float(np.ldexp(radius, -exponent))
    return bandwidth, Problem(
        points=scaled,
        weights=intake.weights * 2.0**-heaviest,
        radius=radius,
        scale=radius,
        exponent=exponent,
        weight_exponent=heaviest,
        rule=Gaussian(space) if estimator.kernel == "gaussian" else Flat(space),
    )


def normalised(rows: torch.Tensor) -> torch.Tensor:
    """Divide every row by its length."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    zero = (largest[:, 0] == 0).nonzero()
    if len(zero):
        raise ValueError(
            f"X has a zero vector in row {int(zero[0])}, which has no direction; "
            "drop such rows, or take metric='euclidean'."
        )
    scaled = (rows / largest).double()
    return (scaled / torch.linalg.vector_norm(scaled, dim=1, keepdim=True)).to(rows.dtype)


def make_field(estimator: Any, problem: Problem) -> DeviceField:
    """Build the field that suits the number of features."""
    kind = FewField if problem.points.shape[1] <= FEW else ManyField
    return kind(problem.points, problem.weights, problem.radius, problem.rule, estimator.precision)


def _choose_bandwidth(estimator: Any, points: torch.Tensor, weights: torch.Tensor) -> float:
    """Choose a bandwidth by a sample of the points, on the CPU, if none is given."""
    if estimator.bandwidth is not None:
        return estimator._choose_bandwidth(None, None)
    generator = torch.Generator().manual_seed(0)
    rows = torch.randperm(len(points), generator=generator)[:_SAMPLE].sort().values
    rows = rows.to(points.device)
    bandwidth = estimator._choose_bandwidth(
        points[rows].cpu().numpy(), weights[rows].cpu().numpy(), plain=True
    )
    if not estimator.profile_.one_cluster or len(rows) == len(points):
        return bandwidth
    extent = float(torch.linalg.vector_norm(points.amax(dim=0) - points.amin(dim=0))) or 1.0
    return estimator._bandwidth_for(extent, estimator.profile_.dimension, points.shape[1])


def _arrange(problem: Problem) -> Sorted:
    order = locality_order(problem.points)
    seats = torch.empty_like(order)
    seats[order] = torch.arange(len(order), device=order.device)
    arranged = problem._replace(points=problem.points[order], weights=problem.weights[order])
    return Sorted(arranged, order, seats)


def _reporter(estimator: Any, arranged: Sorted, intake: Intake) -> Callable[..., None]:
    """Return what tells the callback about a sweep, in the units of the user."""
    callback = estimator.callback
    if callback is None:
        return lambda **numbers: None
    problem = arranged.problem
    length = float(estimator.merge_radius) * problem.scale

    def report(positions: Callable[[], torch.Tensor], **numbers: int) -> None:
        shown = positions()[arranged.seats]
        callback(
            Progress(
                max_iter=estimator.max_iter,
                positions=intake.handed_back(shown * 2.0**problem.exponent),
                count_clusters=lambda: int(connected_components(shown, length).max()) + 1,
                **numbers,
            )
        )

    return report


def _set_fitted(
    estimator: Any, problem: Problem, bandwidth: float, outcome: Outcome, intake: Intake
) -> None:
    """Merge, label, and set what a fit sets."""
    ends, weights = outcome.ends, problem.weights
    components = connected_components(ends, float(estimator.merge_radius) * problem.scale)
    labels = label_components(components, weights, estimator._min_size(problem))
    kept = labels
    if estimator.strays == "nearest":
        labels = join_strays(labels, ends, weights)
    centers = cluster_centers(ends, torch.where(kept >= 0, labels, -1), weights)
    if estimator._on_sphere:
        centers = put_back(centers, centers)
    back, kept_as = intake.handed_back, intake.kept
    positions = estimator._field_positions(problem, ends)
    estimator._fitted_ = Fitted(
        problem._replace(points=kept_as(positions), weights=back(weights)),
        kept_as(ends),
        back(labels),
    )
    unit = 2.0**problem.exponent
    estimator.labels_ = back(labels)
    estimator.modes_ = back(ends * unit)
    estimator.cluster_centers_ = back((centers * unit).to(ends.dtype))
    estimator.bandwidth_ = bandwidth
    estimator.scale_ = problem.scale * unit
    estimator.n_iter_ = outcome.n_iter
    estimator.n_steps_ = outcome.n_steps
    estimator.converged_ = outcome.converged
