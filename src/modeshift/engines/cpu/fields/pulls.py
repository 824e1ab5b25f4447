"""Gaussian weights of many points at once.

Points are in blocks, feature by feature, so that a whole block is compared with vector
instructions. Unused slots of a block are far from all places.
"""

from modeshift.engines.cpu.jit import bare_kernel, inlined_kernel
from modeshift.engines.exponential import exponential

LANES = 8
"""Slots are compared in groups of this number."""


@bare_kernel
def in_lanes(count):
    """Return the number of slots that are compared for ``count`` points."""
    return (count + LANES - 1) // LANES * LANES


@inlined_kernel
def find_pulls(blocks, block, dims, x, radius, reach, pulls):
    """Write exp(-r^2 / (2 radius^2)) for each slot of a block; 0 where r^2 > reach.

    Squared distances are those of ``squared_distance``, term by term in the order of the features.
    """
    scale = -0.5 / (radius * radius)
    for slot in range(pulls.shape[0]):
        pulls[slot] = 0.0
    if len(dims) > 0:
        for slot in range(pulls.shape[0]):
            for k in range(len(dims)):
                difference = blocks[block, k, slot] - x[k]
                pulls[slot] += difference * difference
    else:
        for k in range(x.shape[0]):
            for slot in range(pulls.shape[0]):
                difference = blocks[block, k, slot] - x[k]
                pulls[slot] += difference * difference
    for slot in range(pulls.shape[0]):
        pull = exponential(scale * pulls[slot])
        pulls[slot] = pull if pulls[slot] <= reach else 0.0
