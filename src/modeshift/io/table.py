"""Read points from a source: choose columns, and handle rows with a missing value."""

from typing import Any, NamedTuple

import numpy as np

from modeshift.globe import find_columns
from modeshift.io.errors import ColumnTakenTwice, FileError, NoPlaces, NoWholeRow, ValueMissing
from modeshift.io.source import GEOJSON, Source, reading

MISSING = ("NA", "N/A", "NULL", "NONE", "NAN", "?", "")
"""Words for a missing value in text; upper and lower case are the same."""

CLUSTER = "cluster"
"""Column of labels in tables that the command wrote. It is a result, so it is no feature unless
it is named, or the only column of numbers."""

ROW = "row"
"""Column of row numbers in files of labels that the command wrote."""

_SAMPLE = 10_000  # rows that decide whether a text column holds numbers


class Roles(NamedTuple):
    """Names of the columns that are not features; None if there is no such column."""

    id: str | None = None
    label: str | None = None
    weight: str | None = None


class Table(NamedTuple):
    """Points, with their names, labels and weights.

    Attributes
    ----------
    points : ndarray of shape (n, d), float32 or float64
    columns : list of str
        Names of the features.
    unused : list of str
        Columns that are no features and have no role, unless the features were chosen.
    rows : ndarray of shape (n,)
        Number of each row in the source, from 1 on.
    id, label : polars.Series or None
    weight : ndarray of shape (n,) or None
    n_dropped : int
        Number of rows dropped because a value was missing.
    on_globe : bool
        Whether the features are latitude and longitude.
    """

    points: np.ndarray
    columns: list[str]
    unused: list[str]
    rows: np.ndarray
    id: Any
    label: Any
    weight: np.ndarray | None
    n_dropped: int
    on_globe: bool = False


def read_table(
    source: Source,
    columns: list[str] | None = None,
    roles: Roles | None = None,
    missing: str = "error",
    on_globe: bool | None = False,
    *,
    part: bool = False,
) -> Table:
    """Read points from a source.

    Parameters
    ----------
    source : Source
    columns : list of str, default=None
        The features. In an NPZ file a name may be that of an array, which stands for all its
        columns. None: all columns that hold numbers and have no role, without a column ``cluster``;
        in an NPZ file with an array of points, the columns of this array.
    roles : Roles, default=None
    missing : {"error", "drop"}, default="error"
        What to do with rows without a finite number in a feature or the weight.
    on_globe : bool or None, default=False
        Whether the features are latitude and longitude. They are then found by their names, or, of
        two columns with other names, taken in this order. None: as the source says; the points of
        GeoJSON are, unless other columns are named.
    part : bool, default=False
        Whether the source is a part of the rows. All rows of a part may be dropped.
    """
    import polars as pl

    roles = roles or Roles()
    if on_globe is None:
        on_globe = source.kind == GEOJSON and columns is None
    with reading(source.name, source.kind):
        names = source.frame.collect_schema().names()
        if source.frame.head(1).collect().height == 0:
            raise FileError(f"{source.name} has columns but no rows")
        columns = [each for name in columns or [] for each in source.arrays.get(name, [name])]
        _check_known(source, names, [*columns, *(role for role in roles if role)])
        if on_globe:
            features, unused = _choose_places(source, columns, names, roles)
        else:
            features, unused = (columns, []) if columns else _choose(source, names, roles)
        _refuse(source, columns, _COMMAS, _DATES)
        wanted = list(features) + ([roles.weight] if roles.weight else [])
        carried = [role for role in (roles.id, roles.label) if role]
        frame = source.frame.select(
            *(_as_number(source, name) for name in wanted), *carried
        ).collect()
        source.stamp.check()
    kept = _usable(source, frame.select(wanted), missing)
    n_dropped = int((~kept).sum())
    if not part:
        check_whole_rows(source.name, len(kept) - n_dropped)
    chosen = frame.filter(kept) if n_dropped else frame
    return Table(
        points=np.ascontiguousarray(chosen.select(features).to_numpy()),
        columns=list(features),
        unused=unused,
        rows=np.flatnonzero(kept.to_numpy()) + source.rows_before + 1,
        id=chosen[roles.id] if roles.id else None,
        label=chosen[roles.label] if roles.label else None,
        weight=chosen[roles.weight].cast(pl.Float64).to_numpy() if roles.weight else None,
        n_dropped=n_dropped,
        on_globe=on_globe,
    )


def _check_known(source: Source, names: list[str], wanted: list[str]) -> None:
    if any("\ufffd" in name for name in names):
        raise FileError(f"the header of {source.name} is not in UTF-8; save the file in UTF-8")
    for name in wanted:
        if name not in names:
            there = list(source.arrays) or names
            listed = ", ".join(there[:12]) + (", ..." if len(there) > 12 else "")
            raise FileError(f"{source.name} has no column {name!r}; it has {listed}")
    doubled = {name for name in wanted if wanted.count(name) > 1}
    if doubled:
        raise ColumnTakenTwice(
            f"column {min(doubled)!r} is used twice",
            "name each column only once, in columns or in roles",
        )


def _choose(source: Source, names: list[str], roles: Roles) -> tuple[list[str], list[str]]:
    """Return the features and the other columns, both without columns that have a role."""
    free = [name for name in names if name not in roles]
    points = next(iter(source.arrays.values()), free)
    numeric = _numeric(source, [name for name in points if name in free])
    if source.may_be_text:
        _refuse(source, [name for name in free if name not in numeric], _COMMAS)
    numeric = [name for name in numeric if name != CLUSTER] or numeric
    if numeric == [ROW] and CLUSTER in free:
        raise FileError(
            f"{source.name} holds labels that modeshift wrote, and no points",
            "name the table of the points",
        )
    if not numeric:
        raise FileError(
            f"{source.name} has no column of numbers{_hint(source, free)}; "
            "clustering needs at least one such column"
        )
    return numeric, [name for name in free if name not in numeric]


def _choose_places(
    source: Source, columns: list[str], names: list[str], roles: Roles
) -> tuple[list[str], list[str]]:
    """Return the columns of latitude and longitude, and the others without a role."""
    free = columns or [name for name in names if name not in roles]
    try:
        found = find_columns(free)
    except ValueError as error:
        fact, _, remedy = str(error).partition("; ")
        raise NoPlaces(f"{source.name}: {fact}", remedy) from None
    found = found or (columns if columns else _numeric(source, free))
    if len(found) != 2:
        raise NoPlaces(
            f"{source.name} has no columns named lat and lon (or latitude and longitude)",
            "name the two columns in columns, latitude first",
        )
    return found, [] if columns else [name for name in free if name not in found]


def _numeric(source: Source, names: list[str]) -> list[str]:
    """Return the columns that hold numbers."""
    import polars as pl

    schema = source.frame.collect_schema()
    texts = [name for name in names if schema[name] == pl.String and source.may_be_text]
    in_text = _numeric_in_text(source, texts)
    return [name for name in names if schema[name].is_numeric() or name in in_text]


class _Mistake(NamedTuple):
    """Text that stands for numbers but cannot be read as numbers: pattern, name and remedy."""

    pattern: str
    what: str
    remedy: str


_COMMAS = _Mistake(
    r"^[+-]?[\d.]*\d,\d+([eE][+-]?\d+)?$",
    "numbers with a decimal comma",
    "save the file with decimal points, or choose other columns",
)
_DATES = _Mistake(
    r"^(\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4})\b",
    "dates or times",
    "convert them to numbers first, for example to days, or choose other columns",
)


def _refuse(source: Source, names: list[str], *mistakes: _Mistake) -> None:
    """Refuse columns whose first rows are mostly one of the mistakes."""
    import polars as pl

    schema = source.frame.collect_schema()
    texts = [name for name in names if schema[name] == pl.String]
    sample = source.frame.head(_SAMPLE).select(_filled(name) for name in texts).collect()
    for name in texts:
        values = sample[name].drop_nulls()
        for pattern, what, remedy in mistakes:
            found = values.filter(values.str.contains(pattern))
            if len(found) * 2 > len(values):
                raise FileError(
                    f"column {name!r} of {source.name} holds {what}, such as {found[0]!r}", remedy
                )


def _hint(source: Source, names: list[str]) -> str:
    if source.may_be_text and len(names) == 1 and len(names[0].split()) > 1:
        return " (columns must be separated by commas, semicolons, tabs or bars, not spaces)"
    return ""


def _numeric_in_text(source: Source, names: list[str]) -> list[str]:
    """Return the columns that are numeric: most values in their first rows are numbers.

    Most, not all: one bad value must give an error, and not remove the column.
    """
    counts = (
        source.frame.select(names)
        .head(_SAMPLE)
        .select(
            *(
                _as_number(source, name).is_not_nan().sum().alias(f"numbers {name}")
                for name in names
            ),
            *(_filled(name).count().alias(f"values {name}") for name in names),
        )
        .collect()
        .row(0)
        if names
        else ()
    )
    numbers, values = counts[: len(names)], counts[len(names) :]
    return [
        name
        for name, number, value in zip(names, numbers, values, strict=True)
        if number * 2 > value
    ]


def _filled(name: str) -> Any:
    """Return the text of a column; null where the value is missing."""
    import polars as pl

    text = pl.col(name).str.strip_chars()
    return pl.when(text.str.to_uppercase().is_in(MISSING).not_()).then(text).alias(name)


def _as_number(source: Source, name: str) -> Any:
    """Return a column as floats; null where there is no number."""
    import polars as pl

    column = pl.col(name)
    dtype = source.frame.collect_schema()[name]
    if dtype == pl.String:
        return column.str.strip_chars().cast(pl.Float64, strict=False)
    if dtype == pl.Float32:
        return column
    if dtype.is_temporal():
        raise FileError(f"column {name!r} of {source.name} holds {_DATES.what}", _DATES.remedy)
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise FileError(f"column {name!r} of {source.name} holds {dtype}, not numbers")
    return column.cast(pl.Float64, strict=False)


def _usable(source: Source, numbers: Any, missing: str) -> Any:
    """Return the mask of the rows without missing or infinite values."""
    import polars as pl

    finite = numbers.select(pl.all().is_finite().fill_null(False))
    kept = finite.select(pl.all_horizontal(pl.all())).to_series()
    if kept.all():
        return kept
    n_bad = int((~kept).sum())
    if missing == "error":
        row = int((~kept).arg_max() or 0)
        name = next(name for name in numbers.columns if not finite[name][row])
        number = source.rows_before + row + 1
        raise ValueMissing(
            f"{source.name}: row {number}, column {name!r} {_what_is_there(source, row, name)}"
            f" ({n_bad} such row{'s' * (n_bad > 1)})",
            "correct the file, choose other columns, or drop such rows with missing='drop'",
        )
    return kept


def check_whole_rows(name: str, n_rows: int) -> None:
    """Refuse a table of which all rows were dropped."""
    if n_rows == 0:
        raise NoWholeRow(f"{name} has no row without a missing value", "choose other columns")


def _what_is_there(source: Source, row: int, name: str) -> str:
    value = source.frame.select(name).slice(row, 1).collect().item()
    text = "" if value is None else str(value).strip()
    if text.upper() in MISSING:
        return "is empty" if text == "" else f"has no value ({text})"
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"is {shown!r}, not a finite number"
