"""What the labels at each radius are worth, in numbers from which the score is made."""

from typing import NamedTuple

import numpy as np

from modeshift.choice.agreement import agreements
from modeshift.choice.pairs import Pairs, add_counts, kept_share, nearest_pairs, order_pairs
from modeshift.choice.radii import MANY_DIMENSIONS
from modeshift.choice.silhouettes import distinctness
from modeshift.choice.valleys import CORE, beyond_chance, valley_depth

_POWER = 4  # of the adjusted Rand index: 0.84 counts half. 2 and 8 lose 0.01 to 0.02


class Ground(NamedTuple):
    """The places that are labelled, and what all labellings of them share.

    Attributes
    ----------
    weights : ndarray of shape (m,)
    distances : ndarray of shape (m, m)
    radii : ndarray of shape (H,)
        Rising.
    dimension : float
        Correlation dimension.
    many : bool
        Whether there are many dimensions.
    pairs : Pairs
        Within all radii and core radii.
    """

    weights: np.ndarray
    distances: np.ndarray
    radii: np.ndarray
    dimension: float
    many: bool
    pairs: Pairs

    @property
    def core_radii(self) -> np.ndarray:
        """Radii within which density is counted: they hold a quarter of the neighbours."""
        return core_radii(self.radii, self.dimension)


def core_radii(radii: np.ndarray, dimension: float) -> np.ndarray:
    """Return the radii that hold a quarter of the neighbours: r (1/4)^(1/dimension)."""
    return radii * CORE ** (1.0 / max(dimension, 1.0))


def ground_of(
    distances: np.ndarray,
    weights: np.ndarray,
    radii: np.ndarray,
    dimension: float,
    many: bool | None = None,
) -> Ground:
    """Sort the pairs of places once, for all labellings."""
    many = dimension > MANY_DIMENSIONS if many is None else many
    pairs = order_pairs(distances, np.unique(np.r_[radii, core_radii(radii, dimension)]))
    return Ground(weights, distances, radii, dimension, many, pairs)


class Factors(NamedTuple):
    """What the labels at each of the first H' radii are worth; all of shape (H',) but the first.

    Attributes
    ----------
    agreement : ndarray of shape (H', H')
        Adjusted Rand index of the labels at two radii, 0 instead of negative values.
    depth : ndarray
        How deep the valleys between the clusters are.
    distinct : ndarray
        Silhouettes beyond chance, in many dimensions; else 0.
    kept : ndarray
        Share of the pairs of neighbours that share a cluster.
    second : ndarray
        Share of the second largest cluster, less what chance makes likely.
    effective : ndarray
        Effective number of clusters, exp(-sum p log p).
    n_radii : int
        H: all radii, also the large ones that were not tried.
    """

    agreement: np.ndarray
    depth: np.ndarray
    distinct: np.ndarray
    kept: np.ndarray
    second: np.ndarray
    effective: np.ndarray
    n_radii: int

    @property
    def persistence(self) -> np.ndarray:
        """``1/H sum over all radii of max(0, ARI)^4``: how long the clusters stay the same."""
        return (self.agreement**_POWER).sum(axis=1) / self.n_radii


def factors_of(labels: np.ndarray, ground: Ground, n_neighbors: int | None = None) -> Factors:
    """Judge labels (H', m) at the first H' radii.

    With a number of neighbours only pairs of nearest places count as neighbours.
    """
    weights, pairs = ground.weights, ground.pairs
    near = pairs if n_neighbors is None else nearest_pairs(pairs, ground.distances, n_neighbors)
    counts, counted = weights.copy(), 0
    rows = []
    for row, radius, core in zip(labels, ground.radii, ground.core_radii, strict=False):
        masses = np.bincount(row, weights=weights)
        shares = masses / masses.sum()
        n_core = pairs.number_within(core)
        add_counts(pairs.first, pairs.second, counted, n_core, weights, counts)
        counted = n_core
        n_near = near.number_within(radius)
        rows.append(
            (
                valley_depth(row, shares, counts, pairs, n_core),
                distinctness(ground.distances, row, weights, ground.dimension)
                if ground.many
                else 0.0,
                kept_share(near.first, near.second, n_near, row, weights),
                second_share(masses),
                effective_number(shares),
            )
        )
    depth, distinct, kept, second, effective = np.array(rows).T
    alike = agreements(labels, weights)
    return Factors(alike, depth, distinct, kept, second, effective, len(ground.radii))


def second_share(masses: np.ndarray) -> float:
    """Share of the second largest cluster, less one point and 1.5 standard errors.

    This leaves nothing of the strays of heavy tails.
    """
    if len(masses) == 1:
        return 0.0
    return float(beyond_chance(np.sort(masses)[-2]) / masses.sum())


def effective_number(shares: np.ndarray) -> float:
    """Effective number of clusters: exp(-sum p log p)."""
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))
