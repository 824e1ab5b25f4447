"""Pictures as files: reading them, and writing label images and pictures."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeshift.image.geo import Place, place_of, place_tags
from modeshift.io.errors import FileError
from modeshift.io.limits import check_unpacked
from modeshift.io.optional import require
from modeshift.io.write import write_whole

TIFF = (".tif", ".tiff")
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".ppm", ".pgm", *TIFF)
_IN_SPACE = "YXZTQI"
_LARGEST_PNG = 65535
_PALETTE = 3
_ALPHA = (1, 2)
"""Values of TIFF tags: a photometric interpretation, and kinds of extra samples."""


class Picture(NamedTuple):
    """A picture from a file.

    Attributes
    ----------
    pixels : ndarray
    channel_axis : int, None or "auto"
        Axis of the bands, if the file says it.
    mask : ndarray of bool, or None
        False where the picture is transparent.
    nodata : float or None
        Value of pixels without data, if the file names one.
    place : Place or None
        Where the picture lies on the earth.
    tags : list of tuple, or None
        What a TIFF says of it, for another TIFF.
    """

    pixels: np.ndarray
    channel_axis: Any
    mask: np.ndarray | None = None
    nodata: float | None = None
    place: Place | None = None
    tags: list[tuple] | None = None


def is_tiff(path: Path) -> bool:
    """Return whether a file is a TIFF, by its first bytes; refuse what is no file with content."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it")
    if not path.exists():
        raise FileError(f"there is no file {path}; check its name and folder")
    if path.stat().st_size == 0:
        raise FileError(f"{path} is empty")
    with path.open("rb") as file:
        return file.read(4) in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_picture(path: Path) -> Picture:
    """Read a picture; a file that is none gets one clear line."""
    return _read_tiff(path) if is_tiff(path) else _read_with_pillow(path)


def read_frames(paths: list[Path]) -> Picture:
    """Read pictures of one size as the times of a video; or all frames of one file."""
    if len(paths) == 1:
        return _frames_of(paths[0])
    frames = [read_picture(path) for path in paths]
    first = frames[0]
    for path, frame in zip(paths, frames, strict=True):
        if frame.pixels.shape != first.pixels.shape:
            raise FileError(
                f"{path} has the shape {frame.pixels.shape}, and {paths[0]} has "
                f"{first.pixels.shape}; the frames of a video must have one size"
            )
    axis = None if first.channel_axis is None else first.channel_axis + 1
    pixels = np.stack([frame.pixels for frame in frames])
    return Picture(pixels, axis, _mask_of(frames), first.nodata)


def _mask_of(frames: list[Picture]) -> np.ndarray | None:
    """Return the masks of frames as one; None if no frame has one."""
    known = next((frame.mask for frame in frames if frame.mask is not None), None)
    if known is None:
        return None
    return np.stack([np.ones_like(known) if frame.mask is None else frame.mask for frame in frames])


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error while a file is read into one line about the file."""
    try:
        yield
    except (FileError, ImportError, MemoryError):
        raise
    except Exception as error:  # readers raise many kinds of errors
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        if "imagecodecs" in reason:
            raise FileError(
                f"{path} is compressed in a way that needs one more package; install it: "
                "pip install imagecodecs"
            ) from error
        if "decompression bomb" in reason:
            raise FileError(
                f"{path} has too many pixels to be read at once ({reason.split(',')[0]}); save it "
                "as a TIFF, which is read tile by tile"
            ) from error
        if "cannot identify" in reason:
            raise FileError(f"{path} is no picture, or of an unknown format") from error
        raise FileError(f"{path} cannot be read as {kind} ({reason}); is it complete?") from error


def _read_with_pillow(path: Path) -> Picture:
    image_module = require("PIL.Image", "image")
    from PIL import ImageOps

    with reading(path, "a picture"), _without_warning(), image_module.open(path) as opened:
        return _from_pillow(ImageOps.exif_transpose(opened))


@contextmanager
def _without_warning() -> Iterator[None]:
    """Ignore that Pillow finds a picture large; pictures twice as large are an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Image size", RuntimeWarning)
        yield


def _frames_of(path: Path) -> Picture:
    """Return all frames of an animation, or all pages of a TIFF."""
    if path.suffix.lower() in TIFF:
        return read_picture(path)
    image_module = require("PIL.Image", "image")
    from PIL import ImageSequence

    with reading(path, "a video"), image_module.open(path) as opened:
        n_frames, (width, height) = getattr(opened, "n_frames", 1), opened.size
        check_unpacked(str(path), path.stat().st_size, n_frames * width * height * 3)
        frames = [_from_pillow(frame.convert("RGB")) for frame in ImageSequence.Iterator(opened)]
    if len(frames) == 1:
        raise FileError(f"{path} has one frame; name a folder of frames, or a file with several")
    return Picture(np.stack([frame.pixels for frame in frames]), 3)


def _from_pillow(opened: Any) -> Picture:
    """Return a picture of Pillow: grey or RGB, and transparent pixels as the mask."""
    if opened.mode == "1":
        return Picture(np.asarray(opened), None)
    if opened.mode in ("I", "F", "L") or opened.mode.startswith("I;16"):
        return Picture(np.asarray(opened), None)
    if opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info:
        pixels = np.asarray(opened.convert("RGBA"))
        return Picture(pixels[..., :3].copy(), 2, pixels[..., 3] > 0)
    return Picture(np.asarray(opened.convert("RGB")), 2)


def _read_tiff(path: Path) -> Picture:
    tifffile = require("tifffile", "image")
    with reading(path, "TIFF"), tifffile.TiffFile(path) as tiff:
        series = tiff.series[0]
        page = series.pages[0]
        check_unpacked(str(path), path.stat().st_size, series.nbytes)
        pixels, axis, mask = series.asarray(), channel_axis_of(series.axes), None
        if is_palette(page):
            pixels, axis = _coloured(pixels, page.colormap), pixels.ndim
        alpha = alpha_of(page)
        if alpha is not None and axis is not None:
            pixels, mask = np.delete(pixels, alpha, axis), np.take(pixels, alpha, axis) > 0
        return Picture(pixels, axis, mask, nodata_of(page), place_of(page), place_tags(page))


def is_palette(page: Any) -> bool:
    """Return whether pixels are numbers of colours in a palette."""
    return page.photometric == _PALETTE and page.samplesperpixel == 1


def _coloured(numbers: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Return the RGB of the numbers of a palette, in as few bits as it needs."""
    colours = palette.T[numbers]
    in_8_bits = not (palette % 257).any() or not (palette % 256).any()
    return (colours >> 8).astype(np.uint8) if in_8_bits else colours


def alpha_of(page: Any) -> int | None:
    """Return which band of a page says how transparent a pixel is; None if there is none."""
    kinds = [int(kind) for kind in page.extrasamples]
    found = [i for i, kind in enumerate(kinds) if kind in _ALPHA]
    return page.samplesperpixel - len(kinds) + found[0] if found else None


def channel_axis_of(axes: str) -> int | None:
    """Return the axis of the bands, by tifffile's letters (S: samples, C: channels)."""
    found = [i for i, letter in enumerate(axes) if letter not in _IN_SPACE]
    return found[0] if found else None


def nodata_of(page: Any) -> float | None:
    """Return the value of pixels without data that GDAL has noted, if it is a number."""
    tag = page.tags.get(42113)
    try:
        return None if tag is None else float(str(tag.value).strip("\0 "))
    except ValueError:
        return None


def label_ending(n_regions: int, n_axes: int, tags: list[tuple] | None = None) -> str:
    """Return the ending of a label image: PNG has 16 bits, two axes, and no place on the earth."""
    return ".png" if n_regions <= _LARGEST_PNG and n_axes == 2 and not tags else ".tif"


def write_labels(path: Path, labels: np.ndarray, tags: list[tuple] | None = None) -> None:
    """Write a label image: PNG of 16 bits, or TIFF of 16 or 32 bits, there with tags of a place."""
    labels = labels.astype(np.uint16 if labels.max(initial=0) <= _LARGEST_PNG else np.int32)
    if path.suffix.lower() in TIFF:
        _write_tiff(path, labels, "minisblack", tags)
        return
    if labels.dtype != np.uint16 or labels.ndim != 2:
        raise FileError(
            f"{path}: PNG holds pictures with up to {_LARGEST_PNG} regions; name a .tif file"
        )
    write_picture(path, labels)


def write_picture(path: Path, pixels: np.ndarray) -> None:
    """Write a picture as PNG; a video or volume as TIFF."""
    if path.suffix.lower() in TIFF:
        kind = "rgb" if pixels.shape[-1] == 3 else "minisblack"
        _write_tiff(path, pixels, kind)
        return
    image_module = require("PIL.Image", "image")
    write_whole(path, lambda file: image_module.fromarray(pixels).save(file, format="PNG"))


def _write_tiff(path: Path, pixels: np.ndarray, kind: str, tags: list[tuple] | None = None) -> None:
    settings = {"photometric": kind, "compression": "zlib", "extratags": tags or []}
    tifffile = require("tifffile", "image")
    write_whole(path, lambda file: tifffile.imwrite(file, pixels, **settings))


def encoded(pixels: np.ndarray, form: str = "PNG") -> bytes:
    """Return a picture of 8 bits as the bytes of a file."""
    buffer = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        require("PIL.Image", "image").fromarray(pixels).save(buffer, format=form)
    return buffer.getvalue()
