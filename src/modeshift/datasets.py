"""The paper's data: seven sets of Gaussian classes (PAPER, Section 4).

The covariances are those of the paper's matrices. The variances 0.36^2 and 0.64^2 in its text are a
misprint: the published purities fit 0.36 and 0.64.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from modeshift.checks import check_real, check_whole


class PaperSet(NamedTuple):
    """Description of one set.

    Attributes
    ----------
    number : int
        Number of the set, 1 to 7.
    means : ndarray of shape (R, d)
    covariances : ndarray of shape (R, d, d)
    sizes : ndarray of shape (R,)
        Number of points of each class.
    """

    number: int
    means: np.ndarray
    covariances: np.ndarray
    sizes: np.ndarray


_CORNERS = [[1, 1], [-1, -1], [1, -1]]
_TIGHT = [[0.36, 0], [0, 0.36]]
_WIDE = [[0.64, 0], [0, 0.64]]

_SETS: dict[int, tuple[list, list, list]] = {
    1: (_CORNERS, [_TIGHT] * 3, [250, 250, 250]),
    2: (_CORNERS, [_WIDE] * 3, [250, 250, 250]),
    3: (_CORNERS, [_WIDE] * 3, [50, 50, 50]),
    4: (_CORNERS, [_WIDE] * 3, [1500, 1500, 1500]),
    5: (_CORNERS, [_WIDE] * 3, [100, 300, 20]),
    6: (
        _CORNERS,
        [_WIDE, [[0.73, 0.48], [0.48, 0.73]], [[1.09, -0.60], [-0.60, 1.09]]],
        [250, 250, 250],
    ),
    7: (
        [[1, 1, 1], [-1, -1, 0], [1, -1, 0], [-2, 2, 2]],
        [
            [[0.64, 0, 0], [0, 0.64, 0], [0, 0, 0.64]],
            [[0.74, 0.50, -0.20], [0.50, 0.77, -0.31], [-0.20, -0.31, 0.41]],
            [[1.09, -0.60, -0.24], [-0.60, 1.73, 1.60], [-0.24, 1.60, 1.64]],
            [[0.77, 0.58, 0.73], [0.58, 0.56, 0.46], [0.73, 0.46, 0.78]],
        ],
        [250, 300, 200, 200],
    ),
}


def paper_set(index: int) -> PaperSet:
    """Return the description of one of the paper's sets.

    Parameters
    ----------
    index : int
        1 to 7.

    Examples
    --------
    >>> from modeshift.datasets import paper_set
    >>> description = paper_set(3)
    >>> description.sizes.tolist(), description.means.tolist()
    ([50, 50, 50], [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    """
    check_whole("index", index, low=1)
    if index not in _SETS:
        raise ValueError(f"index must be the number of a set of the paper, 1 to 7, got {index!r}.")
    means, covariances, sizes = _SETS[index]
    return PaperSet(int(index), np.array(means, float), np.array(covariances), np.array(sizes))


def make_paper_set(
    index: int, *, scale: float = 1, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw one of the paper's sets.

    Parameters
    ----------
    index : int
        1 to 7.
    scale : float, default=1
        Factor of the class sizes, which are then rounded to at least 1. The paper's larger variant
        of Set 5 is ``scale=12.5``.
    random_state : int, RandomState instance or None
        Seed for the points.

    Returns
    -------
    X : ndarray of shape (n, d)
        Points, class after class.
    y : ndarray of shape (n,)
        Class of each point, counted from 0.

    Examples
    --------
    >>> from modeshift.datasets import make_paper_set
    >>> X, y = make_paper_set(3, random_state=0)
    >>> X.shape, int(y.max())
    ((150, 2), 2)
    """
    description = paper_set(index)
    check_real("scale", scale, low=0.0, low_allowed=False)
    rng = check_random_state(random_state)
    sizes = np.maximum(1, np.rint(description.sizes * scale).astype(int))
    # One normal matrix per class and a Cholesky factor: the same points on every platform.
    X = [
        mean + rng.standard_normal((size, len(mean))) @ np.linalg.cholesky(covariance).T
        for mean, covariance, size in zip(
            description.means, description.covariances, sizes, strict=True
        )
    ]
    return np.concatenate(X), np.repeat(np.arange(len(sizes)), sizes)
