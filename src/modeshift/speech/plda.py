"""Training of two-covariance PLDA, and files of models."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from modeshift.checks import check_flag, check_real, check_whole
from modeshift.io import models
from modeshift.io.whole_file import whole_file
from modeshift.plda import PLDAMetric
from modeshift.speech.kaldi import read_plda

_REGISTER: dict[str, type] = {"plda": PLDAMetric}


class TwoCovariancePLDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """PLDA with two full covariances: between speakers, and within a speaker.

    x = y + e with y ~ N(mu, B) once for each speaker and e ~ N(0, W) for each vector. Rows are
    centred and multiplied by the inverse root of W first, with ``n_components`` only the leading
    directions of linear discriminant analysis stay, and with ``unit_length`` every vector is
    divided by its length. Then B and W are estimated by moments, and by EM from there
    (docs/plda.md).

    Parameters
    ----------
    n_components : int, default=None
        Number of directions that stay. None: all.
    unit_length : bool, default=True
        Whether vectors are divided by their length before B and W are estimated.
    max_iter : int, default=10
        Steps of EM after the estimate by moments; 0 leaves that estimate.
    shrinkage : float, default=1.0
        Strength of the prior in units of the number of features. With S speakers and N vectors in d
        dimensions, B counts S and W counts N - S observations, and a multiple of the identity of
        the same trace counts ``shrinkage * d``. 0: no prior.

    Attributes
    ----------
    metric_ : PLDAMetric
        The model as plain data: ``metric=`` of the estimators and of ``cluster_speakers``.
    n_iter_ : int
        Steps of EM that were taken.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.speech import TwoCovariancePLDA
    >>> rng = np.random.RandomState(0)
    >>> speaker = np.arange(30).repeat(8)
    >>> X = rng.standard_normal((30, 5))[speaker] + 0.3 * rng.standard_normal((240, 5))
    >>> plda = TwoCovariancePLDA().fit(X, speaker)
    >>> scores = plda.score_pairs(X[:8], X[:16])
    >>> bool(scores[:, :8].min() > scores[:, 8:].max())
    True
    """

    def __init__(
        self,
        *,
        n_components: int | None = None,
        unit_length: bool = True,
        max_iter: int = 10,
        shrinkage: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.unit_length = unit_length
        self.max_iter = max_iter
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any) -> Self:
        """Train on vectors and their speakers.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            The speaker of each row. There must be two speakers, and one with two rows.
        """
        checked, y = validate_data(self, X, y, dtype=np.float64)
        names, owners = np.unique(y, return_inverse=True)
        check_flag("unit_length", self.unit_length)
        steps = check_whole("max_iter", self.max_iter, low=0)
        strength = check_real("shrinkage", self.shrinkage, low=0.0) * checked.shape[1]
        if len(names) < 2 or len(names) == len(owners):
            raise ValueError(
                "y must have at least two classes, and one of them two rows, got "
                f"{len(names)} class{'es' if len(names) > 1 else ''} in {len(owners)} rows."
            )
        center, projection = self._projection(checked, owners, strength)
        identity = np.eye(projection.shape[1])
        zeros, ones = np.zeros(len(identity)), np.ones(len(identity))
        first = PLDAMetric.of(center, projection, self.unit_length, zeros, identity, ones)
        mean, between, within = moments(first.vectors(checked), owners, strength)
        x = first.vectors(checked) - mean
        for _ in range(steps):
            between, within, shift = em_step(x, owners, between, within, strength)
            x, mean = x - shift, mean + shift
        psi, basis = diagonalised(between, within)
        return self._publish(
            PLDAMetric.of(center, projection, self.unit_length, mean, basis, psi), steps
        )

    def _publish(self, metric: PLDAMetric, n_iter: int) -> Self:
        """Set the fitted attributes. No other method does."""
        self.metric_, self.n_iter_, self.n_features_in_ = metric, n_iter, metric.n_features
        return self

    def _projection(
        self, X: np.ndarray, owners: np.ndarray, strength: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the centre, and the directions in which W is the identity, most telling first."""
        center, between, within = moments(X, owners, strength)
        _, basis = diagonalised(between, within)
        if self.n_components is None:
            return center, basis
        wanted = check_whole("n_components", self.n_components, low=1)
        if wanted > X.shape[1]:
            raise ValueError(f"n_components={wanted}, but X has {X.shape[1]} features.")
        return center, basis[:, :wanted]

    def score_pairs(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the log-likelihood ratio "same speaker" against "different" of all pairs.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        Y : array-like of shape (m, n_features), default=None
            None: the rows of X.

        Returns
        -------
        ndarray of shape (n, m)
        """
        first = self._coordinates(X)
        return self.metric_.scores(first, first if Y is None else self._coordinates(Y))

    def transform(self, X: Any) -> np.ndarray:
        """Return coordinates u, in which distances are scores.

        ``|u(x) - u(y)|^2 / 2`` is minus the score, up to ``g(x) + g(y) + c0`` (``modeshift.plda``).
        """
        return self._coordinates(X)

    def _coordinates(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.metric_.coordinates(validate_data(self, X, dtype=np.float64, reset=False))

    @property
    def _n_features_out(self) -> int:
        return len(self.metric_.psi)

    def save(self, path: Any) -> None:
        """Write the trained model to an NPZ file, without pickle."""
        check_is_fitted(self)
        with whole_file(Path(path)) as file:
            models.save(file, self.metric_, _REGISTER)

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read a model that ``save`` wrote."""
        return cls.of(models.load(path, _REGISTER, _metric_of))

    @classmethod
    def read_kaldi(cls, path: Any) -> Self:
        """Read a PLDA of Kaldi, text or binary.

        Kaldi divides vectors by their length outside of this file (``ivector-normalize-length``),
        so ``unit`` is False: pass vectors as they were passed to ``ivector-plda-scoring`` with
        ``--normalize-length=false``.
        """
        mean, basis, psi = read_plda(path)
        d = len(psi)
        return cls.of(PLDAMetric.of(np.zeros(d), np.eye(d), False, mean, basis, psi))

    @classmethod
    def of(cls, metric: PLDAMetric) -> Self:
        """Return a fitted transformer for a trained model."""
        return cls(unit_length=metric.unit)._publish(metric, 0)


def _metric_of(content: Any) -> PLDAMetric:
    if not isinstance(content, PLDAMetric):
        raise ValueError("it holds no PLDA")
    return PLDAMetric.of(*content)


def moments(
    x: np.ndarray, owners: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean, B and W by moments.

    With S classes of n_k rows, N in all, and the scatter matrices S_w within and S_b between:
    W = S_w / (N - S), B = (S_b / (S - 1) - W) / n0 with n0 = (N - sum n_k^2 / N) / (S - 1), and
    negative eigenvalues of B set to 0.
    """
    counts = np.bincount(owners).astype(np.float64)
    n, n_classes = counts.sum(), len(counts)
    means = _sums(x, owners) / counts[:, np.newaxis]
    mean = x.mean(axis=0)
    inner = x - means[owners]
    within = inner.T @ inner / (n - n_classes)
    outer = (means - mean) * np.sqrt(counts)[:, np.newaxis]
    typical = (n - (counts**2).sum() / n) / (n_classes - 1)
    between = (outer.T @ outer / (n_classes - 1) - within) / typical
    values, axes = np.linalg.eigh(between)
    between = (axes * np.maximum(values, 0.0)) @ axes.T
    within = towards_identity(within, n - n_classes, strength)
    return mean, towards_identity(between, n_classes, strength), within


def towards_identity(covariance: np.ndarray, n: float, strength: float) -> np.ndarray:
    """Return (n C + s (trace C / d) I) / (n + s), and never a singular matrix."""
    d = len(covariance)
    level = float(np.trace(covariance)) / d
    if not level > 0.0:
        raise ValueError("The rows of every class coincide, or the means of all classes do.")
    share = max(strength / (n + strength), 1e-9)
    return (1.0 - share) * covariance + share * level * np.eye(d)


def diagonalised(between: np.ndarray, within: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return psi, falling, and V with V'WV = 1 and V'BV = diag(psi)."""
    psi, basis = eigh(between, within)
    return psi[::-1], basis[:, ::-1]


def em_step(
    x: np.ndarray, owners: np.ndarray, between: np.ndarray, within: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return B, W and the shift of the mean after one step of EM, for centred rows.

    In the coordinates z = V'x the posterior of a speaker with n vectors of mean z has the mean
    m = n psi / (1 + n psi) z and the variances v = psi / (1 + n psi). B becomes the mean of
    m m' + v, and W the mean of (x - m)(x - m)' + v.
    """
    psi, basis = diagonalised(between, within)
    psi = np.maximum(psi, 0.0)
    counts = np.bincount(owners).astype(np.float64)
    n = counts[:, np.newaxis]
    z = x @ basis
    posterior = n * psi / (1.0 + n * psi) * (_sums(z, owners) / n)
    spread = psi / (1.0 + n * psi)
    shift = posterior.mean(axis=0)
    centred = posterior - shift
    inner = z - posterior[owners]
    new_between = centred.T @ centred / len(counts) + np.diag(spread.mean(axis=0))
    new_within = (inner.T @ inner + np.diag((n * spread).sum(axis=0))) / len(z)
    back = np.linalg.inv(basis)
    return (
        towards_identity(back.T @ new_between @ back, len(counts), strength),
        towards_identity(back.T @ new_within @ back, len(z) - len(counts), strength),
        shift @ back,
    )


def _sums(x: np.ndarray, owners: np.ndarray) -> np.ndarray:
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners)
    return np.add.reduceat(x[order], np.concatenate([[0], np.cumsum(counts)[:-1]]), axis=0)
