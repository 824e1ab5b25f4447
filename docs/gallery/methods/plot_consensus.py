"""
Several runs vote
=================

Where classes overlap, another seed puts the border elsewhere. ``Consensus`` lets ten runs vote,
and ``confidence_`` is the share of the votes for the cluster of each point: low along the borders.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeshift import Consensus, StochasticMeanShift, datasets
from modeshift.plots import draw_clusters

X, y = datasets.make_paper_set(2, random_state=0)
runs = [StochasticMeanShift(bandwidth=0.85, random_state=seed).fit(X) for seed in range(2)]
joined = Consensus(StochasticMeanShift(bandwidth=0.85), n_runs=10, random_state=0).fit(X)

# Picture: Clusters of two seeds, which differ at the border and in their strays; those of ten
# joined runs, without strays; and the confidence of each point, low along the borders.
figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
for seed, (ax, run) in enumerate(zip(axes[0], runs, strict=True)):
    draw_clusters(ax, X, y, run.labels_)
    ax.set_title(f"seed {seed}: {len(run.cluster_centers_)} clusters")
draw_clusters(axes[1, 0], X, y, joined.labels_)
axes[1, 0].set_title(f"ten runs: {len(joined.cluster_centers_)} clusters")
drawn = axes[1, 1].scatter(*X.T, c=joined.confidence_, cmap="viridis", s=12)
axes[1, 1].set_title("confidence of the vote")
figure.colorbar(drawn, ax=axes[1, 1])
for ax in axes.flat:
    ax.set_aspect("equal")

# %%
# Points of low confidence are wrong more often:

sure = joined.confidence_ > 0.9
for name, some in {"above 0.9": sure, "up to 0.9": ~sure}.items():
    classes = [np.bincount(y[some & (joined.labels_ == k)], minlength=4) for k in range(3)]
    wrong = 1 - sum(c.max() for c in classes) / sum(c.sum() for c in classes)
    print(f"confidence {name}: {some.sum()} points, {wrong:.0%} not of the commonest class")
