"""
Strays and outliers
===================

Three groups, and 60 points that belong to none (made data). There are three ways to treat such
points: give them to the nearest cluster, call small clusters noise, or call the points of lowest
density outliers.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeshift import StochasticMeanShift

rng = np.random.default_rng(0)
middles, sizes = [[0, 0], [5, 0], [2, 4]], [250, 200, 150]
groups = [rng.normal(m, 0.6, (n, 2)) for m, n in zip(middles, sizes, strict=True)]
X = np.concatenate([*groups, rng.uniform([-4, -4], [9, 8], (60, 2))])
is_alone = np.arange(len(X)) >= 600

nearest = StochasticMeanShift(random_state=0).fit(X)
noise = StochasticMeanShift(strays="noise", random_state=0).fit(X)
density = nearest.score_samples(X)
low = density < np.quantile(density, 0.1)
WAYS = {
    "nothing set: the nearest cluster": nearest.labels_,
    'strays="noise": small clusters': noise.labels_,
    "the tenth of lowest density": np.where(low, -1, nearest.labels_),
}

# Picture: The same three groups three times. First every point has the colour of a group; then
# points far from the groups are grey; then those, and points at the rims of the groups, are grey.
figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
for ax, (way, labels) in zip(axes, WAYS.items(), strict=True):
    out = labels == -1
    ax.scatter(*X[out].T, color="0.6", s=8)
    ax.scatter(*X[~out].T, c=labels[~out], cmap="tab10", vmax=9, s=8)
    ax.set_title(f"{way}\n{out.sum()} left out", fontsize=11)
    ax.set(xticks=[], yticks=[], aspect="equal")
    print(f"{way}: {(out & is_alone).sum()} of the 60 found, {(out & ~is_alone).sum()} others")

# %%
# **Which one?** The first, if every point must have a label. The second, if a stray is a point
# whose own hill is tiny: its climb ends alone. The third, if you want to say how many are left out.
# ``predict(new, outliers=-1)`` asks the question of new points: is any fitted point near?

print(nearest.predict([[0, 0], [20, 20]], outliers=-1))
