"""The deterministic schedule on a GPU, with the same places to the last bit."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modeshift.image.climb import Ends
from modeshift.image.lattice import FAR, Settings
from modeshift.image.plan import Plan
from modeshift.io.optional import require

if TYPE_CHECKING:
    import torch

_MOST_BANDS = 16
"""All bands of a pixel are in registers."""

_BLOCK = 32
"""Pixels that wait for each other: those of a warp."""

_TILE = (4, 8)
"""Rows and columns of such pixels."""

_SPAN = 2
"""Pixels of a row that are compared at once."""

_STEPS = 4
"""Steps of all climbs before those that have ended are left out."""


class Window(NamedTuple):
    """What the kernel has to know of windows.

    Attributes
    ----------
    sides : tuple of 3 int
        Number of pixels that a window can reach on each side, along each axis.
    rows : ndarray of shape (n, 4), int64
        For every row of pixels that a window can reach, counted from the pixel that holds the
        place: offsets along the first two axes, first column and number of columns.
    chords : ndarray of shape (high, long), float32
        How far the window reaches along a row, by the distances along the first two axes; -1: not
        at all.
    """

    sides: tuple[int, int, int]
    rows: np.ndarray
    chords: np.ndarray


def check_gpu(n_bands: int) -> Any:
    """Return the device; refuse if there is none, or if the bands do not fit."""
    require("torch", "gpu")
    require("triton", "gpu")
    from modeshift.engines.cuda.devices import find_device

    device = find_device()
    if device is None:
        raise ValueError(
            "device='cuda' needs a GPU, and PyTorch finds none (torch.cuda.is_available() is "
            "False). Take device='cpu'."
        )
    if n_bands > _MOST_BANDS:
        raise ValueError(
            f"device='cuda' takes up to {_MOST_BANDS} bands, and image has {n_bands}; take "
            "device='cpu'."
        )
    return device


def filter_on_gpu(plan: Plan, pixels: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return pixels, bands last, in which those that count have the colours of their modes."""
    from modeshift.image.gpu_colours import from_units

    _, colours, _ = _climb(plan, pixels, valid)
    smoothed = from_units(plan, colours).reshape(pixels.shape)
    if not valid.all():
        np.copyto(smoothed, pixels, where=~valid[..., np.newaxis])
    return smoothed


def climb_on_gpu(plan: Plan, pixels: np.ndarray, valid: np.ndarray) -> Ends:
    """Climb from the pixels of a whole image that count; the other ends stay 0."""
    places, colours, steps = _climb(plan, pixels, valid)
    return Ends(places.cpu().numpy(), colours.cpu().numpy(), steps.short().cpu().numpy())


def _climb(
    plan: Plan, pixels: np.ndarray, valid: np.ndarray
) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    """Return the ends of all climbs, on the device."""
    device = check_gpu(plan.layout.n_bands)
    import torch

    from modeshift.image.gpu_colours import there, to_units

    settings = plan.settings
    window = make_window(settings, valid.shape)
    counts = there(valid, device)
    depth, height, width = valid.shape
    high, long, wide = window.sides
    n_bands = plan.layout.n_bands
    planes = torch.full(
        (n_bands, depth + 2 * high, height + 2 * long, width + 2 * wide + _SPAN),
        float(FAR), dtype=torch.float32, device=device,
    )  # fmt: skip
    colours = torch.zeros((n_bands, *valid.shape), dtype=torch.float32, device=device)
    inside = planes[:, high : high + depth, long : long + height, wide : wide + width]
    for k, units in enumerate(to_units(plan, pixels, device)):
        colours[k] = torch.where(counts, units, 0.0)
        inside[k] = torch.where(counts, units, float(FAR))
    grid = [torch.arange(n, dtype=torch.int32, device=device) * settings.unit for n in valid.shape]
    places = torch.stack(torch.meshgrid(*grid, indexing="ij")) * counts
    ends = places.reshape(3, -1), colours.reshape(n_bands, -1)
    return *ends, _run(planes, counts, *ends, settings, window)


def _run(
    planes: "torch.Tensor", counts: "torch.Tensor", places: "torch.Tensor",
    colours: "torch.Tensor", settings: Settings, window: Window,
) -> "torch.Tensor":  # fmt: skip
    """Move places and colours to the ends of their climbs; return the numbers of steps."""
    import torch

    from modeshift.image.gpu_colours import there
    from modeshift.image.gpu_kernel import climb_pixels

    device = planes.device
    n_bands, _, height, length = planes.shape
    high, long, wide = window.sides
    offsets = window.rows @ [height * length, length, 1, 0]
    rows = np.column_stack([window.rows * [settings.unit, settings.unit, 1, 1], offsets])
    shares = [np.square(np.arange(radius + 1) / radius) for radius in settings.radius]
    limits = np.array([settings.reach, settings.quiet])
    tables = [there(table, device) for table in (rows, window.chords, *shares, limits)]
    steps = torch.zeros(counts.numel(), dtype=torch.int32, device=device)
    pixels = _in_tiles(torch.arange(counts.numel(), device=device).reshape(counts.shape))
    pixels = pixels[_in_tiles(counts)]
    for done in range(0, settings.max_iter, _STEPS):
        unfinished = torch.empty(len(pixels), dtype=torch.bool, device=device)
        climb_pixels[(-(-len(pixels) // _BLOCK),)](
            planes, pixels, places, colours, steps, unfinished, *tables,
            len(pixels), len(steps), len(rows), window.chords.shape[1], height, length,
            planes[0].numel(), (high * height + long) * length + wide,
            min(_STEPS, settings.max_iter - done),
            UNIT=settings.unit, B=n_bands, TOTAL=_total(settings, window), SPAN=_SPAN,
            BLOCK=_BLOCK, num_warps=1,
        )  # fmt: skip
        pixels = pixels[unfinished]
        if not len(pixels):
            break
    return steps


def _in_tiles(grid: "torch.Tensor") -> "torch.Tensor":
    """Return the values of a grid tile by tile: pixels of a warp share most of their windows.

    What the grid lacks to whole tiles is 0.
    """
    import torch

    high, wide = _TILE
    _, height, width = grid.shape
    grid = torch.nn.functional.pad(grid, (0, -width % wide, 0, -height % high))
    return grid.unflatten(2, (-1, wide)).unflatten(1, (-1, high)).transpose(2, 3).flatten()


def _total(settings: Settings, window: Window) -> Any:
    """Return the floats that hold all sums over a window exactly."""
    import triton.language as tl

    largest = max(*settings.radius, settings.reach**0.5)
    return tl.float32 if window.rows[:, 3].sum() * largest < 1 << 24 else tl.float64


def make_window(settings: Settings, shape: tuple[int, ...]) -> Window:
    """Return what the kernel has to know of the windows in a picture of this shape."""
    unit = settings.unit
    sides = tuple(
        min(radius // unit + 1, n - 1) for radius, n in zip(settings.radius, shape, strict=True)
    )
    across = [
        np.square(np.arange((side + 1) * unit) * stretch)
        for side, stretch in zip(sides, settings.stretch, strict=False)
    ]
    limits = np.floor(float(settings.radius[2] ** 2) - across[0][:, np.newaxis] - across[1])
    chords = np.where(limits < 0, -1.0, np.floor(np.sqrt(np.maximum(limits, 0.0))))
    rows = []
    for offset_z in range(-sides[0], sides[0] + 1):
        for offset_y in range(-sides[1], sides[1] + 1):
            chord = int(chords[_nearest(offset_z, unit), _nearest(offset_y, unit)])
            if chord >= 0:
                first = -min(chord // unit, sides[2])
                last = min((chord + unit - 1) // unit, sides[2])
                rows.append((offset_z, offset_y, first, last - first + 1))
    return Window(sides, np.array(rows, dtype=np.int64), chords.astype(np.float32))  # type: ignore[arg-type]


def _nearest(offset: int, unit: int) -> int:
    """Return the least distance in units of a place in a pixel from a pixel this far from it.

    A place is at most ``unit - 1`` units behind the pixel that holds it.
    """
    return offset * unit - unit + 1 if offset > 0 else -offset * unit
