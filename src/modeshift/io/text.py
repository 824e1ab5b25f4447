"""CSV and TSV: find the delimiter and the header, and check the number of fields of every row.

All columns stay text here. They become numbers when columns are chosen, so that an error can show a
bad value as it is in the file.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

from modeshift.io.errors import FileError

_DELIMITERS = ",;\t|"
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_NEVER = "\x1f"
"""The unit separator of ASCII. With this delimiter a whole line is one field."""


class Layout(NamedTuple):
    """How the rows of a file are written.

    Attributes
    ----------
    newline, delimiter : str
    width : int
        Number of fields of a row.
    has_header : bool
        Whether the first line names the columns.
    """

    newline: str
    delimiter: str
    width: int
    has_header: bool


def layout_of(name: str, head: bytes) -> Layout:
    """Return the layout of delimited text, by its first line."""
    _check_is_text(name, head)
    newline = "\n" if b"\n" in head or b"\r" not in head else "\r"
    first = _first_line(head, newline)
    if not first.strip():
        raise FileError(f"{name} begins with a blank line; its first line must name the columns")
    delimiter = max(_DELIMITERS, key=first.count)
    (fields,) = csv.reader([first], delimiter=delimiter)
    return Layout(newline, delimiter, len(fields), not all(is_number(field) for field in fields))


def scan_text(name: str, content: bytes | Path, layout: Layout, rows_before: int = 0) -> Any:
    """Scan delimited text; return a lazy frame of text columns.

    Errors count rows from ``rows_before``.
    """
    import polars as pl

    shared: dict[str, Any] = {
        "infer_schema": False,
        "eol_char": layout.newline,
        "glob": False,
    }
    lines = pl.scan_csv(
        content, separator=_NEVER, quote_char=None, has_header=False, new_columns=["line"], **shared
    )
    n_rows = _check_shape(name, content, lines, layout, rows_before)
    frame = pl.scan_csv(content, separator=layout.delimiter, has_header=layout.has_header, **shared)
    frame = frame.rename(_names(frame.collect_schema().names(), layout.has_header))
    return frame if n_rows is None else frame.head(n_rows)


def _names(names: list[str], has_header: bool) -> dict[str, str]:
    """Return the new names: without spaces around them, or numbers if there is no header."""
    if not has_header:
        return {name: f"column_{number}" for number, name in enumerate(names, start=1)}
    stripped = [name.strip() for name in names]
    return dict(zip(names, stripped, strict=True)) if len(set(stripped)) == len(names) else {}


def _check_is_text(name: str, head: bytes) -> None:
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if wide or b"\0" in head:
        what = "UTF-16" if wide else "neither text nor a known format"
        raise FileError(f"{name} is {what}; save it as CSV in UTF-8, or as Parquet, Arrow or NPY")


def _first_line(head: bytes, newline: str) -> str:
    text = head.decode("utf-8-sig", errors="replace")
    return text.partition(newline)[0].rstrip("\r")


def is_number(field: str) -> bool:
    """Return whether a field is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _check_shape(
    name: str, content: bytes | Path, lines: Any, layout: Layout, rows_before: int
) -> int | None:
    """Check that all lines have the same number of fields; return the number of rows.

    Blank lines at the end do not count. Returns None if a quoted field spans several lines.
    """
    import polars as pl

    _, delimiter, width, has_header = layout
    line = pl.col("line").fill_null("")
    try:
        found = _measure(lines, line, delimiter, width)
        if found.quotes > 0:  # a delimiter inside quotes is text
            bare = line.str.replace_all('"[^"]*"', "")
            found = _measure(lines, bare, delimiter, width)._replace(quotes=found.quotes)
            if lines.select(bare.str.contains('"', literal=True).any()).collect().item():
                found = found._replace(last=None)
    except pl.exceptions.ComputeError as error:
        if "utf-8" not in str(error):
            raise
        raise FileError(
            f"{name} is not in UTF-8{_where_not_utf8(content, rows_before)}; save the file in UTF-8"
        ) from error
    if found.quotes % 2:
        raise FileError(f"{name} has a quote that is not closed; close or remove it")
    if found.last is None:
        return None
    if found.ragged is not None:
        row = f"row {rows_before + found.ragged + (not has_header)}"
        raise FileError(
            f"{name} has {found.fields} fields in {row} and {width} in the first line "
            f"(separated by {_NAMES[delimiter]}); all rows need the same number of fields and the "
            "same delimiter"
        )
    return found.last + (not has_header)


class _Shape(NamedTuple):
    """Counts of the lines of a file.

    Attributes
    ----------
    quotes : int
        Number of quotes.
    last : int or None
        Number of the last line that is not blank; None if lines are not rows.
    ragged, fields : int or None
        Number of the first line with a wrong number of fields, and its number of fields.
    """

    quotes: int
    last: int | None
    ragged: int | None
    fields: int | None


def _measure(lines: Any, line: Any, delimiter: str, width: int) -> _Shape:
    import polars as pl

    fields = line.str.count_matches(delimiter, literal=True) + 1
    is_blank = line.str.strip_chars() == ""
    counts = lines.select(
        number=pl.int_range(pl.len()),
        fields=fields,
        quotes=line.str.count_matches('"', literal=True),
        is_blank=is_blank,
    )
    odd = pl.col("number").filter((pl.col("fields") != width) & ~pl.col("is_blank"))
    return _Shape(
        *counts.select(
            pl.col("quotes").sum(),
            pl.col("number").filter(~pl.col("is_blank")).max(),
            odd.min().alias("ragged"),
            pl.col("fields").filter((pl.col("fields") != width) & ~pl.col("is_blank")).first(),
        )
        .collect()
        .row(0)
    )


def _where_not_utf8(content: bytes | Path, rows_before: int) -> str:
    if isinstance(content, Path):
        with content.open("rb") as file:
            return _first_bad_line(file, rows_before)
    return _first_bad_line(content.splitlines(), rows_before)


def _first_bad_line(lines: Any, lines_before: int) -> str:
    for number, line in enumerate(lines, start=lines_before + 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return f" (line {number})"
    return ""
