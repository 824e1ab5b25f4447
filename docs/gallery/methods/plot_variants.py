"""
The variants, side by side
==========================

The same 150 points (Set 3 of the paper) under every variant. Upper row: each point climbs alone.
Middle row: one random point, or batch, moves at a time. Lower row: all points move at once, and the
true classes. One set with one seed shows what a variant does, not which one is better.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, datasets
from modeshift.plots import draw_clusters

H = 0.9
VARIANTS = {
    "MeanShift": MeanShift(bandwidth=H),
    "seeding=30": MeanShift(bandwidth=H, seeding=30, random_state=0),
    'kernel="gaussian", h/2': MeanShift(bandwidth=H / 2, kernel="gaussian"),
    'metric="cosine", 0.2': MeanShift(bandwidth=0.2, metric="cosine"),
    "StochasticMeanShift": StochasticMeanShift(bandwidth=H, random_state=0),
    "bandwidth=(0.7, 1.1)": StochasticMeanShift(bandwidth=(0.7, 1.1), random_state=0),
    "batch_size=15": StochasticMeanShift(bandwidth=H, batch_size=15, random_state=0),
    "n_neighbors=15": StochasticMeanShift(bandwidth=H, n_neighbors=15, random_state=0),
    "BlurringMeanShift": BlurringMeanShift(bandwidth=H),
    'kernel="gaussian", stop="entropy", h/2': BlurringMeanShift(
        bandwidth=H / 2, kernel="gaussian", stop="entropy"
    ),
    'feature_weights="learned", h/√2': BlurringMeanShift(
        bandwidth=H / 2**0.5, feature_weights="learned"
    ),
}

X, y = datasets.make_paper_set(3, random_state=0)
# Picture: Twelve small pictures of the same points: the clusters of eleven variants, with their
# number and the adjusted Rand index, and the true classes.
figure, axes = plt.subplots(3, 4, figsize=(15, 11), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, VARIANTS.items(), strict=False):  # the last is left over
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit_predict(X)
    draw_clusters(ax, X, y, labels)
    score = adjusted_rand_score(y, labels)
    ax.set_title(f"{name}\n{labels.max() + 1} clusters, ARI {score:.2f}", fontsize=11)
draw_clusters(axes[-1, -1], X, y, y)
axes[-1, -1].set_title("True classes", fontsize=11)
for ax in axes.flat:
    ax.set_aspect("equal")
figure.suptitle(f"Set 3 of the paper, 150 points, h = {H}", fontsize=14)

# %%
# A Gaussian of bandwidth h reaches further than a ball of radius h, so its bandwidth is h/2.
# Learned weights add up to 1, so distances are √2 times shorter and the bandwidth is h/√2.
# :doc:`/variants` says when to use which.
