"""Where the climbs of ``MeanShift`` start when not every point climbs."""

from typing import Any

import numpy as np

from modeshift.compress import compress
from modeshift.validation import check_matrix


def check_seeds(seeding: Any, n_features: int) -> np.ndarray:
    """Return starting positions as float64 of shape (m, n_features)."""
    seeds = check_matrix("seeding", seeding)
    if seeds.shape[1] != n_features:
        raise ValueError(
            f"seeding must have as many columns as X ({n_features}), got shape {seeds.shape}."
        )
    return seeds


def bin_seeds(points: np.ndarray, weights: np.ndarray, side: float) -> np.ndarray:
    """One point of each cell of a grid that holds weight: the one nearest to the cell's mean.

    The grid is anchored at the minimum of each feature, so that shifted data give the same seeds.
    Ties go to the lower index; the seeds come in the order of the points.
    """
    low = points.min(axis=0)
    heavy = np.flatnonzero(weights > 0)
    points, weights = points[heavy], weights[heavy]
    offsets = points - low
    cells = compress(offsets, weights, side)
    cell = cells.cell_of
    distances = ((offsets - cells.points[cell]) ** 2).sum(axis=1)
    smallest = np.full(len(cells.points), np.inf)
    np.minimum.at(smallest, cell, distances)
    # Two points of one cell are equally far from their mean: rounding must not choose.
    central = np.flatnonzero(distances <= smallest[cell] + 1e-9 * side * side)
    _, first = np.unique(cell[central], return_index=True)
    return points[np.sort(central[first])]
