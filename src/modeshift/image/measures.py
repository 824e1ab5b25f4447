"""Measures of a segmentation against segmentations by people.

All three compare label images of the same shape, by the table of pixels that two regions share.
Labels may be any whole numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Measures(NamedTuple):
    """The three measures of BSDS500 (Arbelaez et al. 2011, Section 3.1).

    Attributes
    ----------
    covering : float
        From 0 to 1; 1 is the best.
    rand_index : float
        The probabilistic Rand index, from 0 to 1; 1 is the best.
    variation : float
        Variation of information in bits, from 0; 0 is the best.
    """

    covering: float
    rand_index: float
    variation: float


def compare(labels: Any, truths: Sequence[Any]) -> Measures:
    """Return the covering, the Rand index and the variation, each as a mean over the truths.

    Parameters
    ----------
    labels : array of whole numbers
        The segmentation.
    truths : sequence of arrays of the same shape
        The same picture, segmented by people.

    Examples
    --------
    >>> from modeshift.image.measures import compare
    >>> compare([[1, 1, 2, 2]], [[[1, 1, 2, 2]], [[1, 1, 1, 2]]])
    Measures(covering=0.8125, rand_index=0.75, variation=0.5943609377704335)
    """
    tables = [_shared_pixels(labels, truth) for truth in _listed(truths)]
    return Measures(
        float(np.mean([_covering(table) for table in tables])),
        float(np.mean([_rand_index(table) for table in tables])),
        float(np.mean([_variation(table) for table in tables])),
    )


def covering(labels: Any, truth: Any) -> float:
    """Return how well regions of ``labels`` cover those of ``truth``.

    ``C = 1/N sum_R |R| max_S |R and S| / |R or S|``, over the regions R of ``truth`` and S of
    ``labels``. It is not symmetric.

    Examples
    --------
    >>> from modeshift.image.measures import covering
    >>> covering([[1, 1, 2, 2]], [[1, 1, 1, 1]])
    0.5
    """
    return _covering(_shared_pixels(labels, truth))


def rand_index(labels: Any, truth: Any) -> float:
    """Return the share of pairs of pixels that are together in both images or in neither.

    Examples
    --------
    >>> from modeshift.image.measures import rand_index
    >>> rand_index([[1, 1, 2, 2]], [[1, 1, 1, 2]])
    0.5
    """
    return _rand_index(_shared_pixels(labels, truth))


def variation_of_information(labels: Any, truth: Any) -> float:
    """Return H(S | R) + H(R | S) in bits, for the region S of a pixel and its true region R.

    Examples
    --------
    >>> from modeshift.image.measures import variation_of_information
    >>> variation_of_information([[1, 1, 2, 2]], [[1, 1, 1, 1]])
    1.0
    """
    return _variation(_shared_pixels(labels, truth))


def _listed(truths: Sequence[Any]) -> list[Any]:
    listed = list(truths)
    if not listed:
        raise ValueError("truths must hold at least one label image, got none.")
    return listed


def _shared_pixels(labels: Any, truth: Any) -> np.ndarray:
    """Return the table of pixels: a row for each region of labels, a column for each of truth."""
    labels, truth = np.asarray(labels), np.asarray(truth)
    if labels.shape != truth.shape:
        raise ValueError(
            f"labels and truth must have the same shape, got {labels.shape} and {truth.shape}."
        )
    if labels.size == 0:
        raise ValueError(f"labels must have at least one pixel, got the shape {labels.shape}.")
    rows, columns = _numbered(labels), _numbered(truth)
    n_columns = int(columns.max()) + 1
    n_cells = (int(rows.max()) + 1) * n_columns
    return np.bincount(rows * n_columns + columns, minlength=n_cells).reshape(-1, n_columns)


def _numbered(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind not in "iub":
        raise TypeError(f"label images hold whole numbers, got {labels.dtype}.")
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def _covering(table: np.ndarray) -> float:
    of_labels, of_truth = table.sum(axis=1, keepdims=True), table.sum(axis=0)
    overlaps = table / (of_labels + of_truth - table)
    return float((of_truth * overlaps.max(axis=0)).sum() / of_truth.sum())


def _rand_index(table: np.ndarray) -> float:
    n = int(table.sum())
    if n == 1:
        return 1.0
    together = _pairs(table)
    apart = _pairs(np.array(n)) - _pairs(table.sum(axis=1)) - _pairs(table.sum(axis=0)) + together
    return (together + apart) / _pairs(np.array(n))


def _pairs(counts: np.ndarray) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


def _variation(table: np.ndarray) -> float:
    joint = table / table.sum()
    both, of_labels, of_truth = (
        _entropy(shares) for shares in (joint, joint.sum(axis=1), joint.sum(axis=0))
    )
    return max(0.0, 2 * both - of_labels - of_truth)


def _entropy(shares: np.ndarray) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())
