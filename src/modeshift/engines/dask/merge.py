"""Clusters of ends in partitions: components, labels, centres.

A partition finds the components of its own ends. Then each pair of partitions finds the components
that touch, and the client joins these few numbers. The result is exact, because any two ends lie in
one partition or in one pair of partitions.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as components_of_graph

from modeshift.engines.cpu.components import connected_components
from modeshift.engines.cpu.fields import Field
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.dask.parts import Parts, distinct
from modeshift.engines.finish import label_components, number_by_first


class Groups(NamedTuple):
    """Components of the ends of one partition.

    Attributes
    ----------
    ends : ndarray of shape (m, d)
        The distinct ends.
    group_of : ndarray of shape (m,)
        The component of each end, numbered by first appearance.
    end_of : ndarray of shape (n,)
        The end of each point, as a row of ``ends``.
    """

    ends: np.ndarray
    group_of: np.ndarray
    end_of: np.ndarray


class Facts(NamedTuple):
    """Facts about each component for the client: first point, its end, and the weight."""

    firsts: np.ndarray
    places: np.ndarray
    masses: np.ndarray


class Merged(NamedTuple):
    """Clusters of all ends.

    Attributes
    ----------
    labels : list of Delayed
        Label of each point, for each partition.
    anchors : ndarray of shape (n_clusters, d)
        One end of each cluster.
    sums : list of Delayed
        Sums for the centres, for each partition.
    """

    labels: list[Any]
    anchors: np.ndarray
    sums: list[Any]


def merge(
    parts: Parts, ends: list[Any], length: float, smallest: float, most: int | None
) -> Merged:
    """Label ends: ends within ``length`` of each other, or linked through others, are joined.

    ``smallest`` and ``most`` are those of :func:`modeshift.engines.finish.label_components`.
    """
    groups = parts.persist([parts.task("merge", _groups_of, each, length) for each in ends])
    facts = parts.get(
        [
            parts.task("merge-facts", _facts_of, group, field, each)
            for group, field, each in zip(groups, parts.fields, ends, strict=True)
        ]
    )
    sizes = np.array([len(each.firsts) for each in facts])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    touching = [
        (p, q, parts.task("merge-pairs", _touching, groups[p], groups[q], length))
        for p, q in combinations(range(len(groups)), 2)
    ]
    edges = [np.empty((0, 2), dtype=np.int64)]
    for (p, q, _), found in zip(touching, parts.get([pair for *_, pair in touching]), strict=True):
        edges.append(found + offsets[[p, q]])
    components = _join(np.concatenate(edges), int(offsets[-1]))
    firsts = np.concatenate(
        [each.firsts + start for each, start in zip(facts, parts.starts, strict=True)]
    )
    masses = np.concatenate([each.masses for each in facts])
    space = NumpySpace()
    components = number_by_first(space, components, firsts)
    labels = label_components(space, components, masses, smallest, most)
    tables = np.split(labels, offsets[1:-1])
    anchors = _anchors(labels, firsts, np.concatenate([each.places for each in facts]))
    labelled = parts.persist(
        [
            parts.task("labels", _labels_of, group, table)
            for group, table in zip(groups, tables, strict=True)
        ]
    )
    sums = [
        parts.task("centers", _sums_of, field, each, label, anchors)
        for field, each, label in zip(parts.fields, ends, labelled, strict=True)
    ]
    return Merged(labelled, anchors, sums)


def centers_of(parts: Parts, merged: Merged) -> np.ndarray:
    """Return the weighted mean of the ends of each cluster; the plain mean if it has no weight."""
    weighted, masses, plain, counts = (
        np.sum(column, axis=0) for column in zip(*parts.get(merged.sums), strict=True)
    )
    heavy = masses > 0.0
    offsets = np.where(heavy[:, np.newaxis], weighted, plain)
    return merged.anchors + offsets / np.where(heavy, masses, counts)[:, np.newaxis]


def _groups_of(ends: np.ndarray, length: float) -> Groups:
    places, end_of = distinct(ends)
    return Groups(places, connected_components(places, length), end_of)


def _facts_of(groups: Groups, field: Field, ends: np.ndarray) -> Facts:
    components = groups.group_of[groups.end_of]
    firsts = np.unique(components, return_index=True)[1]
    return Facts(firsts, ends[firsts], np.bincount(components, weights=field.weights))


def _touching(ours: Groups, theirs: Groups, length: float) -> np.ndarray:
    """Return pairs of components of two partitions that touch."""
    both = connected_components(np.concatenate([ours.ends, theirs.ends]), length)
    mine, other = both[: len(ours.ends)], both[len(ours.ends) :]
    left = np.unique(np.column_stack([mine, ours.group_of]), axis=0)
    right = np.unique(np.column_stack([other, theirs.group_of]), axis=0)
    # In each joined group: link theirs to our first component, and ours to their first.
    found = []
    for joint in np.intersect1d(left[:, 0], right[:, 0]):
        a, b = left[left[:, 0] == joint, 1], right[right[:, 0] == joint, 1]
        found += [(a[0], each) for each in b] + [(each, b[0]) for each in a[1:]]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _join(edges: np.ndarray, n: int) -> np.ndarray:
    graph = coo_array((np.ones(len(edges), dtype=bool), (edges[:, 0], edges[:, 1])), shape=(n, n))
    return components_of_graph(graph, directed=False)[1]


def _anchors(labels: np.ndarray, firsts: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the end of the first point of each cluster."""
    order = np.argsort(firsts)[::-1]
    anchors = np.empty((labels.max() + 1, places.shape[1]))
    kept = order[labels[order] >= 0]
    anchors[labels[kept]] = places[kept]
    return anchors


def _labels_of(groups: Groups, table: np.ndarray) -> np.ndarray:
    return table[groups.group_of][groups.end_of]


def _sums_of(
    field: Field, ends: np.ndarray, labels: np.ndarray, anchors: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return weighted sums of offsets from the anchors, weights, plain sums, and counts."""
    n = len(anchors)
    kept = labels >= 0
    labels, weights = labels[kept], field.weights[kept]
    offsets = ends[kept] - anchors[labels]
    weighted, plain = np.zeros_like(anchors), np.zeros_like(anchors)
    for k in range(offsets.shape[1]):
        weighted[:, k] = np.bincount(labels, weights * offsets[:, k], n)
        plain[:, k] = np.bincount(labels, offsets[:, k], n)
    return weighted, np.bincount(labels, weights, n), plain, np.bincount(labels, minlength=n)
