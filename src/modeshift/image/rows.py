"""Work on pixels some rows at a time: on threads, and in pieces that stay in the cache."""

from collections.abc import Callable

import numpy as np

from modeshift.engines.cpu.parallel import run_blocks

_PIXELS = 1 << 15


def run_rows(work: Callable[[slice], None], shape: tuple[int, ...], n_threads: int) -> None:
    """Call ``work`` for pieces of all rows of a block, given as slices; see ``as_rows``."""
    depth, height, width = shape
    n_rows = depth * height
    several = max(1, _PIXELS // width)

    def run(start: int, stop: int) -> None:
        for first in range(start * several, min(stop * several, n_rows), several):
            work(slice(first, min(first + several, n_rows)))

    run_blocks(run, -(-n_rows // several), n_threads)


def as_rows(pixels: np.ndarray) -> np.ndarray:
    """Return pixels of three axes, with or without bands, row by row."""
    return pixels.reshape(-1, *pixels.shape[2:])
