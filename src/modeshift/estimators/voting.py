"""Join several labellings of the same points into one, with a confidence for each point."""

from typing import NamedTuple

import numpy as np

from modeshift.choice.agreement import agreement
from modeshift.engines.cpu.space import NumpySpace
from modeshift.engines.finish import number_by_first


class Votes(NamedTuple):
    """Joined runs.

    Attributes
    ----------
    components : ndarray of shape (n,)
        The joined clusters, numbered by first appearance.
    confidence : ndarray of shape (n,)
        Share of the runs that vote for the cluster of each point.
    reference : int
        The run that agrees best with the others.
    winners : ndarray of shape (n,)
        The cluster of the reference that each point joins.
    """

    components: np.ndarray
    confidence: np.ndarray
    reference: int
    winners: np.ndarray


def join_runs(runs: np.ndarray, weights: np.ndarray) -> Votes:
    """Let the runs vote on the cluster of each point.

    The run with the highest mean adjusted Rand index with the others is the reference. A cluster of
    any run stands for the cluster of the reference with which it shares most weight (ties: the
    lower number), and every point joins the cluster that most runs put it in. A stray of one run
    therefore joins the cluster that it has in most other runs. (Linking all points that are
    together in most runs would chain clusters that overlap.)

    Parameters
    ----------
    runs : ndarray of shape (n, r)
        The cluster of each point in each run.
    weights : ndarray of shape (n,)
        Weight of each point.
    """
    n, r = runs.shape
    pairs = [[agreement(a, b, weights) for b in runs.T] for a in runs.T]
    reference = int(np.argmax(np.sum(pairs, axis=1)))
    votes = np.column_stack([_translated(run, runs[:, reference], weights) for run in runs.T])
    # Sorted, equal votes lie side by side. The longest stretch wins; a tie goes to the first.
    votes.sort(axis=1)
    counts = np.column_stack([(votes == votes[:, [k]]).sum(axis=1) for k in range(r)])
    rows, best = np.arange(n), counts.argmax(axis=1)
    winners = votes[rows, best]
    components = number_by_first(NumpySpace(), np.unique(winners, return_inverse=True)[1], rows)
    return Votes(components, counts[rows, best] / r, reference, winners)


def _translated(run: np.ndarray, reference: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Replace each cluster by the cluster of the reference with which it shares most weight."""
    width = int(reference.max()) + 1
    both, owners = np.unique(run * width + reference, return_inverse=True)
    shared = np.bincount(owners, weights=weights)
    order = np.lexsort((both % width, -shared, both // width))
    clusters, firsts = np.unique((both // width)[order], return_index=True)
    stands_for = np.empty(int(run.max()) + 1, dtype=np.int64)
    stands_for[clusters] = (both % width)[order][firsts]
    return stands_for[run]
