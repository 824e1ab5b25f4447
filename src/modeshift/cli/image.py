"""``modeshift image``: regions of pictures, volumes and videos."""

import argparse
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from modeshift.cli.errors import UserError, about, message_of
from modeshift.cli.help import HelpFormatter

_EXAMPLES = """

examples:
  modeshift image photo.jpg --boundaries --page
  modeshift image scene.tif --spatial 10 --regions 200 --polygons
  modeshift image photos --out regions --resume
  modeshift image frames --video --range 10
"""
_LARGE = 1 << 25
"""From this number of pixels on, a TIFF is read tile by tile."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "find the regions of pictures, volumes and videos"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "image",
        help=text,
        description=f"{text.capitalize()}. Writes a label image for each picture: 1 is the largest "
        "region, 0 is no data. A TIFF of more than 33 million pixels is read and written tile by "
        f"tile, with the same labels.{_EXAMPLES}",
        usage="%(prog)s PICTURE [PICTURE ...] [options]",
        formatter_class=HelpFormatter,
    )
    parser.add_argument(
        "pictures",
        nargs="+",
        type=Path,
        metavar="PICTURE",
        help="PNG, JPEG, TIFF, GIF, BMP or WebP, or a folder of them",
    )
    _add_output(parser.add_argument_group("output"))
    _add_regions(parser.add_argument_group("regions"))
    _add_data(parser.add_argument_group("the data"))
    return parser


def _add_output(group: Any) -> None:
    group.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of the results, made if needed (default: that of each picture)",
    )
    for name, text in _EXTRAS.items():
        group.add_argument(f"--{name}", action="store_true", help=f"write {text} (default: no)")
    group.add_argument("--force", action="store_true", help="replace existing files (default: no)")
    group.add_argument(
        "--resume",
        action="store_true",
        help="leave out pictures whose label image exists (default: no)",
    )
    group.add_argument("--quiet", action="store_true", help="print only errors (default: no)")


_EXTRAS = {
    "boundaries": "the picture with lines between regions, as .boundaries.png",
    "means": "a picture in which each region has its mean colour, as .means.png",
    "polygons": "the regions as polygons, as .geojson; in the coordinates of a GeoTIFF",
    "page": "an .html page with sliders from the picture to its regions, and from few regions to "
    "many",
}
_ENDINGS = {
    "boundaries": ".boundaries.png",
    "means": ".means.png",
    "polygons": ".geojson",
    "page": ".html",
}


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


class _Job(NamedTuple):
    """Pictures that make one segmentation, and where results go."""

    name: str
    paths: list[Path]
    stem: Path

    def place(self, ending: str) -> Path:
        return self.stem.with_name(self.stem.name + ending)


def run(options: argparse.Namespace) -> None:
    """Segment each picture, write, print."""
    parameters = _parameters(options)
    jobs = _jobs(options)
    waiting = [job for job in jobs if not (options.resume and _labels_of(job))]
    _check_places(waiting, options)
    say = (lambda line: None) if options.quiet else print
    if len(waiting) < len(jobs):
        say(f"{len(jobs) - len(waiting)} of {len(jobs)} pictures are done already")
    from modeshift.cli.progress import progress

    failed = []
    several = len(waiting) > 1
    for job in progress(waiting, len(waiting), "pictures") if several and say is print else waiting:
        try:
            say(_segment(job, options, parameters))
        except (ValueError, TypeError) as error:
            if not several:
                raise UserError(_in_options(message_of(error))) from error
            failed.append(job.name)
            print(f"modeshift: {job.name}: {_in_options(message_of(error))}", file=sys.stderr)
    if failed:
        raise UserError(f"{len(failed)} of {len(waiting)} pictures could not be segmented")


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
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


def _jobs(options: argparse.Namespace) -> list[_Job]:
    """Return the segmentations that the arguments ask for."""
    from modeshift.image.files import PICTURES

    jobs = []
    for path in options.pictures:
        folder = options.out or (path.parent if not path.is_dir() else path)
        if not path.is_dir():
            jobs.append(_Job(str(path), [path], folder / path.stem))
            continue
        inside = sorted(
            each for each in path.iterdir() if each.suffix.lower() in PICTURES and _is_input(each)
        )
        if not inside:
            raise UserError(f"the folder {path} has no pictures ({', '.join(PICTURES)})")
        if options.video:
            stem = (options.out or path.parent) / path.resolve().name
            jobs.append(_Job(str(path), inside, stem))
        else:
            jobs += [_Job(str(each), [each], folder / each.stem) for each in inside]
    stems = [job.stem for job in jobs]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice is not None:
        raise UserError(
            f"two pictures would write {twice}.labels; name them apart, or take different --out"
        )
    return jobs


def _is_input(path: Path) -> bool:
    """Return whether a file of a folder is no result of an earlier run."""
    return path.is_file() and not path.stem.endswith((".labels", ".boundaries", ".means"))


def _labels_of(job: _Job) -> Path | None:
    return next(
        (place for ending in (".png", ".tif") if (place := job.place(f".labels{ending}")).exists()),
        None,
    )


def _check_places(jobs: list[_Job], options: argparse.Namespace) -> None:
    """Refuse paths that cannot be written, before any work is done."""
    from modeshift.io.write import check_place

    if options.out is not None:
        if options.out.exists() and not options.out.is_dir():
            raise UserError(f"--out {options.out} is a file; name a folder")
        options.out.mkdir(parents=True, exist_ok=True)
    for job in jobs:
        existing = _labels_of(job)
        if existing is not None and not options.force:
            raise UserError(
                f"{existing} exists; pass --force to replace it, --resume to leave it, or another "
                "--out"
            )
        for name, ending in _ENDINGS.items():
            if getattr(options, name):
                with about(f"--{name}"):
                    check_place(job.place(ending), options.force)


def _segment(job: _Job, options: argparse.Namespace, parameters: dict[str, Any]) -> str:
    """Segment and write; return a line about the result."""
    started = perf_counter()
    if _is_large(job):
        return _segment_large(job, options, parameters, started)
    from modeshift import image
    from modeshift.image import files
    from modeshift.watching.compiling import COMPILATION

    picture = files.read_frames(job.paths) if options.video else files.read_picture(job.paths[0])
    axis = _channel_axis(options.channel_axis, picture.channel_axis)
    nodata = picture.nodata if options.nodata is None else options.nodata
    with COMPILATION.silently() if options.quiet else warnings.catch_warnings():
        tree = image.hierarchy(
            picture.pixels, channel_axis=axis, mask=picture.mask, nodata=nodata, **parameters
        )
    labels = tree.cut(options.regions, level=options.level)
    n_regions = int(labels.max())
    place = job.place(f".labels{files.label_ending(n_regions, labels.ndim)}")
    previous = _labels_of(job)
    _write_extras(job, options, picture, axis, tree, labels)
    files.write_labels(place, labels, picture.tags)
    if previous is not None and previous != place:
        previous.unlink()
    return _line(job, n_regions, started, place)


def _line(job: _Job, n_regions: int, started: float, place: Path) -> str:
    word = "region" if n_regions == 1 else "regions"
    return f"{job.name}: {n_regions} {word}, {perf_counter() - started:.1f} s, {place}"


def _write_extras(
    job: _Job, options: argparse.Namespace, picture: Any, axis: Any, tree: Any, labels: Any
) -> None:
    """Write the results besides the labels."""
    from modeshift.image import drawing, files, page, polygons
    from modeshift.image.layout import find_layout
    from modeshift.io.write import write_whole

    layout = find_layout(picture.pixels, axis)
    flat = labels.ndim == 2
    if not flat and (options.polygons or options.page):
        option = "--polygons" if options.polygons else "--page"
        raise UserError(f"{option} needs a picture with two axes, and {job.name} has {labels.ndim}")
    if options.boundaries or options.means:
        suffix = ".png" if flat else ".tif"
        rgb = drawing.as_rgb(picture.pixels, layout)
    if options.boundaries:
        place = job.place(_ENDINGS["boundaries"]).with_suffix(suffix)
        files.write_picture(place, drawing.with_boundaries(rgb, labels))
    if options.means:
        means = drawing.painted(drawing.mean_colours(rgb, labels), labels)
        files.write_picture(job.place(_ENDINGS["means"]).with_suffix(suffix), means)
    if options.polygons:
        values = layout.bands_last(picture.pixels)[0]
        found = polygons.geojson(labels, drawing.mean_colours(values, labels), picture.place)
        text = json.dumps(found, separators=(",", ":"))
        write_whole(job.place(_ENDINGS["polygons"]), lambda file: file.write(text.encode()))
    if options.page:
        content = page.make_content(
            job.paths[0].name, picture.pixels, layout, tree, int(labels.max())
        )
        page.write_page(job.place(_ENDINGS["page"]), content)


def _is_large(job: _Job) -> bool:
    """Return whether a picture is a TIFF of one page with very many pixels."""
    from modeshift.image.files import is_tiff, reading

    if len(job.paths) != 1 or not is_tiff(job.paths[0]):
        return False
    from modeshift.io.optional import require

    tifffile = require("tifffile", "image")
    with reading(job.paths[0], "TIFF"), tifffile.TiffFile(job.paths[0]) as tiff:
        page = tiff.pages[0]
        return len(tiff.series[0].pages) == 1 and page.imagewidth * page.imagelength >= _LARGE


def _segment_large(
    job: _Job, options: argparse.Namespace, parameters: dict[str, Any], started: float
) -> str:
    """Segment a TIFF tile by tile."""
    from modeshift.cli.progress import progress
    from modeshift.image.plan import Request
    from modeshift.image.tiff import TiffSource, segment_tiff

    asked = next((name for name in _EXTRAS if getattr(options, name)), None)
    if asked is not None:
        raise UserError(
            f"--{asked} needs the whole picture in memory, and {job.name} is read tile by tile; "
            "leave it out, and make it from a part of the label image"
        )
    if options.schedule != "deterministic":
        raise UserError(f"--schedule {options.schedule} needs the whole picture in memory")

    def shown(tasks: Any, n: int) -> Any:
        return tasks if options.quiet else progress(tasks, n, "tiles")

    place = job.place(".labels.tif")
    with TiffSource(job.paths[0], progress=shown) as source:
        nodata = source.nodata if options.nodata is None else options.nodata
        request = Request(**parameters, nodata=nodata)
        n_regions = segment_tiff(place, request, source, options.regions, options.level)
    return _line(job, n_regions, started, place)


def _channel_axis(text: str | None, known: Any) -> Any:
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
    "tol": "--tol",
}


def _in_options(message: str) -> str:
    """Return a message of the library with options in place of parameters."""
    for name, option in _OPTIONS.items():
        if message.startswith((f"{name} ", f"{name}=", f"{name}[")) or "_" in name or "=" in name:
            message = message.replace(f"{name}=", f"{option} ").replace(name, option)
    return message.replace("----", "--")
