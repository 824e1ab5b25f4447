"""A heap of the nearest points so far, up to a mass, with the farthest on top.

It lies in the scratch space behind a mean (see ``protocol.py``): three numbers about the heap, the
squared distances of its points, and their indices. Points are ordered by distance, then by index,
so the result does not depend on the order in which they are offered.
"""

from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.rule import worth_of

_SIZE = 0  # number of points
_MASS = 1  # their weight
_BOUND = 2  # squared distance beyond which no point counts
_HEADER = 3


def heap_length(room: int) -> int:
    """Return the length of the array of a heap with room for some points."""
    return _HEADER + 2 * room


@bare_kernel
def clear_heap(heap, reach):
    """Empty the heap; ``reach`` is the largest squared distance of its points."""
    heap[_SIZE] = 0.0
    heap[_MASS] = 0.0
    heap[_BOUND] = reach


@bare_kernel
def bound_of(heap):
    """Return the squared distance beyond which no point counts."""
    return heap[_BOUND]


@bare_kernel
def farthest_held(heap):
    """Return the largest squared distance of the points in the heap; 0 if it is empty."""
    return heap[_HEADER] if heap[_SIZE] > 0.0 else 0.0


@bare_kernel
def offer(heap, rule, weights, square, i):
    """Add point i, at the squared distance ``square``, if it is among the nearest."""
    weight = weights[i]
    full = heap[_MASS] >= rule.k
    if weight == 0.0 or not square <= heap[_BOUND]:
        return
    if full and square == heap[_BOUND] and i > heap[_HEADER + rule.room]:
        return
    _push(heap[_HEADER:], rule.room, int(heap[_SIZE]), square, i)
    heap[_SIZE] += 1.0
    heap[_MASS] += weight
    top = weights[int(heap[_HEADER + rule.room])]
    while heap[_MASS] - top >= rule.k:
        heap[_SIZE] -= 1.0
        heap[_MASS] -= top
        _pop(heap[_HEADER:], rule.room, int(heap[_SIZE]))
        top = weights[int(heap[_HEADER + rule.room])]
    if heap[_MASS] >= rule.k:
        heap[_BOUND] = heap[_HEADER]


@bare_kernel
def average_held(heap, rule, points, weights, x, radius, out):
    """Write the mean of the points in the heap to ``out[:d]``; return their mass.

    The farthest point counts with the part of its weight that makes the mass k.
    """
    d = x.shape[0]
    for k in range(d):
        out[k] = 0.0
    held = 0.0
    for e in range(int(heap[_SIZE])):
        held += weights[int(heap[_HEADER + rule.room + e])]
    surplus = max(held - rule.k, 0.0)
    mass = 0.0
    for e in range(int(heap[_SIZE])):
        i = int(heap[_HEADER + rule.room + e])
        share = (weights[i] - surplus) * worth_of(rule.ball, heap[_HEADER + e], radius)
        surplus = 0.0
        mass += share
        for k in range(d):
            out[k] += share * (points[i, k] - x[k])
    for k in range(d):
        out[k] = x[k] + out[k] / mass if mass > 0.0 else x[k]
    return mass


@bare_kernel
def _push(entries, room, size, square, i):
    """Add an entry to a heap of ``size`` entries. Indices lie ``room`` behind the squares."""
    e = size
    while e > 0:
        above = (e - 1) // 2
        if not _farther(square, i, entries[above], entries[room + above]):
            break
        entries[e], entries[room + e] = entries[above], entries[room + above]
        e = above
    entries[e], entries[room + e] = square, i


@bare_kernel
def _pop(entries, room, size):
    """Remove the farthest entry; ``size`` entries remain."""
    square, i = entries[size], entries[room + size]
    e = 0
    while 2 * e + 1 < size:
        below = 2 * e + 1
        if below + 1 < size and _farther(
            entries[below + 1], entries[room + below + 1], entries[below], entries[room + below]
        ):
            below += 1
        if not _farther(entries[below], entries[room + below], square, i):
            break
        entries[e], entries[room + e] = entries[below], entries[room + below]
        e = below
    entries[e], entries[room + e] = square, i


@bare_kernel
def _farther(square, i, other_square, other):
    return square > other_square or (square == other_square and i > other)
