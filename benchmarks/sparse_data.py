"""Doubly stochastic mean-shift on sparse data: ``python benchmarks/sparse_data.py``.

Does a bandwidth that is drawn anew at each step leave fewer stray clusters than a fixed one, at
equal K and G (arXiv 2602.15393)? The paper's Set 3 (50 points a class) and thinner draws of it, the
same data and seed for every bandwidth; paired differences with their 95% intervals.
"""

import numpy as np

from modeshift import StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.metrics import g_score, k_score

SEEDS = 200
FIXED = 0.9
OTHERS = ((0.7, 1.1), (0.5, 1.3), 1.1, (0.9, 1.3))
STRAY = 3
"""Clusters of fewer points are strays."""


def main():
    print(f"{SEEDS} seeds; strays: clusters of fewer than {STRAY} points; difference to a fixed h")
    print("| points a class | bandwidth | clusters | strays | K | G |")
    print("| --- | --- | --- | --- | --- | --- |")
    for points in (50, 25, 12):
        fixed = runs(points, FIXED)
        print(f"| {points} | {FIXED} | " + " | ".join(f"{m:.2f}" for m in fixed.mean(0)) + " |")
        for other in OTHERS:
            changes = difference(runs(points, other) - fixed)
            print(f"| {points} | {other} | " + " | ".join(changes) + " |")


def runs(points, bandwidth):
    """Clusters, strays, K and G of each seed."""
    return np.array([one(points, bandwidth, seed) for seed in range(SEEDS)])


def one(points, bandwidth, seed):
    X, y = make_paper_set(3, scale=points / 50, random_state=seed)
    labels = StochasticMeanShift(bandwidth=bandwidth, random_state=seed).fit_predict(X)
    sizes = np.bincount(labels)
    return len(sizes), (sizes < STRAY).sum(), k_score(y, labels), g_score(y, labels)


def difference(values):
    """Mean of each column with the half-width of its 95% interval."""
    half = 1.96 * values.std(0, ddof=1) / np.sqrt(len(values))
    return [f"{m:+.2f} ± {w:.2f}" for m, w in zip(values.mean(0), half, strict=True)]


if __name__ == "__main__":
    main()
