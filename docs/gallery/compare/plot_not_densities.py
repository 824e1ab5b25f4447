"""
When not: very different densities
==================================

One bandwidth is one scale. Where a tight cluster stands beside a wide one, no radius suits both: a
small one breaks the wide cluster, a large one swallows the tight one's neighbour. A mixture of
Gaussians gives each cluster a spread of its own, and HDBSCAN each its density. Counting neighbours
instead of measuring a radius (``n_neighbors``) helps mean-shift. Made data, 900 points.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from modeshift import MeanShift, StochasticMeanShift

rng = np.random.default_rng(0)
middles, spreads = [[0, 0], [1.2, 0], [12, 0]], [0.15, 0.15, 3.0]
X = np.concatenate([rng.normal(m, s, (300, 2)) for m, s in zip(middles, spreads, strict=True)])
y = np.repeat([0, 1, 2], 300)
METHODS = {
    "MeanShift()": MeanShift(),
    "MeanShift(bandwidth=0.6)": MeanShift(bandwidth=0.6),
    "MeanShift(n_neighbors=150)": MeanShift(bandwidth=np.inf, n_neighbors=150),
    "StochasticMeanShift()": StochasticMeanShift(random_state=0),
    "HDBSCAN(30)": HDBSCAN(min_cluster_size=30, copy=True),
    "GaussianMixture(3)": GaussianMixture(
        3, n_init=10, init_params="random_from_data", random_state=0
    ),
}

# Picture: Two tight clusters beside a wide one under six methods. MeanShift and
# StochasticMeanShift join the tight ones, and a smaller bandwidth breaks the wide one into more
# than a hundred pieces. HDBSCAN and a mixture of Gaussians find all three.
figure, axes = plt.subplots(2, 3, figsize=(12, 6), layout="constrained")
for ax, (method, model) in zip(axes.flat, METHODS.items(), strict=True):
    labels = model.fit_predict(X)
    ax.scatter(*X[labels < 0].T, color="0.75", s=4)
    ax.scatter(*X[labels >= 0].T, c=labels[labels >= 0] % 10, cmap="tab10", vmax=9, s=8)
    n_clusters, score = len(np.unique(labels[labels >= 0])), adjusted_rand_score(y, labels)
    ax.set_title(f"{method}\nclusters: {n_clusters}, ARI {score:.2f}", fontsize=10)
    ax.set(xticks=[], yticks=[])
figure.suptitle("Two tight clusters and a wide one")
