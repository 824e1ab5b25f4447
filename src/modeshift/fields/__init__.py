"""Fields: the positions of all points, and fast answers to "what is the mean near x?"."""

import numpy as np

from modeshift.fields.brute import BruteField
from modeshift.fields.field import Field
from modeshift.fields.tree import TreeField

__all__ = ["FIELDS", "Field", "make_field"]

FIELDS: dict[str, type[Field]] = {"brute": BruteField, "tree": TreeField}


def make_field(
    points: np.ndarray, weights: np.ndarray, radius: float, kind: str = "auto", n_jobs: int = 1
) -> Field:
    """Build the field of the named kind, or the one that suits the data."""
    return FIELDS["tree" if kind == "auto" else kind](points, weights, radius, n_jobs)
