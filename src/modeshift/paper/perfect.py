"""The score that a perfect setting would have.

If the paper's runs had been ours with another seed, some of its 98 numbers would still lie outside
the central 95% of our seeds. To see how many, one seed plays the paper: its row of each set is
compared with the rows of the other seeds. The rows of a set, deterministic and stochastic, have the
same seed, because they have the same points. The sets draw their seeds independently.
"""

import numpy as np

from modeshift.paper.cells import FIELDS, is_inside
from modeshift.paper.plan import SETS
from modeshift.paper.published import PUBLISHED
from modeshift.paper.results import Results


def inside_of_each_seed(rows: np.ndarray) -> np.ndarray:
    """Return how many of its columns lie in the spread of the other seeds, for each seed.

    Parameters
    ----------
    rows : array of shape (columns, seeds)
    """
    seeds = range(rows.shape[1])
    return np.array(
        [is_inside(rows[:, seed], np.delete(rows, seed, axis=1)).sum() for seed in seeds]
    )


def perfect_scores(results: Results, draws: int = 10_000) -> np.ndarray:
    """Return the scores (of 98) of papers that are drawn from our own seeds."""
    random = np.random.default_rng(0)
    total = np.zeros(draws, dtype=int)
    for index in SETS:
        of_both = [
            results.of("paper", set=index, algorithm=algorithm) for algorithm in PUBLISHED[index]
        ]
        inside = sum(
            inside_of_each_seed(np.array([ours.column(field) for field in FIELDS]))
            for ours in of_both
        )
        total += random.choice(np.asarray(inside), size=draws)
    return total
