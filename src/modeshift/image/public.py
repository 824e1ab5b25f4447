"""The functions that users call: ``segment``, ``filter`` and ``hierarchy``."""

import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from modeshift.engines.kinds import is_dask
from modeshift.estimators.validation import check_randomness
from modeshift.image.block import Block, make_block
from modeshift.image.chunks import filter_chunks, hierarchy_of_chunks
from modeshift.image.climb import Ends, climb
from modeshift.image.gpu import check_gpu, climb_on_gpu, filter_on_gpu
from modeshift.image.joint import seek
from modeshift.image.layout import NOTHING, as_picture, check_mask, find_layout, find_valid
from modeshift.image.plan import (
    Plan,
    Request,
    Survey,
    check_nodata,
    check_workers,
    make_plan,
    survey_of,
)
from modeshift.image.segmenting import hierarchy_of, regions_of, settle, smooth
from modeshift.image.tree import Hierarchy


def segment(
    image: Any,
    *,
    n_regions: int | None = None,
    level: float | None = None,
    spatial: Any = None,
    range: Any = None,
    min_size: int | None = None,
    channel_axis: Any = "auto",
    mask: Any = None,
    spacing: Any = None,
    nodata: float | None = None,
    convert2lab: bool | None = None,
    schedule: str = "deterministic",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Any:
    """Return the regions of an image, as a label image.

    Every pixel climbs to a mode of the density in space and colour (Comaniciu and Meer 2002).
    Pixels that touch and whose modes are close are one region. Small regions join a neighbour, and
    then the most similar neighbours join, up to ``level`` or down to ``n_regions``. To try several
    numbers of regions, call :func:`hierarchy` once and cut it.

    Parameters
    ----------
    image : array
        A picture (rows, columns), a volume (planes, rows, columns) or a video (times, rows,
        columns), with or without an axis of bands. Whole numbers, floats or booleans. A Dask array
        gives a Dask array, with the same labels (docs/images.md).
    n_regions : int, default=None
        Number of regions. An image whose parts do not touch has at least one region for each part.
    level : float, default=None
        Join regions up to this height of the hierarchy. 0: only small regions are joined. The
        default is 10, if n_regions is None as well.
    spatial : float, or one for each axis, default=None
        Radius of the window in pixels, or in the unit of ``spacing``. None: 7 pixels for pictures,
        4 for volumes and videos.
    range : float, or one for each band, default=None
        Radius in colour. None: 6.5 in CIELAB; otherwise a tenth of the spread of each band (from
        the 5% to the 95% quantile), times the root of the number of bands.
    min_size : int, default=None
        Regions with fewer pixels join the neighbour whose colour is nearest. None: two thirds of
        the pixels in a window (99 for a radius of 7). 0 keeps all.
    channel_axis : int or None, default="auto"
        Axis of the bands; None: there is one band and no such axis. "auto" takes a last axis of 3
        or 4 for bands, and refuses to guess between a volume and bands otherwise.
    mask : array of bool, default=None
        True: the pixel counts. The others get the label 0.
    spacing : float, or one for each axis, default=None
        Distance of neighbouring pixels along each axis. None: 1.
    nodata : float, default=None
        Value of pixels without data; they get the label 0. So do pixels with NaN or infinity.
    convert2lab : bool, default=None
        Compare colours in CIELAB. The bands must be RGB. None: yes for three bands.
    schedule : {"deterministic", "stochastic", "blurring"}, default="deterministic"
        Each pixel climbs alone over the original pixels; one random pixel at a time takes a step
        and stays there; or all pixels move at once.
    tol : float, default=None
        A step of at most this fraction of the radii is the last one of a pixel. None: 0.01, or 0.05
        with schedule="stochastic".
    max_iter : int, default=None
        Largest number of steps of a pixel, or of sweeps. None: 100.
    random_state : int, RandomState or None, default=None
        Seed of schedule="stochastic".
    n_jobs : int, default=None
        Number of threads; -1 takes all cores. The result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where pixels climb. The labels are the same. "cuda" needs schedule="deterministic".

    Returns
    -------
    ndarray of int32
        Labels from 1, the largest region first. 0: masked, or no data. It has the shape of the
        image without bands.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.image import segment
    >>> picture = np.zeros((40, 60), dtype=np.uint8)
    >>> picture[:, 40:] = 200
    >>> labels = segment(picture)
    >>> labels[0, [0, 59]].tolist()
    [1, 2]
    """
    request = Request(
        spatial, range, min_size, channel_axis, mask, spacing, nodata, convert2lab, schedule, tol,
        max_iter, random_state, n_jobs, device,
    )  # fmt: skip
    return _hierarchy(image, request).cut(n_regions, level=level)


def hierarchy(
    image: Any,
    *,
    spatial: Any = None,
    range: Any = None,
    min_size: int | None = None,
    channel_axis: Any = "auto",
    mask: Any = None,
    spacing: Any = None,
    nodata: float | None = None,
    convert2lab: bool | None = None,
    schedule: str = "deterministic",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Hierarchy:
    """Return the regions of an image at all levels.

    :meth:`modeshift.image.Hierarchy.cut` gives label images.

    The parameters are those of :func:`segment`.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.image import hierarchy
    >>> picture = np.repeat(np.uint8([0, 60, 200]), 20) * np.ones((40, 1), dtype=np.uint8)
    >>> tree = hierarchy(picture)
    >>> tree.n_regions, tree.cut(2)[0, [0, 20, 40]].tolist()
    (3, [1, 1, 2])
    """
    request = Request(
        spatial, range, min_size, channel_axis, mask, spacing, nodata, convert2lab, schedule, tol,
        max_iter, random_state, n_jobs, device,
    )  # fmt: skip
    return _hierarchy(image, request)


def filter(
    image: Any,
    *,
    spatial: Any = None,
    range: Any = None,
    channel_axis: Any = "auto",
    mask: Any = None,
    spacing: Any = None,
    nodata: float | None = None,
    convert2lab: bool | None = None,
    schedule: str = "deterministic",
    tol: float | None = None,
    max_iter: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Any:
    """Return the smoothed image: every pixel has the colour of its mode.

    Edges between colours further apart than ``range`` stay sharp. The parameters are those of
    :func:`segment`.

    Returns
    -------
    array
        Shape and dtype of the image. Pixels that do not count keep their values.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.image import filter
    >>> rng = np.random.default_rng(0)
    >>> picture = np.repeat([50.0, 150.0], 20) + rng.normal(scale=2.0, size=(40, 40))
    >>> smooth = filter(picture, range=10.0)
    >>> bool(smooth[:, :20].std() < picture[:, :20].std() / 2)
    True
    """
    request = Request(
        spatial, range, None, channel_axis, mask, spacing, nodata, convert2lab, schedule, tol,
        max_iter, random_state, n_jobs, device,
    )  # fmt: skip
    picture = as_picture(image)
    dtype = getattr(image, "dtype", picture.dtype)
    smoothed = filter_chunks(picture, request) if is_dask(image) else _filter(picture, request)
    return smoothed.astype(dtype, copy=False)


def _filter(image: np.ndarray, request: Request) -> np.ndarray:
    plan, pixels, mask = _planned(image, request)
    if request.device == "cuda":
        smoothed = filter_on_gpu(plan, pixels, _valid(pixels, mask, plan.nodata))
    else:
        n_threads = effective_n_jobs(request.n_jobs)
        block = make_block(plan, pixels, mask, n_threads=n_threads)
        ends = _ends(plan, block, pixels, request)
        smoothed = smooth(plan, ends, block.valid, pixels, n_threads)
    return plan.layout.as_image(smoothed)


def _hierarchy(image: Any, request: Request) -> Hierarchy:
    image = as_picture(image)
    if is_dask(image):
        return hierarchy_of_chunks(image, request)
    plan, pixels, mask = _planned(image, request)
    n_threads = effective_n_jobs(request.n_jobs)
    block = make_block(plan, pixels, mask, n_threads=n_threads)
    ends = _ends(plan, block, pixels, request)
    regions, _ = regions_of(plan, block, ends, n_threads=n_threads)
    owners, graph = settle(plan, regions.graph)
    table = np.append(owners + 1, 0).astype(np.int32)  # label -1 takes the last entry
    return hierarchy_of(plan, table[regions.labels].reshape(plan.layout.shape), graph)


def _planned(image: Any, request: Request) -> tuple[Plan, np.ndarray, np.ndarray | None]:
    """Return the plan, the pixels with bands last, and the mask with three axes."""
    layout = find_layout(image, request.channel_axis)
    mask = check_mask(request.mask, layout.shape)
    mask = None if mask is None else mask.reshape(layout.grid)
    check_workers(request)
    if request.device == "cuda":
        check_gpu(layout.n_bands)
    pixels = layout.bands_last(image)

    def survey() -> Survey:
        return survey_of(pixels, _valid(pixels, mask, nodata))

    nodata = check_nodata(request.nodata)
    plan = make_plan(request, layout, survey)
    return plan, pixels, mask


def _valid(pixels: np.ndarray, mask: np.ndarray | None, nodata: float | None) -> np.ndarray:
    """Return which pixels count; refuse an image without any."""
    valid = find_valid(pixels, mask, nodata)
    if not valid.any():
        raise ValueError(NOTHING)
    return valid


def _ends(plan: Plan, block: Block, pixels: np.ndarray, request: Request) -> Ends:
    """Run the schedule."""
    if not block.valid.any():
        raise ValueError(NOTHING)
    n_threads = effective_n_jobs(request.n_jobs)
    if request.device == "cuda":
        return climb_on_gpu(plan, pixels, block.valid)
    if plan.schedule == "deterministic":
        return climb(block, plan.settings, np.flatnonzero(block.valid), n_threads)
    ends, converged = seek(plan, block, check_randomness(request.random_state), n_threads)
    if not converged:
        warnings.warn(
            f"The {plan.schedule} schedule did not converge in max_iter={plan.settings.max_iter} "
            "sweeps; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return ends
