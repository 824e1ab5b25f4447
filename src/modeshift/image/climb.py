"""The deterministic schedule: each pixel climbs alone (Comaniciu and Meer 2002, Section 4)."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.parallel import run_blocks
from modeshift.image.block import Block
from modeshift.image.lattice import Settings
from modeshift.image.window import LEFT, kernel_for


class Ends(NamedTuple):
    """The ends of climbs, in whole units.

    Attributes
    ----------
    places : ndarray of shape (3, n), int32
    colours : ndarray of shape (bands, n), float32
    steps : ndarray of shape (n,), int16
        Number of steps of each pixel.
    """

    places: np.ndarray
    colours: np.ndarray
    steps: np.ndarray

    @property
    def n_left(self) -> int:
        """Number of climbs that left the block."""
        return int((self.steps == LEFT).sum())


def no_ends(n_bands: int, n: int) -> Ends:
    """Return room for the ends of n pixels."""
    return Ends(
        np.zeros((3, n), dtype=np.int32),
        np.zeros((n_bands, n), dtype=np.float32),
        np.zeros(n, dtype=np.int16),
    )


def climb(block: Block, settings: Settings, pixels: np.ndarray, n_threads: int) -> Ends:
    """Climb from some pixels, given by their numbers in the block; the other ends stay 0."""
    ends = no_ends(len(block.planes), block.valid.size)
    kernel = kernel_for(len(block.planes))

    def work(start: int, stop: int) -> None:
        kernel(block, pixels[start:stop], settings, *ends)

    run_blocks(work, len(pixels), n_threads)
    return ends
