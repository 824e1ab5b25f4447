"""
One step uphill
===============

What all estimators of this library repeat: take the mean of the points within the bandwidth, and
go there. The arrows are these steps, from places on a lattice; the colour behind is the density.
Steps are long on slopes, short on tops and in the middle of valleys. Set 1 of the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeshift import MeanShift, datasets

X, _ = datasets.make_paper_set(1, random_state=0)
h = 0.9
model = MeanShift(bandwidth=h).fit(X)
lattice = np.stack(np.meshgrid(np.linspace(-2.6, 2.6, 22), np.linspace(-3, 3, 24)), axis=-1)
fine = np.stack(np.meshgrid(np.linspace(-2.8, 2.8, 90), np.linspace(-3.2, 3.2, 90)), axis=-1)


def shift(place):
    """Return the way from a place to the mean of the points near it."""
    near = np.linalg.norm(X - place, axis=1) <= h
    return X[near].mean(axis=0) - place if near.any() else np.full(2, np.nan)


steps = np.apply_along_axis(shift, -1, lattice)
density = np.exp(model.score_samples(fine.reshape(-1, 2))).reshape(90, 90)

# Picture: Arrows over a map of the density. They point from the rims to the nearest dense place,
# where circles mark the ends of climbs.
figure, ax = plt.subplots(figsize=(8, 8), layout="constrained")
ax.contourf(*np.moveaxis(fine, -1, 0), density, levels=12, cmap="Blues")
ax.scatter(*X.T, s=8, color="0.25")
ax.quiver(*np.moveaxis(lattice, -1, 0), *np.moveaxis(steps, -1, 0), angles="xy", scale=12)
ax.scatter(*model.cluster_centers_.T, s=90, facecolors="none", edgecolors="#d55e00", linewidths=2)
ax.set(aspect="equal", title=f"mean of the points within {h}, minus the place")

# %%
# The step points along the gradient of a density (`Comaniciu and Meer 2002
# <https://doi.org/10.1109/34.1000236>`__): for the flat kernel, the density of Epanechnikov. So a
# climb ends on a mode, and no step size has to be set.
