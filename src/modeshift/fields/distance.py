"""The one place where a distance is computed, so that no two fields round it differently."""

from modeshift._jit import bare_kernel


@bare_kernel
def squared_distance(a, b):
    """Return sum_k (a_k - b_k)^2, added up in the order of k over the length of b.

    A point is near when this is at most radius * radius. A tie (data on a lattice, bandwidth equal
    to the spacing) is then decided in the same way everywhere.
    """
    total = 0.0
    for k in range(b.shape[0]):
        difference = a[k] - b[k]
        total += difference * difference
    return total
