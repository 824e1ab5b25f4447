"""The exponential function, in a form that compilers can compute for many numbers at once."""

import numpy as np
from numba.extending import register_jitable

_LOWEST = -64.0
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ROUNDER = 1.5 * 2.0**52  # adding it rounds to a whole number, which the lowest bits then hold


@register_jitable(forceinline=True, fastmath={"contract"})
def exponential(t):
    """Return exp(t) for t <= 700, with a relative error below 1e-15; below -64 it is exp(-64).

    exp(t) = 2^n exp(r) with n the nearest whole number to t / ln 2, so |r| < 0.35. exp(r) is the
    Taylor polynomial of degree 12: the next term is below 2e-16. 2^n goes to the bits of the
    exponent. There is neither a table nor a branch.
    """
    t = max(t, _LOWEST)
    shifted = t * _LOG2_E + _ROUNDER
    n = shifted - _ROUNDER
    r = (t - n * _LN2_HIGH) - n * _LN2_LOW
    value = 1.0 / 479001600.0
    value = value * r + 1.0 / 39916800.0
    value = value * r + 1.0 / 3628800.0
    value = value * r + 1.0 / 362880.0
    value = value * r + 1.0 / 40320.0
    value = value * r + 1.0 / 5040.0
    value = value * r + 1.0 / 720.0
    value = value * r + 1.0 / 120.0
    value = value * r + 1.0 / 24.0
    value = value * r + 1.0 / 6.0
    value = value * r + 0.5
    value = value * r + 1.0
    value = value * r + 1.0
    power = np.float64(shifted).view(np.int64) << np.int64(52)
    return np.int64(np.float64(value).view(np.int64) + power).view(np.float64)
