"""Options, reading and writing for the subcommands that read points and write labels."""

import argparse
import sys
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError, about

DATA_HELP = "CSV or TSV (gzipped too), Parquet, Arrow, Feather, NPY or NPZ; - is standard input"
_STDIN = STDOUT = "-"
_ENDINGS_KEPT = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npy", ".npz")


def add_feature_options(parser: Any) -> None:
    """Add the options that name features and weights."""
    parser.add_argument(
        "--columns", metavar="A,B,C", help="columns of the features (default: all numeric columns)"
    )
    parser.add_argument(
        "--weight", metavar="COLUMN", help="column of weights (default: all weights are 1)"
    )
    parser.add_argument(
        "--standardize",
        action="store_true",
        help="scale every feature to mean 0 and standard deviation 1; the bandwidth is then in "
        "standard deviations (default: no)",
    )


def add_data_options(parser: Any) -> None:
    """Add the options that say which rows are read and which column identifies them."""
    parser.add_argument(
        "--id", metavar="COLUMN", help="column that names each point (default: the row number)"
    )
    add_missing_option(parser)


def add_missing_option(parser: Any) -> None:
    """Add --missing."""
    parser.add_argument(
        "--missing",
        choices=("error", "drop"),
        default="error",
        help="rows that lack a value: stop with an error, or drop them (default: error)",
    )


def add_output_options(parser: Any, word: str) -> None:
    """Add --out, --force and --quiet."""
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="file of the labels: .csv, .tsv, .parquet, .arrow, .npy or .npz; - prints CSV "
        f"(default: next to the data, in their format: points.csv gives points.{word}.csv)",
    )
    parser.add_argument("--force", action="store_true", help="replace existing files (default: no)")
    parser.add_argument("--quiet", action="store_true", help="print only errors (default: no)")


def read_points(options: argparse.Namespace) -> Any:
    """Read the table that the options name."""
    from modeshift.io.source import open_source
    from modeshift.io.table import Roles, read_table

    return read_table(
        open_source(options.data),
        columns=options.columns.split(",") if options.columns else None,
        roles=Roles(getattr(options, "id", None), getattr(options, "label", None), options.weight),
        missing=options.missing,
    )


def label_place(options: argparse.Namespace, word: str) -> Path | None:
    """Return the path of the labels; None is standard output."""
    if options.out is None and options.data != _STDIN:
        data = Path(options.data)
        if data.suffix.lower() == ".gz":
            data = data.with_suffix("")
        ending = data.suffix if data.suffix.lower() in _ENDINGS_KEPT else ".csv"
        return data.with_name(f"{data.stem}.{word}{ending}")
    return None if options.out in (None, STDOUT) else Path(options.out)


def check_places(places: dict[str, Path | None], options: argparse.Namespace) -> None:
    """Refuse paths that cannot be written, before any work is done."""
    from modeshift.io.write import check_frame_ending, check_place

    given = {option: place for option, place in places.items() if place is not None}
    for option, place in given.items():
        if options.data != _STDIN and place.resolve() == Path(options.data).resolve():
            raise UserError(f"{option} {place} is the data file; name another file")
        others = [other for other in given if given[other] == place and other != option]
        if others:
            raise UserError(
                f"{option} and {others[0]} are the same file {place}; name different files"
            )
        with about(option):
            check_place(place, options.force)
    if "--out" in given:
        with about("--out"):
            check_frame_ending(given["--out"])


def write_labels(place: Path | None, table: Any, labels: Any) -> None:
    """Write one row for each point: its id or row number, and its cluster."""
    import polars as pl

    from modeshift.io.write import write_frame

    identity = pl.Series("row", table.rows) if table.id is None else table.id
    frame = pl.DataFrame([identity, pl.Series("cluster", labels)])
    if place is None:
        sys.stdout.write(frame.write_csv())
    else:
        write_frame(place, frame)
