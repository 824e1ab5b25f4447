"""Fields: the positions of all points, and fast answers to "what is the mean near x?"."""

import numpy as np

# These register rules for the fields.
from modeshift.engines.cpu.fields import (  # noqa: F401
    flat_in_tree,
    gaussian_in_anchors,
    gaussian_in_tree,
    nearest_in_tree,
)
from modeshift.engines.cpu.fields.anchors import AnchorField
from modeshift.engines.cpu.fields.balls import BallField
from modeshift.engines.cpu.fields.brute import BruteField
from modeshift.engines.cpu.fields.field import Field
from modeshift.engines.cpu.fields.groups import GroupField
from modeshift.engines.cpu.fields.patched_tree import PatchedTree
from modeshift.engines.cpu.fields.tree import TreeField
from modeshift.engines.rule import Flat, Gaussian, Latent, Nearest, Rule

__all__ = ["FIELDS", "Field", "make_field"]

FIELDS: dict[str, type[Field]] = {
    "anchors": AnchorField,
    "brute": BruteField,
    "tree": TreeField,
}

_MANY_FEATURES = 32
"""From this number of features on, anchors are at least as fast as boxes (measured)."""

_FLAT = Flat()


def make_field(
    points: np.ndarray,
    weights: np.ndarray,
    radius: float,
    kind: str = "auto",
    n_jobs: int = 1,
    rule: Rule = _FLAT,
) -> Field:
    """Build the field of the named kind; "auto" chooses by the number of features.

    With the nearest rule, "anchors" means balls. Scores of a PLDA are compared point by point.
    """
    if isinstance(rule.space, Latent):
        kind = "brute"
    elif kind == "auto":
        kind = "anchors" if points.shape[1] >= _MANY_FEATURES else "tree"
    if kind == "anchors" and isinstance(rule, Nearest):
        return BallField(points, weights, radius, n_jobs, rule)
    if kind == "tree" and points.shape[1] > 1 and isinstance(rule, Flat):
        return GroupField(points, weights, radius, n_jobs, rule)
    if kind == "tree" and isinstance(rule, Gaussian):
        return PatchedTree(points, weights, radius, n_jobs, rule)
    return FIELDS[kind](points, weights, radius, n_jobs, rule)
