"""The adapter for NumPy arrays; see :mod:`modeshift.engines.arrays`."""

from typing import Any

import numpy as np


class NumpyArrays:
    """NumPy arrays."""

    def copy(self, values: np.ndarray) -> np.ndarray:
        """Copy an array."""
        return values.copy()

    def in_double(self, values: np.ndarray) -> np.ndarray:
        """Return values as float64."""
        return values.astype(np.float64, copy=False)

    def to_numpy(self, values: np.ndarray) -> np.ndarray:
        """Return the values as they are."""
        return values

    def arange(self, n: int) -> np.ndarray:
        """Return 0 to n - 1."""
        return np.arange(n)

    def full(self, n: int, value: bool | int) -> np.ndarray:
        """Return an array of n equal values."""
        return np.full(n, value)

    def nonzero(self, mask: np.ndarray) -> np.ndarray:
        """Return the positions at which a mask is True."""
        return np.flatnonzero(mask)

    def where(self, mask: np.ndarray, values: Any, others: Any) -> np.ndarray:
        """Choose between two values, element by element."""
        return np.where(mask, values, others)

    def concatenate(self, parts: list[np.ndarray]) -> np.ndarray:
        """Join arrays, row after row."""
        return np.concatenate(parts)

    def log(self, values: np.ndarray) -> np.ndarray:
        """Return natural logarithms; that of 0 is -inf."""
        with np.errstate(divide="ignore"):
            return np.log(values)

    def ranking(self, values: np.ndarray) -> np.ndarray:
        """Return the order that sorts values upwards; equal values keep their order."""
        return np.argsort(values, kind="stable")

    def cut(self, values: np.ndarray, owners: np.ndarray) -> list[np.ndarray]:
        """Return the rows of each owner, in the order of the rows. No owner is without rows."""
        return np.split(values[self.ranking(owners)], np.cumsum(np.bincount(owners))[:-1])

    def sums(self, values: np.ndarray, owners: np.ndarray, n_owners: int) -> np.ndarray:
        """Sum the values, or rows, of each owner."""
        if values.ndim == 1:
            return np.bincount(owners, values, n_owners)
        return np.column_stack([np.bincount(owners, column, n_owners) for column in values.T])

    def lowest(self, values: np.ndarray, owners: np.ndarray, n_owners: int) -> np.ndarray:
        """Return the lowest value of each owner."""
        found = np.full(n_owners, np.iinfo(values.dtype).max)
        np.minimum.at(found, owners, values)
        return found
