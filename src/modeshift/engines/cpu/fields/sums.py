"""Sums that may be taken in any order, so that they are vector instructions."""

from modeshift.engines.cpu.jit import fast_sums


@fast_sums
def weighted_offsets(values, i, k, x, weights):
    """Return sum_c weights_c (values_ikc - x)."""
    total = 0.0
    for c in range(weights.shape[0]):
        total += weights[c] * (values[i, k, c] - x)
    return total


@fast_sums
def total_of(weights):
    """Return the sum of some weights."""
    total = 0.0
    for c in range(weights.shape[0]):
        total += weights[c]
    return total


@fast_sums
def dot(a, b):
    """Return sum_i a_i b_i over the length of a."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total
