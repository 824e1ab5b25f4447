"""
The palette of a photo
======================

The colours of a photo as points in CIELAB, where distances are about what eyes see. Dense colours
are clusters; no number of colours is given. ``resolution`` replaces 240,000 pixels by some
thousand cells. The photo is scikit-image's.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import color, data

from modeshift import MeanShift

photo = data.coffee()
pixels = color.rgb2lab(photo).reshape(-1, 3)
model = MeanShift(bandwidth=9, resolution=8, min_cluster_size=500, strays="nearest").fit(pixels)
painted = np.clip(color.lab2rgb(model.cluster_centers_[model.labels_]), 0, 1)
shares = np.bincount(model.labels_) / len(pixels)
print(f"{len(shares)} colours; shares: {np.round(shares, 2)}")

# Picture: A cup of coffee on a table: the photo, the same in its few colours, and below the palette
# as a bar, each colour as wide as its share.
figure = plt.figure(figsize=(10, 4.4), layout="constrained")
axes = figure.subplot_mosaic([["photo", "few"], ["bar", "bar"]], height_ratios=[8, 1])
axes["photo"].imshow(photo)
axes["few"].imshow(painted.reshape(photo.shape))
left = np.cumsum(shares) - shares
colours = np.clip(color.lab2rgb(model.cluster_centers_), 0, 1)
axes["bar"].barh(np.zeros(len(shares)), shares, left=left, color=colours, height=1)
axes["bar"].set(xlim=(0, 1), ylim=(-0.5, 0.5))
for ax in axes.values():
    ax.set_axis_off()
