"""Whole coordinates: places and colours as multiples of small units.

A place of a climb is rounded to 1/16 of a pixel and about 1/1000 of the range after every step. So
the climb is defined by whole numbers alone, and every implementation gets the same places exactly.
"""

from math import floor
from typing import NamedTuple

import numpy as np

_PIXEL = 16
"""Units of a pixel; fewer for radii above 255 pixels."""

_RANGE = 1024
"""Units of the range; fewer if the values span thousands of ranges."""

_COARSEST = 64
_LARGEST = 1 << 12
"""Radii are below this number of units, so that float32 holds their squares exactly."""

_FARTHEST = float(1 << 23)
"""Colours are at most this number of units from the middle, so their differences are exact."""

FAR = np.float32(1e12)
"""Colour of pixels that never count: masked ones, and those beyond the border."""


class Settings(NamedTuple):
    """Settings of a climb, in whole units.

    Attributes
    ----------
    unit : int
        Number of units of a pixel.
    radius : tuple of 3 int
        Radius of the window along each axis.
    stretch : tuple of 2 float
        The radius along the last axis, divided by those along the first and the second axis.
    reach : float
        Squared range.
    quiet : float
        A climb ends with a step whose squared length, in radii, is at most this.
    max_iter : int
        Largest number of steps.
    """

    unit: int
    radius: tuple[int, int, int]
    stretch: tuple[float, float]
    reach: float
    quiet: float
    max_iter: int


class Colours(NamedTuple):
    """The units of colours: unit number = round((value - middle) * factor), for each band."""

    middle: np.ndarray
    factor: np.ndarray
    range_units: int

    def to_units(self, values: np.ndarray) -> np.ndarray:
        """Return colours, bands last, in units."""
        return np.rint((values - self.middle) * self.factor).astype(np.float32)

    def from_units(self, units: np.ndarray) -> np.ndarray:
        """Return colours in the units of the bands."""
        return units / self.factor + self.middle


def make_colours(low: np.ndarray, high: np.ndarray, ranges: np.ndarray) -> Colours:
    """Return the units for bands with values from ``low`` to ``high``."""
    middle = np.rint((low + high) / 2) if np.all(high - low >= 2) else (low + high) / 2
    span = float(np.max((high - low) / ranges)) / 2
    units = _RANGE
    while units * span > _FARTHEST and units > _COARSEST:
        units //= 2
    if units * span > _FARTHEST:
        band = int(np.argmax((high - low) / ranges))
        least = (high - low)[band] / _FARTHEST * _COARSEST / 2
        raise ValueError(
            f"range={ranges[band]:g} is too small for values from {low[band]:g} to "
            f"{high[band]:g}: it must be at least {least:g}. "
            "If some values are no measurements, mark them with nodata= or mask=."
        )
    return Colours(middle, units / ranges, units)


def make_settings(
    radii: tuple[float, float, float], range_units: int, tol: float, max_iter: int
) -> Settings:
    """Return the settings for radii in pixels along the three axes."""
    unit = _PIXEL
    while max(radii) * unit >= _LARGEST:
        unit //= 2
    depth, height, width = (floor(radius * unit) for radius in radii)
    return Settings(
        unit=unit,
        radius=(depth, height, width),
        stretch=(width / depth, width / height),
        reach=float(range_units * range_units),
        quiet=tol * tol,
        max_iter=max_iter,
    )
