"""CIELAB: colours in which distances are about as large as they look.

sRGB (IEC 61966-2-1) to CIE XYZ with the white D65, and from there to L*, a*, b* (CIE 15:2004).

``lab_of`` and ``linear_of`` take numbers, arrays or tensors. They only add, multiply and divide one
by another, which every processor rounds alike; so a GPU finds the same colours to the last bit. For
the same reason they multiply by 1 / 500 and so on: PyTorch divides a tensor by a number like that.
"""

from functools import cache
from typing import Any

import numpy as np
from numba.extending import register_jitable

from modeshift.engines.cpu.jit import bare_kernel

LOWEST = np.array([0.0, -128.0, -128.0])
HIGHEST = np.array([100.0, 128.0, 128.0])

_TO_XYZ = np.array(
    [
        [0.412453, 0.357580, 0.180423],
        [0.212671, 0.715160, 0.072169],
        [0.019334, 0.119193, 0.950227],
    ]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
_INTO = tuple(map(tuple, (_TO_XYZ / _WHITE[:, np.newaxis]).tolist()))
_BACK = tuple(map(tuple, np.linalg.inv(_INTO).tolist()))
_DARK = 0.008856  # below this share of white, L* is linear
_BEND = float(np.cbrt(_DARK))
_SLOPE = 7.787
_FLAT = 16.0 / 116.0
_SHARE_OF = (1 / 116.0, 1 / 500.0, 1 / 200.0, 1 / _SLOPE)

_jitable = register_jitable(error_model="numpy")


def to_lab(rgb: np.ndarray) -> np.ndarray:
    """Return L*, a*, b* of colours; bands are last.

    Parameters
    ----------
    rgb : ndarray of shape (..., 3)
        sRGB. Whole numbers reach up to the largest of their dtype, floats from 0 to 1.
    """
    lab = linear(rgb)
    _into_lab(lab.reshape(-1, 3))
    return lab


def to_rgb(lab: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return sRGB in the given dtype; colours outside sRGB are cut off."""
    values = np.array(lab, dtype=np.float64, order="C")
    _from_lab(values.reshape(-1, 3))
    return encoded(values, dtype)


def linear(rgb: np.ndarray) -> np.ndarray:
    """Return amounts of light, from 0 to 1, of sRGB."""
    if rgb.dtype.kind == "f":
        return _linear(rgb.astype(np.float64))
    return amounts(rgb.dtype).take(rgb)


def encoded(linear: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return sRGB of amounts of light."""
    if dtype.kind != "f":
        rgb = np.empty(linear.shape, dtype)
        _count_borders(linear.reshape(-1), _starts(dtype), borders(dtype), rgb.reshape(-1))
        return rgb
    light = np.clip(linear, 0.0, 1.0)
    rgb = np.where(light > 0.0031308, 1.055 * light ** (1 / 2.4) - 0.055, 12.92 * light)
    return rgb.astype(dtype)


@cache
def amounts(dtype: np.dtype) -> np.ndarray:
    """Return the amount of light of every whole number of a dtype."""
    top = np.iinfo(dtype).max
    return _linear(np.arange(top + 1) / top)


@cache
def borders(dtype: np.dtype) -> np.ndarray:
    """Return the amounts of light from which on 1, 2, 3... is the nearest number of a dtype."""
    top = np.iinfo(dtype).max
    return _linear((np.arange(top) + 0.5) / top)


@cache
def _starts(dtype: np.dtype) -> np.ndarray:
    """Return the number of borders up to multiples of a power of 1/2, so small that few follow."""
    n = 16 * (np.iinfo(dtype).max + 1)
    return np.searchsorted(borders(dtype), np.arange(n + 1) / n, side="right").astype(np.int32)


def _linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)


@_jitable
def lab_of(red: Any, green: Any, blue: Any) -> Any:
    """Return L*, a*, b* of amounts of light."""
    x, y, z = _mixed(_INTO, red, green, blue)
    x, y, z = _bent(x), _bent(y), _bent(z)
    return 116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)


@_jitable
def linear_of(lightness: Any, a: Any, b: Any) -> Any:
    """Return the amounts of light of L*, a*, b*: red, green and blue."""
    y = (lightness + 16.0) * _SHARE_OF[0]
    x = y + a * _SHARE_OF[1]
    z = y - b * _SHARE_OF[2]
    return _mixed(_BACK, _straight(x), _straight(y), _straight(z))


@_jitable
def _mixed(table: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        table[0][0] * x + table[0][1] * y + table[0][2] * z,
        table[1][0] * x + table[1][1] * y + table[1][2] * z,
        table[2][0] * x + table[2][1] * y + table[2][2] * z,
    )


@_jitable
def _bent(share: Any) -> Any:
    """Return the cube root of a share of white, and a line near 0."""
    line = _SLOPE * share + _FLAT
    return (share > _DARK) * _cube_root(share) + (share <= _DARK) * line


@_jitable
def _straight(bent: Any) -> Any:
    line = (bent - _FLAT) * _SHARE_OF[3]
    return (bent > _BEND) * (bent * bent * bent) + (bent <= _BEND) * line


@_jitable
def _cube_root(share: Any) -> Any:
    """Return the cube root for shares from ``_DARK`` to 1, by Halley's iteration.

    The first guess is within 14%; the steps leave 0.3%, 7e-9, and the rounding.
    """
    root = 0.217 + share * (2.096 - 1.45 * share)
    for _ in range(3):
        cube = root * root * root
        root = root * (cube + 2.0 * share) / (2.0 * cube + share)
    return root


@bare_kernel
def _into_lab(colours):
    for i in range(colours.shape[0]):
        colours[i, 0], colours[i, 1], colours[i, 2] = lab_of(
            colours[i, 0], colours[i, 1], colours[i, 2]
        )


@bare_kernel
def _from_lab(colours):
    for i in range(colours.shape[0]):
        colours[i, 0], colours[i, 1], colours[i, 2] = linear_of(
            colours[i, 0], colours[i, 1], colours[i, 2]
        )


@bare_kernel
def _count_borders(values, starts, borders, counts):
    """Count the borders up to each value, from the count at the next lower of equal steps."""
    for i in range(values.shape[0]):
        value = min(max(values[i], 0.0), 1.0)
        count = starts[int(value * (starts.shape[0] - 1))]
        while count < borders.shape[0] and borders[count] <= value:
            count += 1
        counts[i] = count
