"""CIELAB: colours in which distances are about as large as they look.

sRGB (IEC 61966-2-1) to CIE XYZ with the white D65, and from there to L*, a*, b* (CIE 15:2004).
"""

import numpy as np

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
_INTO = _TO_XYZ / _WHITE[:, np.newaxis]
_BACK = np.linalg.inv(_INTO)
_DARK = 0.008856  # below this share of white, L* is linear
_SLOPE = 7.787


def to_lab(rgb: np.ndarray) -> np.ndarray:
    """Return L*, a*, b* of colours; bands are last.

    Parameters
    ----------
    rgb : ndarray of shape (..., 3)
        sRGB. Whole numbers reach up to the largest of their dtype, floats from 0 to 1.
    """
    if rgb.dtype.kind == "f":
        linear = _linear(rgb.astype(np.float64))
    else:
        top = np.iinfo(rgb.dtype).max
        linear = _linear(np.arange(top + 1) / top)[rgb]
    lab = np.empty(linear.shape)
    _into_lab(linear.reshape(-1, 3), _INTO, lab.reshape(-1, 3))
    return lab


def to_rgb(lab: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return sRGB in the given dtype; colours outside sRGB are cut off."""
    linear = np.empty(lab.shape)
    _from_lab(
        np.ascontiguousarray(lab, dtype=np.float64).reshape(-1, 3), _BACK, linear.reshape(-1, 3)
    )
    rgb = _encoded(linear)
    if dtype.kind == "f":
        return rgb.astype(dtype)
    return np.rint(rgb * np.iinfo(dtype).max).astype(dtype)


def _linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)


def _encoded(linear: np.ndarray) -> np.ndarray:
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)


@bare_kernel
def _into_lab(linear, into, lab):
    for i in range(linear.shape[0]):
        for k in range(3):
            share = (
                into[k, 0] * linear[i, 0] + into[k, 1] * linear[i, 1] + into[k, 2] * linear[i, 2]
            )
            lab[i, k] = np.cbrt(share) if share > _DARK else _SLOPE * share + 16.0 / 116.0
        x, y, z = lab[i, 0], lab[i, 1], lab[i, 2]
        lab[i, 0] = 116.0 * y - 16.0
        lab[i, 1] = 500.0 * (x - y)
        lab[i, 2] = 200.0 * (y - z)


@bare_kernel
def _from_lab(lab, back, linear):
    bend = np.cbrt(_DARK)
    for i in range(lab.shape[0]):
        y = (lab[i, 0] + 16.0) / 116.0
        x = y + lab[i, 1] / 500.0
        z = y - lab[i, 2] / 200.0
        x = x * x * x if x > bend else (x - 16.0 / 116.0) / _SLOPE
        y = y * y * y if y > bend else (y - 16.0 / 116.0) / _SLOPE
        z = z * z * z if z > bend else (z - 16.0 / 116.0) / _SLOPE
        for k in range(3):
            linear[i, k] = back[k, 0] * x + back[k, 1] * y + back[k, 2] * z
