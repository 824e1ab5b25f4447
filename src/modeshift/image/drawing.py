"""Pictures of a segmentation: boundaries, and mean colours."""

import numpy as np

from modeshift.image.layout import Layout, as_picture

_LINE = np.array([255, 255, 0], dtype=np.uint8)


def boundaries(labels: np.ndarray) -> np.ndarray:
    """Return which pixels have another region to the right, below, or at the next time."""
    found = np.zeros(labels.shape, dtype=bool)
    for axis in range(labels.ndim):
        here = [slice(None)] * labels.ndim
        here[axis] = slice(None, -1)
        found[tuple(here)] |= np.diff(labels, axis=axis) != 0
    return found


def as_rgb(image: np.ndarray, layout: Layout) -> np.ndarray:
    """Return an image in 8-bit RGB: three bands as they are, others stretched from 2% to 98%."""
    pixels = layout.bands_last(as_picture(image)).reshape(*layout.shape, layout.n_bands)
    if layout.n_bands == 3 and pixels.dtype == np.uint8:
        return pixels
    pixels = pixels[..., :3] if layout.n_bands >= 3 else np.repeat(pixels[..., :1], 3, axis=-1)
    finite = np.where(np.isfinite(pixels), pixels, np.nan) if pixels.dtype.kind == "f" else pixels
    low, high = np.nanpercentile(finite, [2, 98], axis=tuple(range(finite.ndim - 1)))
    span = np.where(high > low, high - low, 1.0)
    return np.nan_to_num(np.clip((finite - low) / span, 0, 1) * 255).astype(np.uint8)


def with_boundaries(rgb: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return a picture with yellow lines between regions."""
    drawn = rgb.copy()
    drawn[boundaries(labels)] = _LINE
    return drawn


def mean_colours(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mean of each region (row 0 is label 1), over values with bands last."""
    n = int(labels.max(initial=0))
    flat, pixels = labels.ravel(), values.reshape(labels.size, -1).astype(np.float64)
    counts = np.maximum(np.bincount(flat, minlength=n + 1), 1)
    sums = [np.bincount(flat, pixels[:, k], n + 1) for k in range(pixels.shape[1])]
    return (np.stack(sums, axis=-1) / counts[:, np.newaxis])[1:]


def painted(colours: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return a picture in which each region has its colour; pixels without data are black."""
    table = np.concatenate([np.zeros_like(colours[:1]), colours])
    return np.rint(table)[labels].astype(np.uint8)
