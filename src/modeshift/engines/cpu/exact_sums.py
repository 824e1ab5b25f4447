"""Weighted sums of groups that do not depend on the order of the terms.

A float is cut into digits to the base 2^26 whose places are fixed: ..., 2^-26, 1, 2^26, ... Digits
of the same place are added up as integers, which rounds nothing. So parts of the data may be summed
separately and joined in any order. Three places are kept, from the place in which the heaviest
weight of the group begins: that is at least 53 bits. Lower digits of lighter terms are dropped one
by one, so the order does not matter there either. A place holds the digits of 2^37 terms.
"""

from math import frexp

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel

PLACES = 3
WEIGHTLESS = -39
"""Top place of a group without weight. In such a group every term counts with weight 1.

All weights of 1e-300 and more have higher places. So terms of weight 0 (or hardly more) are dropped
like other light terms as soon as the group has a term with weight.
"""

BASE = 26  # bits of a digit
_BIAS = 25  # bits of the first digit below 1: the digits of 1.0 fill their place
_UNITS = np.ldexp(1.0, _BIAS - BASE * np.arange(WEIGHTLESS + 1, 41))
_UNITS = np.concatenate([[2.0**_BIAS], _UNITS])


@bare_kernel
def top_place(weight):
    """Return the place of the leading digit of a weight: the lowest B with w < 2^(26 B + 1)."""
    if weight <= 0.0:
        return WEIGHTLESS
    exponent = frexp(weight)[1]
    return max((exponent - 1 + BASE - 1) // BASE, WEIGHTLESS)


@bare_kernel
def add_term(term, top, digits):
    """Add a term to the digits of a group with this top place."""
    rest = term * _UNITS[top - WEIGHTLESS]
    for place in range(PLACES):
        digit = int(rest)  # towards 0; the difference is exact
        digits[place] += digit
        rest = (rest - digit) * 67108864.0  # 2^26


@bare_kernel
def lower(digits, by):
    """Move the digits of a group ``by`` places down, because its top place has risen."""
    for column in range(digits.shape[0]):
        for place in range(PLACES - 1, -1, -1):
            digits[column, place] = digits[column, place - by] if place >= by else 0


def totals(digits: np.ndarray) -> np.ndarray:
    """Value of the sums, in units of 2^(26 B - 77) with B the top place of the group.

    Digits are carried first, so that equal sums give equal values. With long doubles, if the
    machine has them, the mean of equal values is that value.
    """
    high, middle, low = np.moveaxis(digits, -1, 0)
    middle = middle + (low >> BASE)
    high = high + (middle >> BASE)
    mask = (1 << BASE) - 1
    result = high.astype(np.longdouble)
    for digit in (middle & mask, low & mask):
        result = result * 2.0**BASE + digit
    return result


def masses(digits: np.ndarray, tops: np.ndarray, place: int = 0) -> np.ndarray:
    """Return sums of weights, divided by 2^(26 place), as floats; 0 for groups without weight."""
    exponents = BASE * (tops - place) - _BIAS - (PLACES - 1) * BASE
    values = np.ldexp(totals(digits), exponents).astype(np.float64)
    return np.where(tops == WEIGHTLESS, 0.0, values)
