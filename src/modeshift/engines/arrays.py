"""The adapter between algorithms that are written once and the arrays of an engine.

Schedules, merge, labels, centres and ``predict`` are written over NumPy arrays and PyTorch tensors
alike. Indexing, comparing and arithmetic are the same in both. The rest is in the adapters
``arrays.py`` and, for distances, ``space.py`` of the folders ``cpu`` and ``cuda``.
"""

from typing import Any, Protocol

import numpy as np


class Arrays(Protocol):
    """Operations on an engine's arrays."""

    def copy(self, values: Any) -> Any:
        """Copy an array."""
        ...

    def in_double(self, values: Any) -> Any:
        """Return values as float64."""
        ...

    def to_numpy(self, values: Any) -> np.ndarray:
        """Bring values to the host."""
        ...

    def arange(self, n: int) -> Any:
        """Return 0 to n - 1."""
        ...

    def full(self, n: int, value: bool | int) -> Any:
        """Return an array of n equal values."""
        ...

    def nonzero(self, mask: Any) -> Any:
        """Return the positions at which a mask is True."""
        ...

    def where(self, mask: Any, values: Any, others: Any) -> Any:
        """Choose between two values, element by element."""
        ...

    def concatenate(self, parts: list[Any]) -> Any:
        """Join arrays, row after row."""
        ...

    def log(self, values: Any) -> Any:
        """Return natural logarithms; that of 0 is -inf."""
        ...

    def ranking(self, values: Any) -> Any:
        """Return the order that sorts values upwards; equal values keep their order."""
        ...

    def cut(self, values: Any, owners: Any) -> list[Any]:
        """Return the rows of each owner, in the order of the rows. No owner is without rows."""
        ...

    def sums(self, values: Any, owners: Any, n_owners: int) -> Any:
        """Sum the values, or rows, of each owner."""
        ...

    def lowest(self, values: Any, owners: Any, n_owners: int) -> Any:
        """Return the lowest value of each owner."""
        ...
