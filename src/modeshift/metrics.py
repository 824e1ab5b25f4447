"""The paper's criteria: how pure clusters and classes are (PAPER, Section 3).

With n_qr points of cluster q in class r, Q clusters, R classes and N points::

    ACP   = 1/Q sum_q sum_r n_qr^2 / n_q.^2      Pur_C = 1/N sum_q max_r n_qr
    ASP   = 1/R sum_r sum_q n_qr^2 / n_.r^2      Pur_D = 1/N sum_r max_q n_qr
    K     = sqrt(ACP ASP)                        G     = sqrt(Pur_C Pur_D)

A predicted label of -1 is noise: each such point counts as a cluster of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

MEANINGS = {
    "ACP": "average cluster purity: mean over the clusters",
    "ASP": "average class purity (speakers, in the paper): mean over the classes",
    "K": "geometric mean of ACP and ASP",
    "Pur_C": "cluster purity: share of points in the most common class of their cluster",
    "Pur_D": "class purity: share of points in the most common cluster of their class",
    "G": "geometric mean of Pur_C and Pur_D",
    "clusters": "number of clusters",
}
"""The seven columns of the paper's tables, spelled out."""


class PurityReport(NamedTuple):
    """The seven columns of the paper's tables; ``MEANINGS`` spells them out."""

    acp: float
    asp: float
    k: float
    pur_c: float
    pur_d: float
    g: float
    n_clusters: int


def average_cluster_purity(labels_true: Any, labels_pred: Any, *, weighted: bool = False) -> float:
    """Mean over the clusters of the purity of a cluster (ACP).

    The purity of the cluster q is ``sum_r n_qr^2 / n_q.^2``.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.
    weighted : bool, default=False
        False: each cluster counts the same, as in the paper. True: by its size (Ajmera 2002).

    Examples
    --------
    >>> from modeshift.metrics import average_cluster_purity
    >>> average_cluster_purity([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1])
    0.8125
    >>> round(average_cluster_purity([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1], weighted=True), 3)
    0.75
    """
    return _average_purity(_contingency(labels_true, labels_pred), weighted)


def average_class_purity(labels_true: Any, labels_pred: Any, *, weighted: bool = False) -> float:
    """Mean over the classes of the purity of a class (ASP).

    The purity of the class r is ``sum_q n_qr^2 / n_.r^2``.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.
    weighted : bool, default=False
        False: each class counts the same, as in the paper. True: by its size (Ajmera 2002).

    Examples
    --------
    >>> from modeshift.metrics import average_class_purity
    >>> round(average_class_purity([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]), 3)
    0.778
    """
    return _average_purity(_contingency(labels_true, labels_pred).T, weighted)


def k_score(labels_true: Any, labels_pred: Any, *, weighted: bool = False) -> float:
    """Geometric mean of average cluster purity and average class purity (K).

    The unweighted K can mislead. With one giant cluster and a few dozen single points it can be
    0.97, although the adjusted Rand index is 0: most clusters are pure, and the classes are whole.
    Look at ``weighted=True`` or at the adjusted Rand index as well.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.
    weighted : bool, default=False
        False: each cluster and class counts the same, as in the paper. True: by its size.

    Examples
    --------
    >>> from modeshift.metrics import k_score
    >>> round(k_score([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]), 3)
    0.795
    """
    return purity_report(labels_true, labels_pred, weighted=weighted).k


def cluster_purity(labels_true: Any, labels_pred: Any) -> float:
    """Share of points that belong to the most common class of their cluster (Pur_C).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.

    Examples
    --------
    >>> from modeshift.metrics import cluster_purity
    >>> round(cluster_purity([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]), 3)
    0.833
    """
    return _purity(_contingency(labels_true, labels_pred))


def class_purity(labels_true: Any, labels_pred: Any) -> float:
    """Share of points that belong to the most common cluster of their class (Pur_D).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.

    Examples
    --------
    >>> from modeshift.metrics import class_purity
    >>> class_purity([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 2, 3])
    0.6666666666666666
    """
    return _purity(_contingency(labels_true, labels_pred).T)


def g_score(labels_true: Any, labels_pred: Any) -> float:
    """Geometric mean of cluster purity and class purity (G).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.

    Examples
    --------
    >>> from modeshift.metrics import g_score
    >>> round(g_score([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]), 3)
    0.833
    """
    return purity_report(labels_true, labels_pred).g


def purity_report(labels_true: Any, labels_pred: Any, *, weighted: bool = False) -> PurityReport:
    """Return all seven columns of the paper's tables.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters: any hashable labels.
    weighted : bool, default=False
        True: ACP, ASP and K are weighted by size.

    Examples
    --------
    >>> from modeshift.metrics import purity_report
    >>> report = purity_report([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0])
    >>> round(report.k, 3), round(report.pur_c, 3), report.n_clusters
    (0.795, 0.833, 2)
    """
    table = _contingency(labels_true, labels_pred)
    acp, asp = _average_purity(table, weighted), _average_purity(table.T, weighted)
    pur_c, pur_d = _purity(table), _purity(table.T)
    k, g = float(np.sqrt(acp * asp)), float(np.sqrt(pur_c * pur_d))
    return PurityReport(acp, asp, k, pur_c, pur_d, g, table.shape[0])


def _average_purity(table: csr_array, weighted: bool) -> float:
    """Return the mean of sum_r n_qr^2 / n_q.^2 over the rows, plain or weighted by size."""
    sizes = table.sum(axis=1)
    purities = (table * table).sum(axis=1) / sizes**2
    return float(np.average(purities, weights=sizes if weighted else None))


def _purity(table: csr_array) -> float:
    return float(table.max(axis=1).toarray().sum() / table.sum())


def _contingency(labels_true: Any, labels_pred: Any) -> csr_array:
    """Return the counts n_qr, sparse: a row for each cluster, a column for each class."""
    classes, _ = _encode("labels_true", labels_true)
    clusters, values = _encode("labels_pred", labels_pred)
    if len(classes) != len(clusters):
        raise ValueError(
            "labels_true and labels_pred must have the same length, "
            f"got {len(classes)} and {len(clusters)}."
        )
    is_noise = np.array([_is_noise(value) for value in values])[clusters]
    clusters[is_noise] = len(values) + np.arange(is_noise.sum())
    clusters = np.unique(clusters, return_inverse=True)[1]
    return csr_array((np.ones(len(classes)), (clusters, classes)))


def _is_noise(label: Any) -> bool:
    return isinstance(label, int | float | np.number) and label == -1


def _encode(name: str, labels: Any) -> tuple[np.ndarray, list]:
    """Number the labels; return the numbers and the distinct labels."""
    array = labels if isinstance(labels, list | tuple) else np.asarray(labels)
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}.")
    if len(array) == 0:
        raise ValueError(f"{name} must have at least one label, got none.")
    if isinstance(array, np.ndarray) and array.dtype.kind in "biufUS":
        distinct, codes = np.unique(array, return_inverse=True)
        values = list(distinct)
    else:
        numbers: dict = {}
        codes = np.array([numbers.setdefault(label, len(numbers)) for label in array])
        values = list(numbers)
    if any(value != value for value in values):
        raise ValueError(f"{name} must not contain NaN; drop these points, or give them a label.")
    return codes, values
