"""Points and weights in memory, checked."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.checks import check_weights
from modeshift.engines.cpu.sphere import normalised
from modeshift.spec import Spec


class Data(NamedTuple):
    """Checked input.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        In the user's units; unit vectors with cosine distance.
    weights : ndarray of shape (n,), float64
    dtype : dtype
        float32 or float64, the type of the results.
    """

    points: np.ndarray
    weights: np.ndarray
    dtype: np.dtype


def take_in(spec: Spec, checked: np.ndarray, sample_weight: Any) -> Data:
    """Check the weights; with the cosine metric, put the points on the sphere."""
    weights = check_weights(sample_weight, len(checked))
    points = normalised(checked, "X") if spec.on_sphere else checked
    if spec.feature_scale is not None:
        points = points / np.array(spec.feature_scale)
    return Data(points, weights, checked.dtype)
