"""One curve of a profile: the labels over the bandwidths, and how each of them is judged."""

from typing import NamedTuple

import numpy as np

from modeshift.choice.factors import Factors, Ground, effective_number
from modeshift.choice.score import ALIKE, middle_of, peaks_of, scores_of

_DUST = 0.05  # of the mean effective cluster; 0.1 is about as good, 0.2 loses small clusters


class Curve(NamedTuple):
    """What one kind of neighbourhood gives over the bandwidths of a profile.

    Attributes
    ----------
    n_neighbors : int or None
        As it would be for all the data.
    bandwidths : ndarray of shape (H,)
        Rising, up to the first one at which 95% of the points are one cluster.
    labels : ndarray of shape (H, m)
        Clusters of the sample at each bandwidth: the hierarchy.
    n_clusters : ndarray of shape (H,)
        Beyond dust.
    share_small : ndarray of shape (H,)
        Share of the points that are dust: see :func:`dust_limit`.
    persistence : ndarray of shape (H,)
        Mean over all bandwidths of the adjusted Rand index with the labels there, to the power 4.
    quality : ndarray of shape (H,)
        How well the clusters are set apart: the depth of the valleys between them, in many
        dimensions plus the silhouettes beyond chance.
    score : ndarray of shape (H,)
    agreements : ndarray of shape (H, H)
        Adjusted Rand index of the labels at two bandwidths, 0 instead of negative values.
    """

    n_neighbors: int | None
    bandwidths: np.ndarray
    labels: np.ndarray
    n_clusters: np.ndarray
    share_small: np.ndarray
    persistence: np.ndarray
    quality: np.ndarray
    score: np.ndarray
    agreements: np.ndarray

    @property
    def best(self) -> int:
        """Position of the choice: the middle of the plateau around the highest score."""
        return middle_of(self.agreements, int(np.argmax(self.score)))

    def alternatives(self) -> list[int]:
        """Positions of other answers, rising: peaks of the score, and at least one on each side.

        Where a side of the choice has no peak, its highest score counts whose labels have two
        clusters or more and differ from the choice (ARI below 0.95), if there is one.
        """
        best = self.best
        found = {middle_of(self.agreements, i) for i in peaks_of(self.score)[1:]} - {best}
        other = (self.agreements[best] < ALIKE) & (self.n_clusters > 1)
        for side in (np.arange(best), np.arange(best + 1, len(self.score))):
            if not found & set(side.tolist()) and other[side].any():
                found.add(int(side[np.argmax(np.where(other[side], self.score[side], -1.0))]))
        return sorted(found)


def curve_of(
    n_neighbors: int | None,
    widths: np.ndarray,
    labels: np.ndarray,
    factors: Factors,
    ground: Ground,
) -> Curve:
    """Put together what is known of the labels at the first of the bandwidths."""
    dust = [dust_limit(row, ground.weights) for row in labels]
    masses = [np.bincount(row, weights=ground.weights) for row in labels]
    return Curve(
        n_neighbors=n_neighbors,
        bandwidths=widths[: len(labels)],
        labels=labels,
        n_clusters=np.array([(m >= least).sum() for m, least in zip(masses, dust, strict=True)]),
        share_small=np.array(
            [m[m < least].sum() / m.sum() for m, least in zip(masses, dust, strict=True)]
        ),
        persistence=factors.persistence,
        quality=factors.depth + factors.distinct,
        score=scores_of(factors, ground.many),
        agreements=factors.agreement,
    )


def dust_limit(labels: np.ndarray, weights: np.ndarray) -> float:
    """Return the weight below which a cluster is dust: N / (20 E).

    N is all weight and E the effective number of clusters, so N / E is the size of a typical
    cluster. The limit scales with the clusters: it keeps speakers with 3 segments among 250.
    """
    masses = np.bincount(labels, weights=weights)
    total = masses.sum()
    return float(_DUST * total / effective_number(masses / total))


def count_beyond_dust(labels: np.ndarray, weights: np.ndarray) -> int:
    """Return the number of clusters that are not dust."""
    return int((np.bincount(labels, weights=weights) >= dust_limit(labels, weights)).sum())
