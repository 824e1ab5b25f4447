"""
The climbs of three schedules
=============================

The same 150 points (Set 3 of the paper) and the same bandwidth. ``MeanShift`` moves each point
alone over the points as they were. ``StochasticMeanShift`` moves one random point by one step and
leaves it there, so the paths bend towards points that have moved before. ``BlurringMeanShift``
moves all points at once.
"""

import matplotlib.pyplot as plt

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, datasets
from modeshift.plots import draw_clusters, draw_paths

X, y = datasets.make_paper_set(3, random_state=0)
models = [
    MeanShift(bandwidth=0.9, record=True),
    StochasticMeanShift(bandwidth=0.9, record=True, random_state=0),
    BlurringMeanShift(bandwidth=0.9, record=True),
]

# Picture: Paths of the climbs above, clusters below, for three schedules. The deterministic paths
# end at many places; the stochastic and the blurring ones run together at a few.
figure, axes = plt.subplots(2, 3, figsize=(12, 8), sharex=True, sharey=True, layout="constrained")
for column, model in zip(axes.T, models, strict=True):
    model.fit(X)
    draw_paths(column[0], model.paths_)
    draw_clusters(column[1], X, y, model.labels_)
    column[0].set_title(f"{type(model).__name__}: {model.n_steps_} steps")
    column[1].set_title(f"{len(model.cluster_centers_)} clusters")
for ax in axes.flat:
    ax.set_aspect("equal")
