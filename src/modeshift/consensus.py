"""Several labellings of the same points joined into one, and how sure each point is of it."""

import numpy as np

from modeshift._jit import kernel
from modeshift.clusters import number_by_first


def join_runs(runs: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join points that are together in more than half of the runs, directly or through others.

    Points with the same label in every run are one row, and only distinct rows are compared: the
    time grows with the square of their number, the memory with the number of points.

    Parameters
    ----------
    runs : ndarray of shape (n, r)
        The cluster of each point in each run.
    weights : ndarray of shape (n,)
        Of the points.

    Returns
    -------
    components : ndarray of shape (n,)
        The joined clusters, numbered by first appearance.
    confidence : ndarray of shape (n,)
        Share of the runs in which the cluster of the point and its joined cluster hold more than
        half of each other.
    """
    rows, owners = np.unique(runs, axis=0, return_inverse=True)
    groups = np.full(len(rows), -1)
    _join_rows(rows, groups)
    components = number_by_first(groups[owners.ravel()], np.arange(len(runs)))
    agreeing = np.mean([_agrees(run, components, weights) for run in runs.T], axis=0)
    return components, agreeing


@kernel
def _join_rows(rows, groups):
    """Number the groups of rows that are linked by pairs equal in more than half of the columns.

    A group grows from one row: whoever is linked to a member joins and is asked in its turn.
    """
    n, r = rows.shape
    queue = np.empty(n, np.int64)
    n_groups = 0
    for seed in range(n):
        if groups[seed] >= 0:
            continue
        groups[seed] = n_groups
        queue[0] = seed
        asked, waiting = 0, 1
        while asked < waiting:
            row = rows[queue[asked]]
            asked += 1
            for other in range(n):
                if groups[other] >= 0:
                    continue
                equal = 0
                for k in range(r):
                    equal += row[k] == rows[other, k]
                if 2 * equal > r:
                    groups[other] = n_groups
                    queue[waiting] = other
                    waiting += 1
        n_groups += 1


def _agrees(run: np.ndarray, components: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether the clusters of each point in a run and in the joined labels are much the same."""
    both = run * (components.max() + 1) + components
    _, owners = np.unique(both, return_inverse=True)
    shared = np.bincount(owners, weights=weights)[owners]
    sizes = [np.bincount(labels, weights=weights)[labels] for labels in (run, components)]
    return 2.0 * shared > np.maximum(*sizes)
