"""Options, reading and writing for the subcommands that read points and write labels."""

import argparse
import sys
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError, about

DATA_HELP = (
    "CSV or TSV (gzipped too), Excel (.xlsx), Parquet, Arrow, Feather, NPY, NPZ or GeoJSON; - is "
    "standard input"
)
_STDIN = STDOUT = "-"
_ENDINGS_KEPT = (
    *(".csv", ".tsv", ".xlsx", ".parquet", ".arrow", ".feather", ".npy", ".npz", ".geojson"),
)


def add_feature_options(parser: Any) -> None:
    """Add --columns and --standardize."""
    parser.add_argument(
        "--columns",
        metavar="A,B,C",
        help="columns of the features; in an NPZ file also whole arrays (default: all numeric "
        "columns but 'cluster'; in an NPZ file the array X, or the only matrix; with --metric "
        "haversine latitude and longitude, by their names)",
    )
    parser.add_argument(
        "--standardize",
        action="store_true",
        help="scale every feature to mean 0 and standard deviation 1; the bandwidth is then in "
        "standard deviations (default: no)",
    )


_ROLES = {
    "weight": "column of weights, sample_weight in the library (default: all weights are 1)",
    "label": "column of true classes, to score the clusters (default: none)",
    "id": "column that names each point (default: the row number)",
}


def add_role_options(parser: Any, *roles: str) -> None:
    """Add options that name columns which are no features: --weight, --label or --id."""
    for role in roles:
        parser.add_argument(f"--{role}", metavar="COLUMN", help=_ROLES[role])


def add_reading_options(parser: Any) -> None:
    """Add --sheet and --missing."""
    parser.add_argument(
        "--sheet", metavar="NAME", help="sheet of an Excel file (default: the first sheet)"
    )
    parser.add_argument(
        "--missing",
        choices=("error", "drop"),
        default="error",
        help="rows that lack a value: stop with an error, or drop them (default: error)",
    )


def add_output_options(parser: Any, word: str) -> None:
    """Add --out and --append."""
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="file of the labels: .csv, .tsv, .xlsx, .parquet, .arrow, .npy, .npz or .geojson; - "
        "prints CSV (default: next to the data, in their format: points.csv gives "
        f"points.{word}.csv)",
    )
    parser.add_argument(
        "--append",
        action="store_true",
        help="write the whole table, with a column 'cluster' added; the column is empty in rows "
        "that --missing dropped (default: only the row number, or --id, and the cluster)",
    )


def add_caution_options(parser: Any) -> None:
    """Add --force and --quiet."""
    parser.add_argument("--force", action="store_true", help="replace existing files (default: no)")
    parser.add_argument("--quiet", action="store_true", help="print only errors (default: no)")


def read_points(
    options: argparse.Namespace, columns: list[str] | None, metric: str | None = None
) -> tuple[Any, Any]:
    """Read the table that the options name; return the open file, and the points in it.

    The points of GeoJSON are on the globe, unless the user names a ``metric`` or columns.
    """
    from modeshift.io.source import open_source
    from modeshift.io.table import Roles, read_table

    source = open_source(options.data, columns, options.sheet)
    roles = Roles(*(getattr(options, role, None) for role in Roles._fields))
    on_globe = None if metric is None else metric == "haversine"
    return source, read_table(source, columns, roles, options.missing, on_globe)


def names_a_file(seeding: Any) -> bool:
    """Return whether --seeding names a file of starting positions."""
    return isinstance(seeding, str) and seeding != "bins"


def read_starts(estimator: Any, preparation: Any) -> None:
    """Replace the name of a file of starting positions by the positions, if there is one."""
    from modeshift.io.source import open_source
    from modeshift.io.table import read_table

    seeding: Any = getattr(estimator, "seeding", None)
    if names_a_file(seeding):
        starts = read_table(open_source(seeding, preparation.columns), preparation.columns)
        estimator.set_params(seeding=preparation.apply(starts.points))


def with_metric(parameters: dict[str, Any], table: Any) -> dict[str, Any]:
    """Return parameters with the metric that the table asks for."""
    return parameters | ({"metric": "haversine"} if table.on_globe else {})


def check_standardize(options: argparse.Namespace, table: Any) -> None:
    """Refuse to scale latitude and longitude."""
    if options.standardize and table.on_globe:
        raise UserError(
            "--standardize and --metric haversine do not go together: distances on the globe are "
            "in kilometres; leave --standardize out"
        )


def hint_at_the_globe(table: Any, metric: str | None) -> str | None:
    """Return a note if columns are named like latitude and longitude, and no metric is given."""
    from modeshift.globe import find_columns

    try:
        found = None if metric is not None or table.on_globe else find_columns(table.columns)
    except ValueError:
        return None
    if found is None:
        return None
    return (
        f"distances are in degrees of {found[0]} and {found[1]}; --metric haversine measures "
        "kilometres on the globe"
    )


def named_columns(options: argparse.Namespace) -> list[str] | None:
    """Return the columns that --columns names; None if it names none."""
    return options.columns.split(",") if options.columns else None


def label_place(options: argparse.Namespace, word: str) -> Path | None:
    """Return the path of the labels; None is standard output."""
    if options.out is None and options.data != _STDIN:
        data = Path(options.data)
        if data.suffix.lower() == ".gz":
            data = data.with_suffix("")
        ending = data.suffix if data.suffix.lower() in _ENDINGS_KEPT else ".csv"
        return data.parent / f"{data.stem}.{word}{ending}"
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


class LabelWriter:
    """Writes labels, one row for each point, to a file or to standard output.

    What would keep it from writing is an error when it is made, before any work is done.

    Parameters
    ----------
    place : path or None
        None: standard output.
    source : Source
        The open file of the points.
    table : Table
        The points in it.
    append : bool
        Whether the whole table is written, with the column of clusters added. Otherwise it is the
        id or the row number of each point, and its cluster; in GeoJSON the point too.
    """

    def __init__(self, place: Path | None, source: Any, table: Any, append: bool) -> None:
        from modeshift.io.write import check_frame_fits

        self._place, self._table, self._features = place, table, source.features
        self._rows_before = source.rows_before
        self._whole = _table_to_extend(source, place) if append else None
        self._on_map = None
        if place is not None and place.suffix.lower() == ".geojson":
            self._on_map = _columns_on_map(place, table, self._whole)
        if place is not None:
            with about("--out"):
                check_frame_fits(place, len(table.rows) + table.n_dropped)

    def write(self, labels: Any) -> None:
        """Write the labels."""
        from modeshift.io.write import write_frame, write_whole

        frame = self.frame(labels)
        if self._place is None:
            sys.stdout.write(frame.write_csv())
        elif self._on_map is None:
            write_frame(self._place, frame)
        else:
            from modeshift.io.geojson import write_geojson

            features = self.features(frame)
            write_whole(self._place, lambda file: write_geojson(file, features))

    def features(self, frame: Any) -> Any:
        """Return the rows as features of GeoJSON: those of the file, or new ones."""
        from modeshift.io.geojson import features_of, with_property
        from modeshift.io.table import CLUSTER

        if self._whole is not None and self._features:
            return with_property(self._features, CLUSTER, frame[CLUSTER])
        assert self._on_map is not None
        return features_of(frame, *self._on_map)

    def frame(self, labels: Any) -> Any:
        """Return the rows that are written."""
        import polars as pl

        from modeshift.io.table import CLUSTER, ROW

        table, clusters = self._table, pl.Series(CLUSTER, labels)
        if self._whole is None:
            identity = pl.Series(ROW, table.rows) if table.id is None else table.id
            places = [
                pl.Series(name, table.points[:, table.columns.index(name)], dtype=pl.Float64)
                for name in self._on_map or ()
            ]
            return pl.DataFrame([identity, *places, clusters])
        rows = table.rows - 1 - self._rows_before
        numbers = pl.Series("modeshift row", rows, dtype=pl.UInt32)
        return (
            self._whole.with_row_index(numbers.name)
            .join(pl.DataFrame([numbers, clusters]), on=numbers.name, how="left")
            .sort(numbers.name)
            .drop(numbers.name)
        )


def _columns_on_map(place: Path, table: Any, whole: Any) -> list[str]:
    """Return the columns of latitude and longitude that a GeoJSON file needs."""
    from modeshift.globe import find_columns

    if table.on_globe:
        return list(table.columns)
    try:
        found = find_columns(table.columns if whole is None else whole.columns)
    except ValueError as error:
        raise UserError(f"--out {place} is GeoJSON: {error}") from None
    if found is None:
        raise UserError(
            f"--out {place} is GeoJSON, and the table has no columns of latitude and longitude "
            "(lat, lon); name a file of another format, or take --metric haversine"
        )
    return found


def _table_to_extend(source: Any, place: Path | None) -> Any:
    """Return all columns of the file; refuse if a column of clusters cannot be added."""
    from modeshift.io.source import reading
    from modeshift.io.table import CLUSTER

    if place is not None and place.suffix.lower() == ".npy":
        raise UserError(
            f"--append writes a table, and {place} holds one array; name an --out FILE of another "
            "format, for example .npz"
        )
    with reading(source.name, source.kind):
        whole = source.frame.collect()
    if CLUSTER in whole.columns:
        raise UserError(
            f"--append adds a column {CLUSTER!r}, and {source.name} has one already; rename it, "
            "or leave --append out"
        )
    return whole
