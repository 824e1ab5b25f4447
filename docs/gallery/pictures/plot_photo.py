"""
Regions of photos
=================

Each pixel climbs in space and colour; pixels that touch and reach the same place are a region. The
hierarchy is computed once, and cut where you like. Two photos of scikit-image, nothing set.
"""

import matplotlib.pyplot as plt
from skimage import data

from modeshift.image import filter, hierarchy
from modeshift.image.drawing import mean_colours, painted, with_boundaries

# Picture: Two photos, a cat and an astronaut, each four times: smoothed; with the borders of the
# finest regions; with those of the default regions; and five regions in their mean colours.
figure, axes = plt.subplots(2, 4, figsize=(13, 5.9), layout="constrained")
for row, photo in zip(axes, (data.chelsea(), data.astronaut()), strict=True):
    tree = hierarchy(photo, n_jobs=-1)
    default, few = tree.cut(), tree.cut(5)
    shown = {
        "filter(photo)": filter(photo, n_jobs=-1),
        f"hierarchy(photo): {tree.n_regions} regions": with_boundaries(photo, tree.labels),
        f"segment(photo): {default.max()} regions": with_boundaries(photo, default),
        "n_regions=5, mean colours": painted(mean_colours(photo, few), few),
    }
    for ax, (title, picture) in zip(row, shown.items(), strict=True):
        ax.imshow(picture)
        ax.set_title(title, fontsize=11)
        ax.set_axis_off()

# %%
# **What to do with it.** Measure regions, draw around things by choosing among regions, or simplify
# a picture before another method. A cut of the hierarchy takes no time, so try several.
