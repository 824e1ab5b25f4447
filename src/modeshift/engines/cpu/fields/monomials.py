"""Numbering of the monomials x^a = x_1^a_1 ... x_d^a_d up to some degree |a| = a_1 + ... + a_d.

Monomials are in the order of their degree, so a polynomial of a lower degree is the beginning of
one of a higher degree. Within a degree they are in the order of their first feature. Kernels walk
through these tables, so they are the same code for every number of features.
"""

from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np


class Monomials(NamedTuple):
    """Tables of the m monomials up to a degree.

    Attributes
    ----------
    ends : (degree + 1,)
        ``ends[p]`` monomials have the degree p or less.
    axes, parents : (m,)
        Monomial i is its parent, which has a lower number, times feature ``axes[i]``. This is the
        first feature in it.
    powers : (m,)
        The power of that feature in monomial i.
    ups : (monomials below the highest degree, d)
        The number of monomial i times feature k.
    """

    ends: np.ndarray
    axes: np.ndarray
    parents: np.ndarray
    powers: np.ndarray
    ups: np.ndarray


def n_monomials(d: int, degree: int) -> int:
    """Return the number of monomials of d features up to a degree."""
    return comb(d + degree, d)


@cache
def monomials(d: int, degree: int) -> Monomials:
    """Make the tables for d features."""
    ends = [n_monomials(d, p) for p in range(degree + 1)]
    axes, parents, powers = [d], [0], [0]  # the monomial 1 has no feature
    ups: list[list[int]] = [[0] * d for _ in range(ends[-2] if degree > 0 else 0)]
    for p in range(1, degree + 1):
        below = range(ends[p - 2] if p > 1 else 0, ends[p - 1])
        for k in range(d):
            for i in (i for i in below if axes[i] >= k):
                ups[i][k] = len(axes)
                powers.append(powers[i] + 1 if axes[i] == k else 1)
                axes.append(k)
                parents.append(i)
        for i in below:
            for k in range(axes[i] + 1, d):
                ups[i][k] = ups[ups[parents[i]][k]][axes[i]]
    axes[0] = 0
    tables = (ends, axes, parents, powers, np.reshape(ups, (-1, d)))
    return Monomials(*(np.array(table, dtype=np.int32) for table in tables))
