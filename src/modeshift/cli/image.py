"""``modeshift image``: regions of pictures, volumes and videos."""

import argparse
import json
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from modeshift.cli.errors import UserError, about, message_of
from modeshift.cli.help import HelpFormatter
from modeshift.cli.image_options import (
    EXTRAS,
    add_options,
    channel_axis_of,
    in_options,
    parameters_of,
)
from modeshift.cli.screen import shown

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
    add_options(parser)
    return parser


_ENDINGS = {
    "boundaries": ".boundaries.png",
    "means": ".means.png",
    "polygons": ".geojson",
    "page": ".html",
}


class _Job(NamedTuple):
    """Pictures that make one segmentation, and where results go."""

    name: str
    paths: list[Path]
    stem: Path

    def place(self, ending: str) -> Path:
        return self.stem.with_name(self.stem.name + ending)


def run(options: argparse.Namespace) -> None:
    """Segment each picture, write, print."""
    parameters = parameters_of(options)
    jobs = _jobs(options)
    waiting = [job for job in jobs if not (options.resume and _labels_of(job))]
    _check_places(waiting, options)
    say = _silent if options.quiet else print
    if len(waiting) < len(jobs):
        say(f"{len(jobs) - len(waiting)} of {len(jobs)} pictures are done already")
    from modeshift.cli.progress import progress

    failed = []
    several = len(waiting) > 1
    for job in progress(waiting, len(waiting), "pictures") if several and say is print else waiting:
        try:
            say(shown(_segment(job, options, parameters)))
        except (UserError, ValueError, TypeError) as error:
            message = in_options(message_of(error))
            if not several:
                raise UserError(message) from error
            failed.append(job.name)
            _note(job, message)
    if failed:
        raise UserError(f"{len(failed)} of {len(waiting)} pictures could not be segmented")


def _silent(line: str) -> None:
    """Print nothing."""


def _note(job: _Job, message: str) -> None:
    """Print a line about a picture to standard error; errors about its file name it already."""
    about_it = message if message.startswith(str(job.paths[0])) else f"{job.name}: {message}"
    print(shown(f"modeshift: {about_it}"), file=sys.stderr)


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
        _extras_of(job, options, n_axes=2)


def _extras_of(job: _Job, options: argparse.Namespace, n_axes: int) -> dict[str, Path]:
    """Return the file of each result besides the labels; refuse what cannot be written."""
    from modeshift.io.write import check_place

    places = {}
    for name in EXTRAS:
        if not getattr(options, name):
            continue
        place = job.place(_ENDINGS[name])
        if n_axes > 2:
            if place.suffix != ".png":
                raise UserError(
                    f"--{name} needs a picture with two axes, and {job.name} has {n_axes}"
                )
            place = place.with_suffix(".tif")
        with about(f"--{name}"):
            check_place(place, options.force)
        places[name] = place
    return places


def _segment(job: _Job, options: argparse.Namespace, parameters: dict[str, Any]) -> str:
    """Segment and write; return a line about the result."""
    started, previous = perf_counter(), _labels_of(job)
    segment = _segment_in_parts if _is_large(job) else _segment_in_memory
    n_regions, place = segment(job, options, parameters)
    if previous is not None and previous != place:
        previous.unlink()
    word = "region" if n_regions == 1 else "regions"
    return f"{job.name}: {n_regions} {word}, {perf_counter() - started:.1f} s, {place}"


def _segment_in_memory(
    job: _Job, options: argparse.Namespace, parameters: dict[str, Any]
) -> tuple[int, Path]:
    """Segment a picture; return the number of regions and the label image."""
    from modeshift.image import files
    from modeshift.image.layout import find_layout

    picture = files.read_frames(job.paths) if options.video else files.read_picture(job.paths[0])
    axis = channel_axis_of(options.channel_axis, picture.channel_axis)
    layout = find_layout(picture.pixels, axis)
    places = _extras_of(job, options, len(layout.shape))
    tree = _hierarchy(job, options, picture, {**parameters, "channel_axis": axis})
    labels = tree.cut(options.regions, level=options.level)
    n_regions = int(labels.max())
    _write_extras(job, places, picture, layout, tree, labels)
    place = job.place(f".labels{files.label_ending(n_regions, labels.ndim, picture.tags)}")
    files.write_labels(place, labels, picture.tags)
    return n_regions, place


def _hierarchy(
    job: _Job, options: argparse.Namespace, picture: Any, parameters: dict[str, Any]
) -> Any:
    """Return the hierarchy of a picture; print warnings in the words of the command."""
    from sklearn.exceptions import ConvergenceWarning

    from modeshift import image
    from modeshift.watching.compiling import COMPILATION

    nodata = picture.nodata if options.nodata is None else options.nodata
    with (
        COMPILATION.silently() if options.quiet else nullcontext(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always", ConvergenceWarning)
        tree = image.hierarchy(picture.pixels, mask=picture.mask, nodata=nodata, **parameters)
    for warning in [] if options.quiet else caught:
        _note(job, in_options(str(warning.message)))
    return tree


def _write_extras(
    job: _Job, places: dict[str, Path], picture: Any, layout: Any, tree: Any, labels: Any
) -> None:
    """Write the results besides the labels."""
    from modeshift.image import drawing, files, page, polygons
    from modeshift.io.write import write_whole

    if "boundaries" in places or "means" in places:
        rgb = drawing.as_rgb(picture.pixels, layout)
    if "boundaries" in places:
        files.write_picture(places["boundaries"], drawing.with_boundaries(rgb, labels))
    if "means" in places:
        means = drawing.painted(drawing.mean_colours(rgb, labels), labels)
        files.write_picture(places["means"], means)
    if "polygons" in places:
        values = layout.bands_last(picture.pixels)[0]
        found = polygons.geojson(labels, drawing.mean_colours(values, labels), picture.place)
        text = json.dumps(found, separators=(",", ":"))
        write_whole(places["polygons"], lambda file: file.write(text.encode()))
    if "page" in places:
        content = page.make_content(
            job.paths[0].name, picture.pixels, layout, tree, int(labels.max())
        )
        page.write_page(places["page"], content)


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


def _segment_in_parts(
    job: _Job, options: argparse.Namespace, parameters: dict[str, Any]
) -> tuple[int, Path]:
    """Segment a TIFF tile by tile; return the number of regions and the label image."""
    from modeshift.cli.progress import progress
    from modeshift.image.plan import Request
    from modeshift.image.tiff import TiffSource, segment_tiff

    asked = next((name for name in EXTRAS if getattr(options, name)), None)
    if asked is not None:
        raise UserError(
            f"--{asked} needs the whole picture in memory, and {job.name} is read tile by tile; "
            "leave it out, and make it from a part of the label image"
        )
    if options.schedule != "deterministic":
        raise UserError(f"--schedule {options.schedule} needs the whole picture in memory")
    if options.channel_axis is not None:
        raise UserError(
            f"--channel-axis needs the whole picture in memory, and {job.name} is read tile by "
            "tile; leave it out: the file says which axis holds the bands"
        )

    def shown(tasks: Any, n: int) -> Any:
        return tasks if options.quiet else progress(tasks, n, "tiles")

    place = job.place(".labels.tif")
    with TiffSource(job.paths[0], progress=shown) as source:
        nodata = source.nodata if options.nodata is None else options.nodata
        request = Request(**parameters, nodata=nodata)
        n_regions = segment_tiff(place, request, source, options.regions, options.level)
    return n_regions, place
