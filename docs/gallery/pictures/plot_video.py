"""
A video: follow a disc
======================

Twelve frames of a red disc that moves before a striped wall (made). A video is one array of times,
rows and columns, and a region may last. What moves by less than its size from one frame to the next
stays one region, so the region of the disc in the first frame is the disc in all.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeshift.image import segment

rng = np.random.default_rng(0)
y, x = np.indices((90, 120))
wall = np.where((x // 30 % 2)[..., np.newaxis], [90, 110, 90], [140, 150, 170])
frames = []
for time in range(12):
    disc = (y - 45) ** 2 + (x - 25 - 6 * time) ** 2 < 14**2
    frame = np.where(disc[..., np.newaxis], [190, 40, 50], wall)
    frames.append(frame + rng.normal(scale=8, size=frame.shape))
video = np.clip(frames, 0, 255).astype(np.uint8)

labels = segment(video, n_jobs=-1)
of_disc = labels == labels[0, 45, 25]
middles = [np.argwhere(plane).mean(axis=0)[1] for plane in of_disc]
print("column of the disc's middle, frame by frame:", np.round(middles).astype(int))

# Picture: Four frames of the video above; below, in white, the region that holds the disc in the
# first frame. It is the disc in each of them.
figure, axes = plt.subplots(2, 4, figsize=(12, 4.8), layout="constrained")
for (above, below), time in zip(axes.T, (0, 3, 7, 11), strict=True):
    above.imshow(video[time])
    above.set_title(f"time {time} (made)", fontsize=11)
    below.imshow(of_disc[time], cmap="gray")
    below.set_title(f"time {time}: region {labels[0, 45, 25]}", fontsize=11)
for ax in axes.flat:
    ax.set_axis_off()
