"""A hash of rows of numbers, by their bits."""

import numpy as np

from modeshift._jit import bare_kernel


@bare_kernel
def hash_row(row):
    """Mix the bits of the numbers in a row."""
    mixed = np.uint64(14695981039346656037)
    bits = row.view(np.uint64)
    for k in range(row.shape[0]):
        mixed = (mixed ^ bits[k]) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed
