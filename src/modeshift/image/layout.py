"""The axes of an image, and which of its pixels hold data."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeshift.engines.kinds import is_dask

_MOST_AXES = 4
_MOST_COLOURS = 4
"""A last axis of 3 or up to this number is taken for colours, if nothing is said about it."""

NOTHING = (
    "image has no pixel that counts: all are masked or without data (the value for no data, NaN or "
    "infinity)."
)
"""What is said of an image without data."""


class Layout(NamedTuple):
    """Where the axes of an image are.

    Attributes
    ----------
    shape : tuple of int
        Shape of the label image: the axes in space, and time.
    n_bands : int
    channel_axis : int or None
        Axis of the bands, counted from the first; None if there is none.
    dtype : dtype
    """

    shape: tuple[int, ...]
    n_bands: int
    channel_axis: int | None
    dtype: np.dtype

    @property
    def grid(self) -> tuple[int, int, int]:
        """Shape with three axes; missing ones come first and have the length 1."""
        return (1,) * (3 - len(self.shape)) + self.shape  # type: ignore[return-value]

    def bands_last(self, image: np.ndarray) -> np.ndarray:
        """Return the pixels as an array of three axes in space, and bands last."""
        if self.channel_axis is None:
            image = image[..., np.newaxis]
        else:
            image = np.moveaxis(image, self.channel_axis, -1)
        return image.reshape((1,) * (4 - image.ndim) + image.shape)

    def as_image(self, pixels: np.ndarray) -> np.ndarray:
        """Return pixels with bands last in the axes of the image."""
        pixels = pixels.reshape(*pixels.shape[3 - len(self.shape) : 3], self.n_bands)
        if self.channel_axis is None:
            return pixels[..., 0]
        return np.ascontiguousarray(np.moveaxis(pixels, -1, self.channel_axis))


def as_picture(image: Any) -> Any:
    """Return an image as an array of NumPy, with a dtype of kernels; arrays of Dask stay.

    Booleans become 0 and 1, and floats become float32 or float64.
    """
    if not is_dask(image):
        image = _as_array(image)
    if image.dtype.kind not in "biuf":
        raise TypeError(f"image must hold real numbers, got {image.dtype}.")
    return image.astype(_plain(image.dtype), copy=False)


def _plain(dtype: np.dtype) -> np.dtype:
    """Return the dtype of kernels for a dtype of images, which may have the other byte order."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.dtype(np.float32 if dtype.itemsize < 4 else np.float64)
    return dtype.newbyteorder("=")


def _as_array(image: Any) -> np.ndarray:
    if isinstance(image, str | Path):
        raise TypeError(
            f"image must be an array, got the path {str(image)!r}; read the file first, for "
            "example with numpy.asarray(PIL.Image.open(path))."
        )
    if isinstance(image, np.ma.MaskedArray):
        raise TypeError(
            "image is a masked array; pass image.data, and mask= with True where a pixel counts."
        )
    try:
        return np.asarray(image)
    except ValueError as error:  # rows of different lengths
        raise ValueError(
            f"image must be an array of numbers: {str(error).splitlines()[0]}"
        ) from error


def limits_of(dtype: np.dtype) -> tuple[float, float, bool]:
    """Return the least and the largest value of a dtype, and whether it has whole numbers only."""
    if dtype.kind == "f":
        return -np.inf, np.inf, False
    limits = np.iinfo(dtype)
    return float(limits.min), float(limits.max), True


def find_layout(image: Any, channel_axis: Any) -> Layout:
    """Return the layout of an array; refuse shapes that are no image."""
    shape, ndim = tuple(image.shape), image.ndim
    if 0 in shape:
        raise ValueError(f"image has no pixels: its shape is {shape}.")
    axis = _channel_axis(shape, channel_axis) if ndim <= _MOST_AXES else None
    n_space = ndim - (axis is not None)
    if n_space not in (2, 3):
        with_bands = "" if axis is None else " besides the bands"
        raise ValueError(
            f"image must have 2 or 3 axes{with_bands}, got the shape {shape} with "
            f"channel_axis={channel_axis!r}. A picture is (rows, columns), a volume (planes, rows, "
            "columns), a video (times, rows, columns)."
        )
    space = tuple(length for i, length in enumerate(shape) if i != axis)
    return Layout(space, 1 if axis is None else shape[axis], axis, np.dtype(image.dtype))


def _channel_axis(shape: tuple[int, ...], channel_axis: Any) -> int | None:
    ndim = len(shape)
    if channel_axis is None:
        return None
    if isinstance(channel_axis, str):
        if channel_axis == "auto":
            return _guessed_axis(shape)
        raise ValueError(
            f"channel_axis must be a whole number, None or 'auto', got {channel_axis!r}."
        )
    if isinstance(channel_axis, bool) or not isinstance(channel_axis, int | np.integer):
        raise TypeError(
            f"channel_axis must be a whole number, None or 'auto', got {channel_axis!r}."
        )
    if not -ndim <= channel_axis < ndim:
        raise ValueError(
            f"channel_axis={channel_axis} is no axis of an image with the shape {shape}; pass None "
            "if it has no bands."
        )
    return int(channel_axis) % ndim


def _guessed_axis(shape: tuple[int, ...]) -> int | None:
    """Return the last axis if it can only be colours; None for two axes; refuse to guess more."""
    if len(shape) <= 2:
        return None
    if 3 <= shape[-1] <= _MOST_COLOURS and min(shape[-3:-1]) > _MOST_COLOURS:
        return len(shape) - 1
    if len(shape) == 3:
        raise ValueError(
            f"image has the shape {shape}: pass channel_axis=None if it is a volume or a video, or "
            "the axis of the bands, such as channel_axis=-1."
        )
    raise ValueError(
        f"image has the shape {shape}: pass the axis of the bands, such as channel_axis=-1."
    )


def find_valid(pixels: np.ndarray, mask: np.ndarray | None, nodata: float | None) -> np.ndarray:
    """Return which pixels count: not masked, finite in all bands, and not ``nodata`` in all."""
    valid = (
        np.ones(pixels.shape[:3], dtype=bool) if mask is None else mask.reshape(pixels.shape[:3])
    )
    if pixels.dtype.kind == "f":
        valid = valid & np.isfinite(pixels).all(axis=-1)
    if nodata is not None and not np.isnan(nodata):
        valid = valid & (pixels != nodata).any(axis=-1)
    return valid


def check_mask(mask: Any, shape: tuple[int, ...]) -> Any:
    """Return the mask as booleans; refuse another shape."""
    if mask is None:
        return None
    mask = mask if hasattr(mask, "dask") else np.asarray(mask)
    if mask.shape != shape:
        raise ValueError(
            f"mask must have the shape of the label image, {shape}, got {mask.shape}; it has no "
            "axis of bands."
        )
    if mask.dtype.kind not in "bui":
        raise TypeError(f"mask must be boolean (True: the pixel counts), got {mask.dtype}.")
    return mask.astype(bool)
