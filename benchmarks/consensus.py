"""Several runs joined, and how sure points are of it: ``python benchmarks/consensus.py``.

Does a ``Consensus`` of nine runs leave fewer stray clusters than one run, at no loss of K and G? Is
a point whose confidence is low wrong more often? The paper's sets, the same data and first run for
both; paired differences with their 95% intervals.
"""

import numpy as np

from modeshift import Consensus, StochasticMeanShift
from modeshift.datasets import make_paper_set, paper_set
from modeshift.metrics import purity_report

SETS = range(1, 8)
BANDWIDTH = 0.85
"""With which one setting comes close to the paper's numbers on all sets."""
LARGEST = 1000
"""Larger sets are drawn with about so many points."""
SEEDS = 20
RUNS = 9
STRAY = 3
"""Clusters of fewer points are strays."""


def main():
    print(f"{SEEDS} draws of each set; {RUNS} runs joined less one run, with 95% intervals")
    print("| set | strays, one run | strays | weighted K | K | G | wrong below 0.5 | above 0.9 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for number in SETS:
        outcomes = [compare(number, seed) for seed in range(SEEDS)]
        single = np.array([outcome[0] for outcome in outcomes])
        joined = np.array([outcome[1] for outcome in outcomes])
        sure = np.concatenate([outcome[2] for outcome in outcomes])
        wrong = np.concatenate([outcome[3] for outcome in outcomes])
        changes = difference(joined - single)
        shares = [rate(wrong[sure < 0.5]), rate(wrong[sure > 0.9])]
        cells = [number, f"{single[:, 0].mean():.2f}", *changes, *shares]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def compare(number, seed):
    """Numbers of one run and of the joined ones; confidence and error of each point."""
    scale = min(1.0, LARGEST / paper_set(number).sizes.sum())
    X, y = make_paper_set(number, scale=scale, random_state=seed)
    one = StochasticMeanShift(bandwidth=BANDWIDTH, random_state=seed).fit(X)
    one_run = StochasticMeanShift(bandwidth=BANDWIDTH)
    all_runs = Consensus(one_run, n_runs=RUNS, random_state=seed).fit(X)
    classes = np.unique(y, return_inverse=True)[1]
    commonest = [np.bincount(classes[all_runs.labels_ == c]).argmax() for c in
                 range(all_runs.labels_.max() + 1)]  # fmt: skip
    wrong = np.array(commonest)[all_runs.labels_] != classes
    return numbers(y, one.labels_), numbers(y, all_runs.labels_), all_runs.confidence_, wrong


def numbers(y, labels):
    plain, weighted = purity_report(y, labels), purity_report(y, labels, weighted=True)
    return (np.bincount(labels) < STRAY).sum(), weighted.k, plain.k, plain.g


def difference(values):
    """Mean of each column with the half-width of its 95% interval."""
    half = 1.96 * values.std(0, ddof=1) / np.sqrt(len(values))
    return [f"{m:+.3f} ± {w:.3f}" for m, w in zip(values.mean(0), half, strict=True)]


def rate(wrong):
    return f"{wrong.mean():.1%} of {len(wrong)}" if len(wrong) else "none"


if __name__ == "__main__":
    main()
