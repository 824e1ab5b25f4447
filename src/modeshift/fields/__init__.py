"""Fields: the positions of all points, and fast answers to "what is the mean near x?"."""

import numpy as np

from modeshift.fields.brute import BruteField
from modeshift.fields.field import Field

__all__ = ["FIELDS", "Field", "make_field"]

FIELDS: dict[str, type[Field]] = {"brute": BruteField}


def make_field(
    points: np.ndarray, weights: np.ndarray, bandwidth: float, kind: str = "auto"
) -> Field:
    """Build the field of the named kind, or the one that suits the data."""
    chosen = "brute" if kind == "auto" else kind
    return FIELDS[chosen](points, weights, bandwidth)
