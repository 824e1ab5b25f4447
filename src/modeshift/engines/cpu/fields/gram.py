"""Squared distances from many places to all points, by matrix products.

|x - p|^2 = |x|^2 + |p|^2 - 2 x.p, and BLAS computes the products x.p of many places and points very
fast. But the sum cancels, so it is inexact near the border: a caller uses :func:`certainly_beyond`
and :func:`certainly_within`, and computes the distance if both return False.
"""

from collections.abc import Iterator

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel

_BLOCK = 1 << 22  # products at a time: 32 MiB


class Gram:
    """Products of places with points, about the centre of the points.

    Attributes
    ----------
    squares : ndarray of shape (n,)
        |p - c|^2 for each point p and the centre c; not finite for points too far away.
    doubt : float
        Largest error of |x - p|^2 from products, as a share of |x - c|^2 + |p - c|^2.

    Notes
    -----
    With u = 2^-53, rounding moves the centred x and p by u |x| and u |p|, and the three sums err by
    d u |x|^2, d u |p|^2 and 2 d u |x| |p|. Together that is below 2 (d + 8) u (|x|^2 + |p|^2). The
    bound is doubled, for the rounding of the exact distance.
    """

    def __init__(self, points: np.ndarray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self._center = points[0] + np.mean(points - points[0], axis=0)
        self._points, self.squares = self._centred(points)
        self.doubt = 4 * (points.shape[1] + 8) * 2.0**-53

    def blocks(self, places: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield for each block of places: number of the first place, squares, products.

        The array of products, of shape (size of the block, n), is reused for the next block.
        """
        n = len(self._points)
        size = max(1, min(len(places), _BLOCK // n))
        room = np.empty((size, n))
        for start in range(0, len(places), size):
            block, squares = self._centred(places[start : start + size])
            with np.errstate(over="ignore", invalid="ignore"):
                yield start, squares, np.matmul(block, self._points.T, out=room[: len(block)])

    def _centred(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore"):
            centred = places - self._center
            return centred, np.einsum("ik,ik->i", centred, centred)


@bare_kernel
def certainly_beyond(squares, product, doubt, reach):
    """Return whether certainly |x - p|^2 > reach; ``squares`` is |x|^2 + |p|^2."""
    return squares * (1.0 - doubt) - 2.0 * product > reach


@bare_kernel
def certainly_within(squares, product, doubt, reach):
    """Return whether certainly |x - p|^2 <= reach."""
    return squares * (1.0 + doubt) - 2.0 * product <= reach
