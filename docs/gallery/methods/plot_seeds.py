"""
How much does the seed matter?
==============================

``StochasticMeanShift`` draws the order of points. Forty seeds on the same 150 points (Set 3 of the
paper, three classes that overlap): the number of clusters and the agreement with the classes
differ. ``MeanShift`` and ``BlurringMeanShift`` have no chance in them: a line. ``Consensus`` lets
ten runs vote, and differs less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeshift import BlurringMeanShift, Consensus, MeanShift, StochasticMeanShift, datasets

X, y = datasets.make_paper_set(3, random_state=0)
H = 0.9
SEEDED = {
    "StochasticMeanShift": lambda seed: StochasticMeanShift(bandwidth=H, random_state=seed),
    "Consensus of 10": lambda seed: Consensus(
        StochasticMeanShift(bandwidth=H), n_runs=10, random_state=seed
    ),
}
FIXED = {"MeanShift": MeanShift(bandwidth=H), "BlurringMeanShift": BlurringMeanShift(bandwidth=H)}


def numbers(labels):
    """Return the number of clusters and the agreement with the classes."""
    return labels.max() + 1, adjusted_rand_score(y, labels)


# Picture: Number of clusters and adjusted Rand index of 40 seeds as dots, for one run and for ten
# joined runs; MeanShift and BlurringMeanShift as single marks.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
rng = np.random.default_rng(0)
for row, (name, make) in enumerate(SEEDED.items()):
    found = np.array([numbers(make(seed).fit_predict(X)) for seed in range(40)])
    print(f"{name}: clusters {found[:, 0].min():.0f} to {found[:, 0].max():.0f},", end=" ")
    print(f"ARI {found[:, 1].mean():.2f} ± {found[:, 1].std():.2f}")
    for ax, values in zip(axes, found.T, strict=True):
        ax.plot(values, row + rng.uniform(-0.2, 0.2, 40), "o", ms=4, alpha=0.6)
for row, model in enumerate(FIXED.values(), start=2):
    for ax, value in zip(axes, numbers(model.fit_predict(X)), strict=True):
        ax.plot(value, row, "kD")
axes[0].set_yticks(range(4), [*SEEDED, *FIXED])
axes[0].set_xlabel("clusters, strays counted")
axes[1].set_xlabel("adjusted Rand index")
