"""Fields: the positions of all points, and fast answers to "what is the mean near x?"."""

import numpy as np

from modeshift.fields.anchors import AnchorField
from modeshift.fields.brute import BruteField
from modeshift.fields.field import Field
from modeshift.fields.tree import TreeField

__all__ = ["FIELDS", "Field", "make_field"]

FIELDS: dict[str, type[Field]] = {
    "anchors": AnchorField,
    "brute": BruteField,
    "tree": TreeField,
}

_MANY_FEATURES = 32
"""From here on anchors are at least as fast as boxes in the stochastic schedule (measured)."""


def make_field(
    points: np.ndarray, weights: np.ndarray, radius: float, kind: str = "auto", n_jobs: int = 1
) -> Field:
    """Build the field of the named kind, or the one that suits the data."""
    if kind == "auto":
        kind = "anchors" if points.shape[1] >= _MANY_FEATURES else "tree"
    return FIELDS[kind](points, weights, radius, n_jobs)
