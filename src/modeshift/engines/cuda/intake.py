"""Input of users as tensors on the device, and results in the kind of array of the input."""

from typing import Any, NamedTuple

import numpy as np
import torch

from modeshift.checks import ONLY_ZEROS, check_weights
from modeshift.engines.cpu.data import Data
from modeshift.engines.cuda.sphere import normalised
from modeshift.spec import Spec

_FLOATS = (torch.float32, torch.float64)


class Intake(NamedTuple):
    """Checked input.

    Attributes
    ----------
    points : Tensor of shape (n, d), float32 or float64
    weights : Tensor of shape (n,), float64
    as_tensors : bool
        Whether results are tensors, because X was one.
    """

    points: torch.Tensor
    weights: torch.Tensor
    as_tensors: bool

    def handed_back(self, values: torch.Tensor) -> Any:
        """Return a result in the kind of array of X."""
        return values if self.as_tensors else values.cpu().numpy()

    def on_host(self) -> Data:
        """Return the input as the CPU takes it."""
        points = self.points.cpu().numpy()
        return Data(points, self.weights.cpu().numpy(), points.dtype)


def example_of(X: Any) -> Any:
    """Return the input that scikit-learn checks: an array, or one row of a tensor's width."""
    if not isinstance(X, torch.Tensor):
        return X
    _check_tensor(X)
    return np.zeros((1, X.shape[1]))


def take_in(
    spec: Spec, X: Any, checked: np.ndarray, sample_weight: Any, device: torch.device
) -> Intake:
    """Check points and weights and bring them to the device; tensors must be there already."""
    if isinstance(X, torch.Tensor):
        intake = _of_tensor(X, sample_weight, device)
    else:
        if isinstance(sample_weight, torch.Tensor) and sample_weight.device.type != "cpu":
            raise ValueError(_mixed("sample_weight", sample_weight, "X is not a tensor"))
        points = torch.from_numpy(checked).to(device)
        weights = torch.from_numpy(check_weights(sample_weight, len(points))).to(device)
        intake = Intake(points, weights, as_tensors=False)
    if spec.on_sphere:
        return intake._replace(points=normalised(intake.points))
    if spec.feature_scale is not None:
        scale = intake.points.new_tensor(spec.feature_scale)
        return intake._replace(points=intake.points / scale)
    return intake


def _of_tensor(X: torch.Tensor, sample_weight: Any, device: torch.device) -> Intake:
    if X.device.type != device.type:
        raise ValueError(_mixed("X", X, f"the fit runs on {device.type}"))
    points = _as_floats(X)
    if sample_weight is None:
        return Intake(points, torch.ones(len(points), dtype=torch.float64, device=X.device), True)
    if not isinstance(sample_weight, torch.Tensor):
        weights = torch.from_numpy(check_weights(sample_weight, len(points))).to(X.device)
    elif sample_weight.device != X.device:
        raise ValueError(_mixed("sample_weight", sample_weight, f"X is on {X.device}"))
    else:
        weights = _check_weight_tensor(sample_weight, len(points))
    return Intake(points, weights, as_tensors=True)


def _mixed(name: str, tensor: torch.Tensor, why: str) -> str:
    return (
        f"{name} is a tensor on {tensor.device}, but {why}. Bring both to one device: "
        f"{name}.cuda() for tensors on the GPU, {name}.cpu().numpy() for arrays."
    )


def _check_tensor(X: torch.Tensor) -> None:
    """Check the shape of a tensor as scikit-learn checks an array."""
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, points and features, got shape {tuple(X.shape)}."
        )
    if X.is_complex():
        raise ValueError("Complex data not supported: X must be real.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"X must have at least one point and one feature, got shape {tuple(X.shape)}."
        )


def _as_floats(X: torch.Tensor) -> torch.Tensor:
    """Return a tensor as float32 or float64, checked to be finite on the device."""
    points = X.detach()
    if points.dtype not in _FLOATS:
        points = points.to(torch.float32 if points.is_floating_point() else torch.float64)
    if not bool(torch.isfinite(points).all()):
        raise ValueError(
            "X contains NaN or infinity. Drop these rows, or fill the values in; see "
            "docs/missing-values.md."
        )
    return points.contiguous()


def _check_weight_tensor(weights: torch.Tensor, n: int) -> torch.Tensor:
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), one weight for each point of X, "
            f"got {tuple(weights.shape)}."
        )
    weights = weights.detach().double()
    if not bool((torch.isfinite(weights) & (weights >= 0)).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    if not bool((weights > 0).any()):
        raise ValueError(ONLY_ZEROS)
    return weights
