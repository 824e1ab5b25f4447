"""The score of two-covariance PLDA, and the coordinates in which it is a distance.

PLDA (probabilistic linear discriminant analysis) models a vector as speaker plus noise: x = y + e,
with y ~ N(mu, B) once for each speaker and e ~ N(0, W) for each vector. The score of two vectors is
the log-likelihood ratio "same speaker" against "different speakers". If V diagonalises both
covariances, V'WV = 1 and V'BV = diag(psi), then with z = V'(x - mu)

    LLR(x, y) = c0 + g(x) + g(y) - |u(x) - u(y)|^2 / 2,    u_i = z_i sqrt(psi_i / (1 + 2 psi_i)),
    g(x) = sum_i u_i^2 / (1 + psi_i) / 2,    c0 = sum_i [log(1 + psi_i) - log(1 + 2 psi_i) / 2].

A datum stored at [u, sqrt(2 (M - g))], with M at least the largest g, and a question asked at
[u, 0] have the squared distance 2 (M + g(x) + c0 - LLR). So the nearest data are those of the
highest score, and "at least the score t" is a ball with a radius of its own for each question.

:class:`PLDAMetric` is the trained model as plain data. :mod:`modeshift.speech` trains it.
"""

from typing import Any, NamedTuple, Self

import numpy as np

_LEAST_PSI = 1e-8
"""Least psi, as a share of the largest. Directions without speakers keep their coordinates: the
place of a mean can be computed from them, and they add nothing to a score."""


class PLDAMetric(NamedTuple):
    """A trained PLDA as plain data, for ``metric=`` of the estimators.

    A row becomes ``(row - center) @ projection`` and then, with ``unit``, is divided by its length.
    These are the vectors x of the model.

    Attributes
    ----------
    center : ndarray of shape (n_features,)
    projection : ndarray of shape (n_features, d)
    unit : bool
        Whether x has length 1. Means are then put back to length 1.
    mean : ndarray of shape (d,)
        mu.
    basis : ndarray of shape (d, d)
        V.
    psi : ndarray of shape (d,)
        Variances between speakers in units of those within a speaker.
    """

    center: np.ndarray
    projection: np.ndarray
    unit: bool
    mean: np.ndarray
    basis: np.ndarray
    psi: np.ndarray

    @classmethod
    def of(cls, center: Any, projection: Any, unit: bool, mean: Any, basis: Any, psi: Any) -> Self:
        """Return a metric of checked float64 arrays; psi is limited from below."""
        center, projection, mean, basis, psi = (
            np.ascontiguousarray(part, dtype=np.float64)
            for part in (center, projection, mean, basis, psi)
        )
        n, d = len(center), len(psi)
        shapes = center.shape, projection.shape, mean.shape, basis.shape, psi.shape
        if shapes != ((n,), (n, d), (d,), (d, d), (d,)):
            raise ValueError(f"The parts of a PLDA do not fit together: their shapes are {shapes}.")
        if not all(np.isfinite(part).all() for part in (center, projection, mean, basis, psi)):
            raise ValueError("The parts of a PLDA must be finite numbers.")
        largest = psi.max()
        if not largest > 0.0:
            raise ValueError("A PLDA without variance between speakers scores all pairs alike.")
        psi = np.maximum(psi, _LEAST_PSI * largest)
        return cls(center, projection, bool(unit), mean, basis, psi)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PLDAMetric):
            return False
        parts: Any = zip(self, other, strict=True)
        return all(np.array_equal(a, b) for a, b in parts)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.unit, self.psi.tobytes()))

    def __repr__(self) -> str:
        return f"PLDAMetric(n_features={self.n_features}, dimension={len(self.psi)})"

    @property
    def n_features(self) -> int:
        """Number of columns of a row."""
        return len(self.center)

    @property
    def scales(self) -> np.ndarray:
        """Factors from z to u."""
        return np.sqrt(self.psi / (1.0 + 2.0 * self.psi))

    @property
    def frame(self) -> np.ndarray:
        """Matrix from u to x - mu: x = mu + u @ frame."""
        return np.ascontiguousarray(np.linalg.inv(self.basis) / self.scales[:, np.newaxis])

    @property
    def constant(self) -> float:
        """c0."""
        return float((np.log1p(self.psi) - 0.5 * np.log1p(2.0 * self.psi)).sum())

    @property
    def typical_gain(self) -> float:
        """The mean of g over vectors of the model."""
        return float(0.5 * (self.psi / (1.0 + 2.0 * self.psi)).sum())

    @property
    def self_score(self) -> float:
        """T = c0 + 2 E g: the score of a typical vector with itself."""
        return self.constant + 2.0 * self.typical_gain

    def vectors(self, rows: np.ndarray, name: str = "X") -> np.ndarray:
        """Return the vectors x of rows."""
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"{name} has {rows.shape[1]} features, but the PLDA was trained on "
                f"{self.n_features}."
            )
        x = (rows - self.center) @ self.projection
        if not self.unit:
            return x
        lengths = np.linalg.norm(x, axis=1, keepdims=True)
        if not lengths.all():
            row = int(np.flatnonzero(lengths[:, 0] == 0)[0])
            raise ValueError(
                f"{name} has the mean of the training data in row {row}, which has no direction; "
                "drop such rows."
            )
        return x / lengths

    def coordinates(self, rows: np.ndarray, name: str = "X") -> np.ndarray:
        """Return u for each row."""
        return (self.vectors(rows, name) - self.mean) @ self.basis * self.scales

    def gains(self, u: np.ndarray) -> np.ndarray:
        """Return g for each u."""
        return 0.5 * (u * u) @ (1.0 / (1.0 + self.psi))

    def rows_of(self, u: np.ndarray) -> np.ndarray:
        """Return rows with the coordinates u; the length of a row is lost if ``unit``."""
        x = self.mean + u @ self.frame
        return self.center + x @ np.linalg.pinv(self.projection)

    def scores(self, u: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the log-likelihood ratios of all pairs of two sets of coordinates."""
        cross = u @ others.T
        cross += (self.gains(u) - 0.5 * (u * u).sum(axis=1))[:, np.newaxis]
        cross += self.gains(others) - 0.5 * (others * others).sum(axis=1)
        return cross + self.constant

    def scores_with_means(self, u: np.ndarray, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the log-likelihood ratios of vectors and of means of several vectors.

        The mean of n vectors of a speaker has the noise W / n, so the speaker's y has the posterior
        mean m = n psi / (1 + n psi) z and the variance v = psi / (1 + n psi). The ratio is
        N(z'; m, 1 + v) / N(z'; 0, 1 + psi).
        """
        z, psi = u / self.scales, self.psi
        n = counts[:, np.newaxis]
        shrunk = n * psi / (1.0 + n * psi) * (means / self.scales)
        spread = 1.0 + psi / (1.0 + n * psi)
        ratio = z @ (shrunk / spread).T - 0.5 * (z * z) @ (1.0 / spread - 1.0 / (1.0 + psi)).T
        return ratio - 0.5 * (shrunk**2 / spread + np.log(spread / (1.0 + psi))).sum(axis=1)

    def bandwidth_at(self, score: float) -> float:
        """Return the bandwidth whose neighbours score at least ``score``.

        The bandwidth h stands for the score T - h^2 / 2, with T = ``self_score``.
        """
        if not score < self.self_score:
            raise ValueError(
                f"score must be below {self.self_score:.6g}, which a typical vector scores with "
                f"itself, got {score!r}."
            )
        return float(np.sqrt(2.0 * (self.self_score - score)))

    def score_at(self, bandwidth: float) -> float:
        """Return the least score of neighbours within a bandwidth: the inverse."""
        return float(self.self_score - 0.5 * bandwidth * bandwidth)
