"""A tree of boxes with Gaussian weights, which makes patches for many queries at once."""

from collections.abc import Callable
from math import isqrt

import numpy as np

from modeshift.engines.cpu.fields.field import Asked
from modeshift.engines.cpu.fields.patches import Patches
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.cpu.parallel import run_blocks

_FEW_FEATURES = 3  # with more of them, polynomials have too many terms
_FEW = 1 << 20  # fewer comparisons are done before a patch is made
_MANY = 2000  # points from which it pays to ask steps together (measured)
_SHARE = 8  # at most an eighth of the points take those steps: few of them twice (measured)
_ROOTS = 16  # in large data, as many roots of n: patches cost n, corrections the square (measured)


class PatchedTree(TreeField):
    """Field on a tree of boxes, with Gaussian weights."""

    _patches: Patches | None = None
    _still = False

    @property
    def ahead(self) -> int:
        """Number of stochastic steps that are best asked together, with patches."""
        n, d = self.points.shape
        together = min(n // _SHARE, _ROOTS * isqrt(n))
        return together if d <= _FEW_FEATURES and n >= _MANY else 1

    @property
    def asks_together(self) -> bool:
        """Whether questions are answered by patches."""
        return True

    def stand_still(self) -> None:
        """Keep patches for further queries, until a point moves."""
        self._still = True

    def move_points(self, rows: np.ndarray, places: np.ndarray) -> None:
        """Move some of the points."""
        self._patches, self._still = None, False
        super().move_points(rows, places)

    def _ask(self, asked: Asked, then: Callable[[np.ndarray], bool]) -> float:
        patches = self._patches_for(asked.places, asked.radii)
        if patches is None:
            return super()._ask(asked, then)
        found = patches.find(asked.places)
        patched = patches.sort(found)

        def block(start: int, stop: int) -> bool:
            part = patched[start:stop]
            patches.answer(asked.places, part, found, asked.averages, asked.masses)
            return then(part)

        if run_blocks(block, len(patched), self.n_jobs):
            return 0.0
        order = self._order(asked.places)
        return self._ask_singly(asked, order[found[order] < 0], then)

    def _patches_for(self, places: np.ndarray, radii: np.ndarray) -> Patches | None:
        """Return the patches with which to answer; None if the tree is faster."""
        n, d = self.points.shape
        if d > _FEW_FEATURES or (radii != self.radius).any():
            return None
        patches = self._patches
        if patches is None and n * len(places) >= _FEW:
            patches = Patches(self.state, self.radius, self.n_jobs)
        if self._still:
            self._patches = patches
        return patches
