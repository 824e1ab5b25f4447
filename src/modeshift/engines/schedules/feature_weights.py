"""Feature weights that are learned while points blur (Chakraborty, Paul, Das, AAAI 2021)."""

import numpy as np

_SMALLEST = 600.0  # factors end at exp(-600): their squares are 0, but they can be divided by


class FeatureWeights:
    """The metric |x - y|^2 = sum_l w_l (x_l - y_l)^2, whose weights follow how features move.

    At the start w_l = 1 / d. After a sweep D_l is the mean squared displacement of feature l from
    the original data, and w_l = exp(-D_l / lambda) / sum_l' exp(-D_l' / lambda) (Section 3 of the
    paper): features that must be changed much to form clusters count little.

    Distances are Euclidean once every feature is multiplied by sqrt(w_l), and a mean is the same
    point in either coordinates, so fields need not know.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The original data.
    weights : ndarray of shape (n,)
        Of the points.
    temperature : float
        lambda, in the square of the unit that users have.
    exponent : int
        The unit of the points is 2 ** exponent of that unit.

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
        """Set the weights by how far points have moved, feature by feature."""
        with np.errstate(over="ignore"):
            displacements = self._shares @ (positions - self._points) ** 2
            excess = np.ldexp(displacements - displacements.min(), 2 * self._exponent)
            halves = np.minimum(0.5 * excess / self._temperature, _SMALLEST)
        shares = np.exp(-halves)
        self.factors = shares / np.linalg.norm(shares)
