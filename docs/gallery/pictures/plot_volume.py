"""
A volume, plane by plane
========================

Two bodies in a third one, as a scanner would see them, with noise and with planes twice as far
apart as pixels: ``spacing=(2, 1, 1)``. The volume is made. Four regions are asked for: the
surroundings and three bodies.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

from modeshift.image import segment

rng = np.random.default_rng(0)
z, y, x = np.indices((30, 80, 80)) * np.array([2, 1, 1]).reshape(3, 1, 1, 1)
z, y, x = z - 30, y - 40, x - 40
volume = 60.0 * (z**2 + y**2 + x**2 < 29**2)
volume[(z**2 + (y + 10) ** 2 + (x - 6) ** 2) < 11**2] = 130
volume[((z - 4) ** 2 + (y - 12) ** 2 + (x + 4) ** 2) < 8**2] = 190
volume = gaussian_filter(volume, 0.7) + rng.normal(scale=12, size=volume.shape)

labels = segment(volume, channel_axis=None, spacing=(2, 1, 1), range=25, n_regions=4, n_jobs=-1)
print("voxels of each region:", np.bincount(labels.ravel())[1:])

# Picture: Three planes of the volume in grey, and below the same planes with a colour for each
# region: the surroundings, a large ball, and two small balls in it.
figure, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
colours = np.array([[0, 0, 0], [40, 60, 120], [230, 190, 60], [70, 180, 120], [200, 80, 80]])
for (above, below), plane in zip(axes.T, (8, 15, 19), strict=True):
    above.imshow(volume[plane], cmap="gray", vmin=0, vmax=255)
    above.set_title(f"plane {plane} (made)", fontsize=11)
    below.imshow(colours[labels[plane]])
    below.set_title(f"regions in plane {plane}", fontsize=11)
for ax in axes.flat:
    ax.set_axis_off()
