"""Squared distances. They are computed only here, so that all fields round alike."""

from modeshift.engines.cpu.jit import bare_kernel, fast_sums


@bare_kernel
def squared_distance(a, b):
    """Return sum_k (a_k - b_k)^2, added up in the order of k over the length of b.

    A point is near if this is at most radius * radius. So all fields decide ties (data on a
    lattice, bandwidth equal to the spacing) in the same way.
    """
    total = 0.0
    for k in range(b.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    return total


@fast_sums
def quick_square(a, b):
    """Return |a - b|^2 over the length of a, summed in the fastest order.

    It is too inexact to decide whether a point is near; see ``quick_doubt``.
    """
    total = 0.0
    for k in range(a.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    return total


def quick_doubt(d: int) -> float:
    """Return the largest relative difference of ``quick_square`` and ``squared_distance``.

    With u = 2^-53 either errs by less than (d + 2) u; this is a multiple of the two together.
    """
    return 4 * (d + 8) * 2.0**-53
