"""A tree of boxes with Gaussian weights, which makes patches for many queries at once."""

import numpy as np

from modeshift.engines.cpu.fields.field import Ask
from modeshift.engines.cpu.fields.patches import Patches
from modeshift.engines.cpu.fields.tree import TreeField

_FEW_FEATURES = 3  # with more of them, polynomials have too many terms
_FEW = 1 << 20  # fewer comparisons are done before a patch is made
_MANY = 2000  # points from which it pays to ask steps together (measured)
_SHARE = 8  # an eighth of the points take those steps: few of them twice (measured)


class PatchedTree(TreeField):
    """Field on a tree of boxes, with Gaussian weights."""

    least_loud = 0.0  # a step alone takes long until its point rests
    _patches: Patches | None = None
    _still = False

    @property
    def ahead(self) -> int:
        """Number of stochastic steps that are best asked together, with patches."""
        n, d = self.points.shape
        return n // _SHARE if d <= _FEW_FEATURES and n >= _MANY else 1

    def stand_still(self) -> None:
        """Keep patches for further queries, until a point moves."""
        self._still = True

    def move_points(self, rows: np.ndarray, places: np.ndarray) -> None:
        """Move some of the points."""
        self._patches, self._still = None, False
        super().move_points(rows, places)

    def _plan(self, places: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, Ask]:
        in_tree, ask_tree = super()._plan(places, radii)
        patches = self._patches_for(places, radii)
        if patches is None:
            return in_tree, ask_tree
        found = patches.find(places)

        def ask(part: np.ndarray, averages: np.ndarray, masses: np.ndarray) -> float:
            patched = found[part] >= 0
            patches.answer(places, part[patched], found, averages, masses)
            return ask_tree(part[~patched], averages, masses)

        return np.concatenate([patches.sort(found), in_tree[found[in_tree] < 0]]), ask

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
