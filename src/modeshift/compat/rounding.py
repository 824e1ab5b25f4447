"""Means that are rounded as NumPy rounds them.

A field adds up offsets from a place, ``numpy.mean`` adds up the points. The two differ in the last
digit. On a lattice (whole numbers, eighths) points often lie exactly on the border of a ball, so
there the last digit decides which points are in the next mean.
"""

from typing import Any

import numpy as np

from modeshift.engines.cpu.fields import Field
from modeshift.engines.cpu.fields.field import Means

_LARGEST_SUM = 2.0**40
"""Largest sum, in units of the lattice, that is found from a mean: the error is below 1/64."""


class NumpyRounding:
    """A field whose means have the bits of NumPy's, if sums of points are exact.

    Sums are exact if the points lie on a lattice. Otherwise means differ from NumPy's by rounding.

    Parameters
    ----------
    field : Field
        Field over the points, each with the weight 1.
    points : ndarray of shape (n, d)
        The points as the user gave them. Means are rounded to the type that NumPy's have.
    """

    def __init__(self, field: Field, points: np.ndarray) -> None:
        self.space = field.space
        self._field = field
        self._spacing = lattice_spacing(field.points)
        self._dtype = points[:1].mean(axis=0).dtype

    def means_near(self, places: np.ndarray) -> Means:
        """Return the mean near each place; a place without points near is its own mean."""
        means, masses, _ = self._field.means_near(places)
        if self._spacing is not None:
            some = masses > 0.0
            counts = masses[some, np.newaxis]
            sums = np.rint(means[some] * counts / self._spacing) * self._spacing
            means[some] = sums / counts
        means = means.astype(self._dtype).astype(np.float64)
        return Means(means, masses, np.square(means - places).sum(axis=1))


def lattice_spacing(points: np.ndarray) -> float | None:
    """Return the largest power of two that divides all coordinates.

    None: the sum of all points has too many digits to be found from their mean.
    """
    values: Any = points[points != 0.0]
    if len(values) == 0:
        return 1.0
    fractions, exponents = np.frexp(values)
    digits = np.ldexp(fractions, 53).astype(np.int64)
    lowest = np.log2((digits & -digits).astype(np.float64)).astype(np.int64)
    spacing = 2.0 ** int((exponents - 53 + lowest).min())
    return spacing if len(points) * np.abs(values).max() <= _LARGEST_SUM * spacing else None
