"""Cosine distance: points on the unit sphere.

For unit vectors |x - y|^2 = 2 (1 - cos(x, y)). So a ball of cosine distance is a ball of the chord
|x - y|, and all code for Euclidean distances applies.
"""

import numpy as np

from modeshift.engines.rule import NO_DIRECTION


def normalised(rows: np.ndarray, name: str) -> np.ndarray:
    """Divide every row by its length, in float64.

    A power of two is taken out first, so that squares neither overflow nor vanish.
    """
    largest = np.abs(rows).max(axis=1)
    zero = np.flatnonzero(largest == 0)
    if zero.size:
        raise ValueError(
            f"{name} has a zero vector in row {zero[0]}, which has no direction; "
            "drop such rows, or take metric='euclidean'."
        )
    exponents = np.frexp(largest)[1]
    scaled = np.ldexp(rows, -exponents[:, np.newaxis], dtype=np.float64)
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def put_back(means: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Put means back on the unit sphere; a mean of length 0 becomes ``otherwise``."""
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    clear = lengths > NO_DIRECTION
    return np.where(clear, means / np.where(clear, lengths, 1.0), otherwise)
