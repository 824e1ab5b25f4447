"""Weighted sums of groups that do not depend on the order of the terms.

A float is cut into digits to the base 2^26 whose places are fixed: ..., 2^-26, 1, 2^26, ... Digits
of the same place are added up as integers, which rounds nothing. So parts of the data may be summed
separately and joined in any order. Three places are kept, from the place in which the heaviest
weight of the group begins: that is at least 53 bits. Lower digits of lighter terms are dropped one
by one, so the order does not matter there either. A place holds the digits of 2^37 terms.
"""

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel

PLACES = 3
WEIGHTLESS = -39
"""Top place of a group without weight. In such a group every term counts with weight 1.

All weights of 1e-300 and more have higher places. So terms of weight 0 (or hardly more) are dropped
like other light terms as soon as the group has a term with weight.
"""

_BASE = 26  # bits of a digit
_BIAS = 25  # bits of the first digit below 1: the digits of 1.0 fill their place
_UNITS = np.ldexp(1.0, _BIAS - _BASE * np.arange(WEIGHTLESS + 1, 41))
_UNITS = np.concatenate([[2.0**_BIAS], _UNITS])


def top_places(weights: np.ndarray) -> np.ndarray:
    """Return the place of the leading digit of each weight: the lowest B with w < 2^(26 B + 1)."""
    exponents = np.frexp(weights)[1].astype(np.int64)
    places = (exponents - 1 + _BASE - 1) // _BASE
    return np.where(weights > 0.0, np.maximum(places, WEIGHTLESS), WEIGHTLESS)


def group_tops(places: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the top place of each group, the highest of its members."""
    tops = np.full(n_groups, WEIGHTLESS, dtype=np.int64)
    _raise_tops(places, groups, tops)
    return tops


def sum_digits(
    weights: np.ndarray, values: np.ndarray, groups: np.ndarray, tops: np.ndarray
) -> np.ndarray:
    """Return the digits of the sum of weight * value of each group; values are about 1 or less."""
    digits = np.zeros((len(tops), PLACES), dtype=np.int64)
    _add_digits(weights, values, groups, tops, _UNITS, digits)
    return digits


def join_digits(
    digits: np.ndarray, tops: np.ndarray, groups: np.ndarray, joined_tops: np.ndarray
) -> np.ndarray:
    """Add up partial sums of shape (parts, columns, PLACES) by their groups."""
    joined = np.zeros((len(joined_tops), *digits.shape[1:]), dtype=np.int64)
    _shift_and_add(digits, tops, groups, joined_tops, joined)
    return joined


def totals(digits: np.ndarray) -> np.ndarray:
    """Value of the sums, in units of 2^(26 B - 77) with B the top place of the group.

    Digits are carried first, so that equal sums give equal values. With long doubles, if the
    machine has them, the mean of equal values is that value.
    """
    high, middle, low = np.moveaxis(digits, -1, 0)
    middle = middle + (low >> _BASE)
    high = high + (middle >> _BASE)
    mask = (1 << _BASE) - 1
    result = high.astype(np.longdouble)
    for digit in (middle & mask, low & mask):
        result = result * 2.0**_BASE + digit
    return result


def masses(digits: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """Return sums of weights as floats; 0 for groups without weight."""
    exponents = _BASE * tops - _BIAS - (PLACES - 1) * _BASE
    values = np.ldexp(totals(digits), exponents).astype(np.float64)
    return np.where(tops == WEIGHTLESS, 0.0, values)


@bare_kernel
def _raise_tops(places, groups, tops):
    for i in range(groups.shape[0]):
        tops[groups[i]] = max(tops[groups[i]], places[i])


@bare_kernel
def _add_digits(weights, values, groups, tops, units, digits):
    for i in range(groups.shape[0]):
        group = groups[i]
        top = tops[group]
        value = values[i] if top == WEIGHTLESS else weights[i] * values[i]
        rest = value * units[top - WEIGHTLESS]
        for place in range(PLACES):
            digit = int(rest)  # towards 0; the difference is exact
            digits[group, place] += digit
            rest = (rest - digit) * 67108864.0  # 2^26


@bare_kernel
def _shift_and_add(digits, tops, groups, joined_tops, joined):
    for i in range(groups.shape[0]):
        group = groups[i]
        lower = joined_tops[group] - tops[i]
        for column in range(digits.shape[1]):
            for place in range(PLACES - lower):
                joined[group, column, place + lower] += digits[i, column, place]
