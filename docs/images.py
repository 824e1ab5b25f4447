"""Draw the pictures of docs/images.md. Run: python docs/images.py (needs scikit-image)."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.ndimage import gaussian_filter
from skimage import data

from modeshift.image import filter, hierarchy, segment
from modeshift.image.drawing import mean_colours, painted, with_boundaries

FOLDER = Path(__file__).parent / "images"


def show(axes, pictures) -> None:
    """Draw pictures with titles side by side."""
    for ax, (title, picture) in zip(axes.ravel(), pictures.items(), strict=True):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=255)  # colours are shown as they are
        ax.set_title(title, fontsize=11)
        ax.set_axis_off()


def photo() -> None:
    """Draw the cat and the astronaut of scikit-image's wheel."""
    figure = Figure(figsize=(13, 5.9), layout="constrained")
    axes = figure.subplots(2, 4)
    for row, picture in zip(axes, (data.chelsea(), data.astronaut()), strict=True):
        tree = hierarchy(picture, n_jobs=-1)
        default, few = tree.cut(), tree.cut(5)
        show(
            row,
            {
                "filter(photo)": filter(picture, n_jobs=-1),
                f"hierarchy(photo): {tree.n_regions} regions": with_boundaries(
                    picture, tree.labels
                ),
                f"segment(photo): {default.max()} regions": with_boundaries(picture, default),
                "n_regions=5, mean colours": painted(mean_colours(picture, few), few),
            },
        )
    figure.savefig(FOLDER / "photo.png", dpi=100)


def fields(side=300, n_bands=6, seed=0):
    """Return a made picture of fields in six bands, some without data, and the true fields."""
    rng = np.random.default_rng(seed)
    sites = rng.uniform(0, side, (25, 2))
    places = np.stack(np.indices((side, side)), axis=-1)
    nearest = ((places[:, :, np.newaxis] - sites) ** 2).sum(axis=-1).argmin(axis=-1)
    spectra = rng.uniform(500, 4000, (7, n_bands))[rng.integers(7, size=25)]
    bands = spectra[nearest] + rng.normal(scale=150, size=(side, side, n_bands))
    bands[:, :12] = -9999
    return bands.astype(np.float32)


def bands() -> None:
    """Draw a made picture of six bands."""
    picture = fields()
    labels = segment(picture, channel_axis=-1, nodata=-9999, level=4, n_jobs=-1)
    rgb = np.clip(picture[..., [3, 2, 0]] / 4200 * 255, 0, 255).astype(np.uint8)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    show(
        figure.subplots(1, 3),
        {
            "bands 4, 3, 1 (made)": rgb,
            f"segment: {labels.max()} regions": with_boundaries(rgb, labels),
            "mean colours; black: no data": painted(mean_colours(rgb, labels), labels),
        },
    )
    figure.savefig(FOLDER / "bands.png", dpi=75)


def scan(seed=0):
    """Return a made volume: two bodies in a shell, planes twice as far apart as pixels."""
    rng = np.random.default_rng(seed)
    z, y, x = np.indices((30, 80, 80)) * np.array([2, 1, 1]).reshape(3, 1, 1, 1)
    z, y, x = z - 30, y - 40, x - 40
    volume = 60.0 * (z**2 + y**2 + x**2 < 29**2)
    volume[(z**2 + (y + 10) ** 2 + (x - 6) ** 2) < 11**2] = 130
    volume[((z - 4) ** 2 + (y - 12) ** 2 + (x + 4) ** 2) < 8**2] = 190
    return gaussian_filter(volume, 0.7) + rng.normal(scale=12, size=volume.shape)


def volume() -> None:
    """Draw a made volume, three of its planes."""
    values = scan()
    labels = segment(values, channel_axis=None, spacing=(2, 1, 1), range=25, n_regions=4, n_jobs=-1)
    figure = Figure(figsize=(10, 6.6), layout="constrained")
    axes = figure.subplots(2, 3)
    show(axes[0], {f"plane {z} (made)": values[z] for z in (8, 15, 19)})
    colours = np.array([[0, 0, 0], [40, 60, 120], [230, 190, 60], [70, 180, 120], [200, 80, 80]])
    shown = colours[labels].astype(np.uint8)
    show(axes[1], {f"regions in plane {z}": shown[z] for z in (8, 15, 19)})
    figure.savefig(FOLDER / "volume.png", dpi=75)


def film(n=12, seed=0):
    """Return a made video: a red disc moves before a striped wall."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((90, 120))
    frames = []
    for time in range(n):
        wall = np.where((x // 30 % 2)[..., np.newaxis], [90, 110, 90], [140, 150, 170])
        disc = (y - 45) ** 2 + (x - 25 - 6 * time) ** 2 < 14**2
        frame = np.where(disc[..., np.newaxis], [190, 40, 50], wall)
        frames.append(frame + rng.normal(scale=8, size=frame.shape))
    return np.clip(frames, 0, 255).astype(np.uint8)


def video() -> None:
    """Draw a made video, four of its frames."""
    frames = film()
    labels = segment(frames, n_jobs=-1)
    disc = labels[0, 45, 25]
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    axes = figure.subplots(2, 4)
    times = (0, 3, 7, 11)
    show(axes[0], {f"time {time} (made)": frames[time] for time in times})
    show(axes[1], {f"time {t}: region {disc}": 255 * (labels[t] == disc) for t in times})
    figure.savefig(FOLDER / "video.png", dpi=75)


if __name__ == "__main__":
    photo()
    bands()
    volume()
    video()
