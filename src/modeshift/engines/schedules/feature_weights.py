"""Feature weights that are learned while points blur (Chakraborty, Paul, Das, AAAI 2021)."""

import numpy as np

_SMALLEST = 600.0  # smallest factor is exp(-600): its square is 0, but division by it works


class FeatureWeights:
    """The metric |x - y|^2 = sum_l w_l (x_l - y_l)^2 with learned weights w_l.

    At the start w_l = 1 / d. After a sweep D_l is the mean squared displacement of feature l from
    the original data, and w_l = exp(-D_l / lambda) / sum_l' exp(-D_l' / lambda) (Section 3 of the
    paper): features in which points move far count little.

    Distances are Euclidean after every feature is multiplied by sqrt(w_l), and the mean is the same
    point in both coordinates. So fields need no change.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The original data.
    weights : ndarray of shape (n,)
        Weight of each point.
    temperature : float
        lambda, in the squared unit of the user.
    exponent : int
        The unit of the points is 2 ** exponent units of the user.

    Attributes
    ----------
    factors : ndarray of shape (d,)
        sqrt(w_l).
    """

    def __init__(
        self, points: np.ndarray, weights: np.ndarray, temperature: float, exponent: int
    ) -> None:
        self._points = points
        self._shares = weights / weights.sum()
        self._temperature = temperature
        self._exponent = exponent
        d = points.shape[1]
        self.factors = np.full(d, np.sqrt(1.0 / d))

    def learn(self, positions: np.ndarray) -> None:
        """Set the weights from the displacement of the points in each feature."""
        gaps = positions - self._points
        longest = np.maximum(np.abs(gaps).max(axis=0), np.finfo(float).tiny)
        lengths = longest * np.sqrt(self._shares @ (gaps / longest) ** 2)  # squares may overflow
        shortest = lengths.min()
        with np.errstate(over="ignore"):
            excess = (lengths - shortest) * (lengths + shortest)
            excess = np.ldexp(excess, 2 * self._exponent)
            halves = np.minimum(0.5 * excess / self._temperature, _SMALLEST)
        shares = np.exp(-halves)
        self.factors = shares / np.linalg.norm(shares)
