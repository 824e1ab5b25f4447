"""What is asked of an image: checked numbers, in pixels and in whole units."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isnan, prod
from typing import Any, NamedTuple

import numpy as np

from modeshift.checks import check_choice, check_jobs, check_real, check_whole
from modeshift.image import lab
from modeshift.image.lattice import Colours, Settings, make_colours, make_settings
from modeshift.image.layout import Layout

SCHEDULES = ("deterministic", "stochastic", "blurring")

_SPATIAL = {2: 7.0, 3: 4.0}
"""Default radius of the window in pixels, by the number of axes."""

_RANGE_OF_LAB = 6.5
_RANGE_OF_BANDS = 0.1
"""Default range of other bands, as a share of the spread of their values."""

_SAMPLE = 1 << 16
_TOL = {"deterministic": 0.01, "stochastic": 0.05, "blurring": 0.01}
_MAX_ITER = 100
_LONGEST = 4095


@dataclass(frozen=True)
class Request:
    """The parameters of ``segment``, ``filter`` and ``hierarchy`` that say how to climb."""

    spatial: Any = None
    range: Any = None
    min_size: Any = None
    channel_axis: Any = "auto"
    mask: Any = field(default=None, compare=False)
    spacing: Any = None
    nodata: Any = None
    convert2lab: Any = None
    schedule: Any = "deterministic"
    tol: Any = None
    max_iter: Any = None
    random_state: Any = None
    n_jobs: Any = None
    device: Any = "cpu"


class Plan(NamedTuple):
    """What is asked of an image.

    Attributes
    ----------
    layout : Layout
    is_lab : bool
        Whether colours are compared in CIELAB.
    radii : tuple of 3 float
        Radius of the window in pixels, along the three axes.
    colours : Colours
    settings : Settings
    min_size : int
    window : int
        Number of pixels in the window around a pixel.
    nodata : float or None
    schedule : str
    """

    layout: Layout
    is_lab: bool
    radii: tuple[float, float, float]
    colours: Colours
    settings: Settings
    min_size: int
    window: int
    nodata: float | None
    schedule: str


class Survey(NamedTuple):
    """What the choice of units and of the range has to know of the values, band by band."""

    low: np.ndarray
    high: np.ndarray
    spread: np.ndarray


def make_plan(request: Request, layout: Layout, survey: Callable[[], Survey]) -> Plan:
    """Check the parameters for an image of this layout.

    ``survey`` looks at the values. It is called only if their extent is not known beforehand.
    """
    schedule = check_choice("schedule", request.schedule, SCHEDULES)
    nodata = check_nodata(request.nodata)
    radii = _radii(request, layout)
    is_lab = _is_lab(request.convert2lab, layout)
    surveyed: Survey | None = None
    if (
        layout.dtype.kind == "f"
        or layout.dtype.itemsize > 2
        or (request.range is None and not is_lab)
    ):
        surveyed = survey()
    low, high = _extent(layout, surveyed, is_lab)
    ranges = _ranges(request.range, layout, is_lab, surveyed)
    tol = _TOL[schedule] if request.tol is None else check_real("tol", request.tol, low=0.0)
    max_iter = (
        _MAX_ITER if request.max_iter is None else check_whole("max_iter", request.max_iter, low=1)
    )
    colours = make_colours(low, high, ranges)
    settings = make_settings(radii, colours.range_units, tol, max_iter)
    window = len(window_offsets(radii[3 - len(layout.shape) :]))
    min_size = (
        max(1, round(2 * window / 3))
        if request.min_size is None
        else check_whole("min_size", request.min_size, low=0)
    )
    return Plan(layout, is_lab, radii, colours, settings, min_size, window, nodata, schedule)


def window_offsets(radii: tuple[float, ...]) -> np.ndarray:
    """Return the offsets of the pixels in the window around a pixel."""
    sides = [np.arange(-int(radius), int(radius) + 1) for radius in radii]
    offsets = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(radii))
    return offsets[((offsets / radii) ** 2).sum(axis=1) <= 1.0]


def survey_of(pixels: np.ndarray, valid: np.ndarray) -> Survey:
    """Survey pixels with bands last."""
    values = pixels[valid]
    lattice = sample_lattice(valid.shape)
    low, high = (each.astype(np.float64) for each in (values.min(axis=0), values.max(axis=0)))
    return make_survey(low, high, pixels[lattice][valid[lattice]])


def sample_lattice(grid: tuple[int, ...]) -> tuple[slice, ...]:
    """Return a lattice of at most about 65,000 pixels over an image of three axes."""
    n_long = max(1, sum(length > 1 for length in grid))
    step = max(1, int(np.ceil((prod(grid) / _SAMPLE) ** (1 / n_long))))
    return (slice(None, None, step),) * 3


def make_survey(low: np.ndarray, high: np.ndarray, sample: np.ndarray) -> Survey:
    """Return a survey by the extent of the values and a sample of them.

    The spread is the distance of the 5% and the 95% quantile of the sample. If that is 0 it is the
    extent, and for a band of one value it is 1.
    """
    spread = np.zeros(len(low))
    if len(sample):
        spread = np.subtract(*np.quantile(sample, [0.95, 0.05], axis=0))
    spread = np.where(spread > 0, spread, high - low)
    return Survey(low, high, np.where(spread > 0, spread, 1.0))


def check_workers(request: Request) -> None:
    """Check the threads and the device; a GPU does the deterministic schedule only."""
    check_jobs("n_jobs", 1 if request.n_jobs is None else request.n_jobs)
    check_choice("device", request.device, ("cpu", "cuda"))
    if request.device == "cuda" and request.schedule != "deterministic":
        raise ValueError(
            f"device='cuda' needs schedule='deterministic', got {request.schedule!r}; take "
            "device='cpu', or leave schedule out."
        )


def check_nodata(nodata: Any) -> float | None:
    """Return the value of pixels without data; None if there is none, or if it is NaN."""
    if nodata is None or (isinstance(nodata, float) and isnan(nodata)):
        return None
    if isinstance(nodata, bool) or not isinstance(nodata, int | float | np.number):
        raise TypeError(f"nodata must be a number, got {nodata!r}.")
    return float(nodata)


def _radii(request: Request, layout: Layout) -> tuple[float, float, float]:
    """Return the radius of the window in pixels along the three axes."""
    n_axes = len(layout.shape)
    spacing = _per_axis("spacing", request.spacing, 1.0, n_axes)
    spatial = _per_axis("spatial", request.spatial, _SPATIAL[n_axes] * min(spacing), n_axes)
    radii = tuple(radius / gap for radius, gap in zip(spatial, spacing, strict=True))
    if request.spatial is not None:
        _check_radii(radii, request.spatial, layout)
    return (max(radii),) * (3 - n_axes) + radii  # type: ignore[return-value]


def _check_radii(radii: tuple[float, ...], spatial: Any, layout: Layout) -> None:
    if all(radius > length for radius, length in zip(radii, layout.shape, strict=True)):
        raise ValueError(
            f"spatial={spatial!r} is larger than the image, which has the shape {layout.shape}; "
            "take a radius of some pixels."
        )
    if max(radii) > _LONGEST:
        raise ValueError(
            f"spatial={spatial!r} is {max(radii):g} pixels, and the window may have at most "
            f"{_LONGEST}; take a smaller radius, or an image with fewer pixels."
        )
    if min(radii) < 1 / 16:
        raise ValueError(
            f"spatial={spatial!r} is {min(radii):g} pixels along one axis, and must be at least "
            "1/16; take a larger radius."
        )


def _per_axis(name: str, value: Any, default: float, n_axes: int) -> tuple[float, ...]:
    """Return a number for each axis, from one number or one for each axis."""
    if value is None:
        return (default,) * n_axes
    if np.ndim(value) == 0:
        return (check_real(name, _plain(value), low=0.0, low_allowed=False),) * n_axes
    if len(value) != n_axes:
        raise ValueError(
            f"{name} must be one number, or one for each of the {n_axes} axes, got {value!r}."
        )
    return tuple(
        check_real(f"{name}[{i}]", _plain(each), low=0.0, low_allowed=False)
        for i, each in enumerate(value)
    )


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def _is_lab(convert2lab: Any, layout: Layout) -> bool:
    if convert2lab is None:
        return layout.n_bands == 3 and layout.channel_axis is not None
    if not isinstance(convert2lab, bool | np.bool_):
        raise TypeError(f"convert2lab must be True, False or None, got {convert2lab!r}.")
    if convert2lab and layout.n_bands != 3:
        raise ValueError(
            f"convert2lab=True needs the 3 bands of RGB, and image has {layout.n_bands}; leave "
            "convert2lab out."
        )
    return bool(convert2lab)


def _extent(layout: Layout, surveyed: Survey | None, is_lab: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest value that the bands can have."""
    if is_lab:
        _check_rgb(layout, surveyed)
        return lab.LOWEST, lab.HIGHEST
    if surveyed is not None:
        return surveyed.low, surveyed.high
    limits = np.iinfo(layout.dtype)
    return np.full(layout.n_bands, float(limits.min)), np.full(layout.n_bands, float(limits.max))


def _check_rgb(layout: Layout, surveyed: Survey | None) -> None:
    if layout.dtype.kind == "f":
        assert surveyed is not None
        if surveyed.low.min() < 0.0 or surveyed.high.max() > 1.0:
            raise ValueError(
                f"image has values from {surveyed.low.min():g} to {surveyed.high.max():g}, and RGB "
                "in floats lies between 0 and 1. Divide by the value of white, or pass "
                "convert2lab=False if the bands are no colours."
            )
    elif layout.dtype not in (np.uint8, np.uint16):
        raise ValueError(
            f"RGB must be uint8, uint16 or floats from 0 to 1, got {layout.dtype}; convert it, or "
            "pass convert2lab=False if the bands are no colours."
        )


def _ranges(given: Any, layout: Layout, is_lab: bool, surveyed: Survey | None) -> np.ndarray:
    """Return the range of each band; without one, 6.5 in CIELAB and a share of the spread else."""
    n = layout.n_bands
    if given is not None:
        if np.ndim(given) == 0:
            return np.full(n, check_real("range", _plain(given), low=0.0, low_allowed=False))
        if len(given) != n:
            raise ValueError(
                f"range must be one number, or one for each of the {n} bands, got {given!r}."
            )
        return np.array(
            [
                check_real(f"range[{i}]", _plain(each), low=0.0, low_allowed=False)
                for i, each in enumerate(given)
            ]
        )
    if is_lab:
        return np.full(n, _RANGE_OF_LAB)
    assert surveyed is not None
    return _RANGE_OF_BANDS * np.sqrt(n) * surveyed.spread
