"""
When not: rings and moons
=========================

A mode is a hill top, and a ring has none: its points climb to many places along it. Methods that
join neighbours follow the thread. The data are made by scikit-learn, 500 points each.

On the moons ``MeanShift`` is right here only because the ends of its climbs form a chain that the
merge joins. Moved points form no chain, so ``StochasticMeanShift`` breaks the thread.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, SpectralClustering
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from modeshift import MeanShift, StochasticMeanShift
from modeshift.estimators.warnings import NoClustersWarning

warnings.simplefilter("ignore", NoClustersWarning)  # on the rings, the answer is drawn
DATA = {
    "rings": make_circles(500, factor=0.5, noise=0.05, random_state=0),
    "moons": make_moons(500, noise=0.05, random_state=0),
}
METHODS = {
    "MeanShift()": MeanShift(),
    "StochasticMeanShift()": StochasticMeanShift(random_state=0),
    "HDBSCAN()": HDBSCAN(copy=True),
    "SpectralClustering(2)": SpectralClustering(2, gamma=100, random_state=0),
}

# Picture: Two rings and two moons under four methods. MeanShift and StochasticMeanShift join the
# rings, and StochasticMeanShift breaks the moons into many pieces. HDBSCAN and spectral clustering
# find both rings and both moons.
figure, axes = plt.subplots(2, 4, figsize=(12, 6), layout="constrained")
for row, (X, y) in zip(axes, DATA.values(), strict=True):
    for ax, (method, model) in zip(row, METHODS.items(), strict=True):
        labels = model.fit_predict(X)
        ax.scatter(*X[labels < 0].T, color="0.75", s=4)
        ax.scatter(*X[labels >= 0].T, c=labels[labels >= 0] % 10, cmap="tab10", vmax=9, s=8)
        score = adjusted_rand_score(y, labels)
        n = labels.max() + 1
        ax.set_title(f"{method}\nclusters: {n}, ARI {score:.2f}", fontsize=10)
        ax.set(xticks=[], yticks=[], aspect="equal")
figure.suptitle("Threads: join neighbours instead of climbing")

# %%
# The largest score that any bandwidth reaches, chosen with the labels:

for name, (X, y) in DATA.items():
    for model in (MeanShift(), StochasticMeanShift(random_state=0)):
        scores = {
            h: adjusted_rand_score(y, model.set_params(bandwidth=h).fit_predict(X))
            for h in np.geomspace(0.1, 2, 20).round(3)
        }
        best = max(scores, key=scores.get)
        print(f"{name}, {type(model).__name__}: ARI {scores[best]:.2f} at bandwidth {best}")
