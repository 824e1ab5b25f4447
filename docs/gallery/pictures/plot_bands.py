"""
Many bands: a made satellite picture
====================================

25 fields with seven kinds of crop in six bands, with a strip without data. The picture is made, so
the true fields are known. Regions are found in all six bands at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeshift.image import segment
from modeshift.image.drawing import mean_colours, painted, with_boundaries

SIDE = 300
rng = np.random.default_rng(0)
sites = rng.uniform(0, SIDE, (25, 2))
places = np.stack(np.indices((SIDE, SIDE)), axis=-1)
nearest = ((places[:, :, np.newaxis] - sites) ** 2).sum(axis=-1).argmin(axis=-1)
crops = rng.integers(7, size=25)
spectra = rng.uniform(500, 4000, (7, 6))[crops]
bands = spectra[nearest] + rng.normal(scale=150, size=(SIDE, SIDE, 6))
bands[:, :12] = -9999

labels = segment(bands.astype(np.float32), channel_axis=-1, nodata=-9999, level=4, n_jobs=-1)
score = adjusted_rand_score(nearest[:, 12:].ravel(), labels[:, 12:].ravel())
print(f"{labels.max()} regions, ARI with the 25 fields {score:.2f}")
print("neighbouring fields of one crop are one region: no border can be seen between them")

# Picture: The made picture with coloured fields and a black strip; the borders that were found; and
# the regions in their mean colours.
rgb = np.clip(bands[..., [3, 2, 0]] / 4200 * 255, 0, 255).astype(np.uint8)
shown = {
    "bands 4, 3, 1 (made)": rgb,
    f"segment: {labels.max()} regions": with_boundaries(rgb, labels),
    "mean colours; black: no data": painted(mean_colours(rgb, labels), labels),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (title, picture) in zip(axes, shown.items(), strict=True):
    ax.imshow(picture)
    ax.set_title(title, fontsize=11)
    ax.set_axis_off()
