"""Points and weights in memory, checked."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.checks import check_each_weight, check_weights
from modeshift.engines.cpu.chart import chart_of
from modeshift.spec import Spec


class Data(NamedTuple):
    """Checked input.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        In the user's units; unit vectors with cosine and haversine distance.
    weights : ndarray of shape (n,), float64
    dtype : dtype
        float32 or float64, the type of the results.
    """

    points: np.ndarray
    weights: np.ndarray
    dtype: np.dtype


def take_in(spec: Spec, checked: np.ndarray, sample_weight: Any, *, part: bool = False) -> Data:
    """Check the weights, and turn rows into points.

    All weights of a ``part`` of the data may be 0.
    """
    if part and sample_weight is not None:
        weights = check_each_weight("sample_weight", sample_weight, len(checked))
    else:
        weights = check_weights(sample_weight, len(checked))
    return Data(chart_of(spec).points(checked, "X"), weights, checked.dtype)
