"""Whether there are clusters at all: evidence, the limit that chance reaches, and a p-value."""

import numpy as np

from modeshift.choice.factors import Factors

_LEVEL = 0.05
_TAIL = 3.5  # power by which the upper tail of uniform data falls, from 10% to 1%
_LIKE_A_BOX, _ROUND = 0.2, 0.4  # roundness: at most that of a uniform box, and clearly more


def evidence_of(factors: Factors) -> float:
    """Return the evidence of clusters, from the labels of ``MeanShift`` with plain radii.

    With H radii::

        V = 1/H^2 sum over h, h' of max(0, ARI(h, h'))^4 (second(h) kept(h)^15 + depth(h) / 2)

    Labels of the other schedules tell clusters from chance less well, so these are always used.
    """
    worth = factors.second * factors.kept**15 + 0.5 * factors.depth
    return float((factors.persistence * worth).sum() / factors.n_radii)


def roundness(points: np.ndarray, weights: np.ndarray) -> float:
    """Return the kurtosis over all directions: 0 for a uniform box, 1 for a Gaussian.

    With z the points in units of their covariance, in d dimensions, Mardia's kurtosis (1970) is
    k = mean of |z|^4 / (d (d + 2)). A Gaussian has k = 1, a box b = (d + 0.8) / (d + 2). Returned
    is (k - b) / (1 - b), which is large for heavy tails. Data without extent count as a box.
    """
    shares = weights / weights.sum()
    offsets = points - shares @ points
    values, axes = np.linalg.eigh((offsets * shares[:, np.newaxis]).T @ offsets)
    real = values > 1e-9 * values.max()
    if not real.any():
        return 0.0
    squares = ((offsets @ axes[:, real]) ** 2 / values[real]).sum(axis=1)
    d = int(real.sum())
    kurtosis, box = float(shares @ squares**2 / (d * (d + 2))), (d + 0.8) / (d + 2)
    return (kurtosis - box) / (1.0 - box)


def evidence_limit(total: float, dimension: float, rounded: float) -> float:
    """Return the evidence that data without clusters exceed in at most 5% of the draws.

    Fitted to uniform, Gaussian and heavy-tailed data in 1 to 8 dimensions with N = 100 to 1,500
    points (100 to 150 draws of each of 59 kinds; at most 3.4% exceed the limit in the mean, 10% in
    the worst kind). Uniform data reach most. With nu the dimension::

        max(0.00264 nu^-2.1, 0.00012) (1 + max(3.6 nu^-1.5, 1.5) 100 / N),    at least 0.00035

    Gaussian and heavy-tailed data reach less, the more so in more dimensions. So where
    :func:`roundness` rises from 0.2 to 0.4 the limit falls by the share 0.45 - 0.25 / nu^2: by a
    fifth on a line, by two fifths in space.
    """
    nu = max(dimension, 1.0)
    few_points = max(3.6 * nu**-1.5, 1.5) * 100.0 / total
    limit = max(max(0.00264 * nu**-2.1, 0.00012) * (1.0 + few_points), 0.00035)
    less = 0.45 - 0.25 / nu**2
    steps = (rounded - _LIKE_A_BOX) / (_ROUND - _LIKE_A_BOX)
    return limit * (1.0 - less * float(np.clip(steps, 0.0, 1.0)))


def p_value_of(evidence: float, limit: float) -> float:
    """Return the chance of as much evidence without clusters: 0.05 (limit / V)^3.5, at most 1."""
    if evidence <= 0.0:
        return 1.0
    return float(min(1.0, _LEVEL * (limit / evidence) ** _TAIL))
