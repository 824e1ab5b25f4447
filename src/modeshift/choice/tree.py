"""The tree of clusters over the bandwidth: which clusters split into which."""

from typing import NamedTuple

import numpy as np


class ClusterTree(NamedTuple):
    """Clusters that live over a range of bandwidths, from coarse to fine.

    A cluster lives on from one bandwidth to the next smaller one while just one cluster beyond dust
    comes from it. Where two or more do, it ends, and they are its children.

    Attributes
    ----------
    parent : ndarray of shape (K,)
        The cluster that each one is split from, always a lower number; -1: none.
    low, high : ndarray of shape (K,)
        The smallest and the largest bandwidth at which each cluster lives.
    share : ndarray of shape (K,)
        Share of the weight of the sample that each cluster has at its largest bandwidth.
    bandwidths : ndarray of shape (H,)
        Rising.
    members : ndarray of shape (H, m)
        At each bandwidth, the cluster of the tree that each point of the sample is in; -1: dust.

    Examples
    --------
    >>> from modeshift import MeanShift, datasets
    >>> X, _ = datasets.make_paper_set(1, scale=0.3, random_state=0)
    >>> tree = MeanShift().fit(X).profile_.tree()
    >>> len(tree.children(-1))
    2
    """

    parent: np.ndarray
    low: np.ndarray
    high: np.ndarray
    share: np.ndarray
    bandwidths: np.ndarray
    members: np.ndarray

    def children(self, cluster: int) -> list[int]:
        """Return the clusters that a cluster splits into; -1 gives the roots."""
        return [int(child) for child in np.flatnonzero(self.parent == cluster)]

    def places(self) -> np.ndarray:
        """Return where to draw each cluster: leaves in a row, others in the middle of theirs."""
        places = np.zeros(len(self.parent))
        leaves = 0
        waiting = self.children(-1)[::-1]
        visited = []
        while waiting:
            cluster = waiting.pop()
            visited.append(cluster)
            children = self.children(cluster)
            waiting.extend(reversed(children))
            if not children:
                places[cluster] = leaves
                leaves += 1
        for cluster in reversed(visited):  # children come after their parent
            children = self.children(cluster)
            if children:
                places[cluster] = np.mean(places[children])
        return places


def tree_of(
    bandwidths: np.ndarray, labels: np.ndarray, weights: np.ndarray, smallest: float
) -> ClusterTree:
    """Link the clusters at each bandwidth with those at the next larger one.

    A cluster comes from the cluster of the next larger bandwidth with which it shares most weight.
    Clusters of less weight than ``smallest`` are dust and no part of the tree.
    """
    parent: list[int] = []
    low: list[float] = []
    high: list[float] = []
    share: list[float] = []
    members = np.full(labels.shape, -1)
    for level in reversed(range(len(bandwidths))):
        masses = np.bincount(labels[level], weights=weights)
        clusters = np.flatnonzero(masses >= smallest)
        above = members[level + 1] if level + 1 < len(bandwidths) else np.full(len(weights), -1)
        origins = [
            _origin(above[labels[level] == c], weights[labels[level] == c]) for c in clusters
        ]
        for cluster, origin in zip(clusters, origins, strict=True):
            if origin >= 0 and origins.count(origin) == 1:
                node = origin
                low[node] = bandwidths[level]
            else:
                node = len(parent)
                parent.append(origin)
                low.append(bandwidths[level])
                high.append(bandwidths[level])
                share.append(masses[cluster] / weights.sum())
            members[level, labels[level] == cluster] = node
    return ClusterTree(
        np.array(parent, dtype=np.int64), np.array(low), np.array(high), np.array(share),
        bandwidths, members,
    )  # fmt: skip


def _origin(nodes: np.ndarray, weights: np.ndarray) -> int:
    """Return the node that has most of the weight, of equal ones the first; -1 if all is dust."""
    known = nodes >= 0
    if not known.any():
        return -1
    return int(np.argmax(np.bincount(nodes[known], weights=weights[known])))
