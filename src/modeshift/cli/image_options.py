"""Options of ``modeshift image``, and the parameters of the library that they name."""

import argparse
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError

EXTRAS = {
    "boundaries": "the picture with lines between regions, as .boundaries.png",
    "means": "a picture in which each region has its mean colour, as .means.png",
    "polygons": "the regions as polygons, as .geojson; in the coordinates of a GeoTIFF",
    "page": "an .html page with sliders from the picture to its regions, and from few regions to "
    "many",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options."""
    _add_output(parser.add_argument_group("output"))
    _add_regions(parser.add_argument_group("regions"))
    _add_data(parser.add_argument_group("the data"))


def _add_output(group: Any) -> None:
    group.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of the results, made if needed (default: that of each picture)",
    )
    for name, text in EXTRAS.items():
        group.add_argument(f"--{name}", action="store_true", help=f"write {text} (default: no)")
    group.add_argument("--force", action="store_true", help="replace existing files (default: no)")
    group.add_argument(
        "--resume",
        action="store_true",
        help="leave out pictures whose label image exists (default: no)",
    )
    group.add_argument("--quiet", action="store_true", help="print only errors (default: no)")


def _add_regions(group: Any) -> None:
    group.add_argument(
        "--regions",
        type=int,
        metavar="N",
        help="number of regions (default: by --level)",
    )
    group.add_argument(
        "--level",
        type=float,
        metavar="NUMBER",
        help="join regions up to this height of the hierarchy; 0 joins only small ones (default: "
        "10)",
    )
    group.add_argument(
        "--spatial",
        metavar="R|A,B,...",
        help="radius of the window in pixels, or in the unit of --spacing: one number, or one for "
        "each axis (default: 7 for pictures, 4 for volumes and videos)",
    )
    group.add_argument(
        "--range",
        metavar="R|A,B,...",
        help="radius in colour: one number, or one for each band (default: 6.5 in CIELAB, "
        "otherwise a tenth of the spread of each band)",
    )
    group.add_argument(
        "--min-size",
        type=int,
        metavar="N",
        help="regions with fewer pixels join the neighbour with the nearest colour (default: two "
        "thirds of the pixels in a window)",
    )
    group.add_argument(
        "--schedule",
        choices=("deterministic", "stochastic", "blurring"),
        default="deterministic",
        help="who moves: each pixel alone, one random pixel at a time, or all at once (default: "
        "deterministic)",
    )
    group.add_argument(
        "--tol",
        type=float,
        metavar="NUMBER",
        help="a step of at most this fraction of the radii is the last one (default: 0.01; "
        "stochastic: 0.05)",
    )
    group.add_argument(
        "--max-iter",
        type=int,
        metavar="N",
        help="largest number of steps of a pixel, or of sweeps (default: 100)",
    )
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of stochastic (default: 0)"
    )
    group.add_argument(
        "--jobs", type=int, default=-1, metavar="N", help="number of threads (default: all cores)"
    )


def _add_data(group: Any) -> None:
    group.add_argument(
        "--video",
        action="store_true",
        help="the pictures of a folder, or the frames of a file, are the times of one video "
        "(default: no)",
    )
    group.add_argument(
        "--channel-axis",
        metavar="N|none",
        help="axis of the bands in a TIFF, counted from 0 or, below 0, from the end (default: as "
        "the file says)",
    )
    group.add_argument(
        "--spacing",
        metavar="A,B,...",
        help="distance of neighbouring pixels along each axis (default: 1)",
    )
    group.add_argument(
        "--nodata",
        type=float,
        metavar="VALUE",
        help="value of pixels without data (default: as the file says; NaN and transparent pixels "
        "never count)",
    )
    group.add_argument(
        "--no-lab",
        action="store_true",
        help="compare three bands as they are, not as RGB in CIELAB (default: no)",
    )


def parameters_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the library that the options name."""
    if options.regions is not None and options.level is not None:
        raise UserError("--regions and --level do not go together: either one says where to cut")
    if options.regions is not None and options.regions < 1:
        raise UserError(f"--regions must be at least 1, got {options.regions}")
    if options.level is not None and not options.level >= 0:
        raise UserError(f"--level must be at least 0, got {options.level:g}")
    if options.jobs == 0:
        raise UserError("--jobs must not be 0; use 1 for one thread or -1 for all cores")
    return {
        "spatial": _numbers("--spatial", options.spatial),
        "range": _numbers("--range", options.range),
        "min_size": options.min_size,
        "spacing": _numbers("--spacing", options.spacing),
        "schedule": options.schedule,
        "tol": options.tol,
        "max_iter": options.max_iter,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "convert2lab": False if options.no_lab else None,
    }


def _numbers(option: str, text: str | None) -> Any:
    """Return one number, or a tuple of them."""
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"{option} must be a number or numbers like 3,7,7, got {text!r}") from None
    return values[0] if len(values) == 1 else values


def channel_axis_of(text: str | None, known: Any) -> Any:
    """Return the axis that --channel-axis names; without it, the one that the file names."""
    if text is None:
        return known
    if text == "none":
        return None
    try:
        return int(text)
    except ValueError:
        raise UserError(f"--channel-axis must be a whole number or none, got {text!r}") from None


_OPTIONS = {
    "n_regions": "--regions",
    "min_size": "--min-size",
    "max_iter": "--max-iter",
    "channel_axis": "--channel-axis",
    "convert2lab=False": "--no-lab",
    "convert2lab": "--no-lab",
    "spatial": "--spatial",
    "range": "--range",
    "spacing": "--spacing",
    "nodata=": "--nodata ",
    "or tol": "or --tol",
    "tol": "--tol",
    "pass None": "pass none",
}
"""Plain words are replaced only at the beginning, because they may be common words."""


def in_options(message: str) -> str:
    """Return a message of the library with options in place of parameters."""
    for name, option in _OPTIONS.items():
        if message.startswith((f"{name} ", f"{name}=", f"{name}[")) or not name.isalnum():
            message = message.replace(f"{name}=", f"{option} ").replace(name, option)
    return message.replace("----", "--")
