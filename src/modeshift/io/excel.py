"""Excel workbooks (.xlsx): a sheet is read with fastexcel, and written with XlsxWriter."""

from pathlib import Path
from typing import IO, Any

from modeshift.io.errors import FileError
from modeshift.io.optional import require
from modeshift.io.text import is_number

_EXTRA = "excel"
_MOST_ROWS = 1_048_575  # of a sheet, below its header


def frame_of_excel(name: str, content: bytes | Path, sheet: str | None) -> Any:
    """Return a sheet as a lazy frame; None is the first sheet.

    The first row names the columns, unless it holds only numbers. A column with numbers and words
    is text.
    """
    book = require("fastexcel", _EXTRA).read_excel(content)
    if sheet is not None and sheet not in book.sheet_names:
        raise FileError(
            f"{name} has no sheet {sheet!r}; its sheets are {', '.join(book.sheet_names)}"
        )
    frame = _load(book, sheet or 0, header_row=0)
    if frame.width == 0:
        raise FileError(f"{name}: the sheet {sheet or book.sheet_names[0]!r} is empty")
    if all(is_number(column) for column in frame.columns):
        frame = _load(book, sheet or 0, header_row=None)
        frame.columns = [f"column_{number}" for number in range(1, frame.width + 1)]
    return frame.lazy()


def write_excel(file: IO[bytes], frame: Any) -> None:
    """Write a frame as the only sheet of a workbook."""
    require("xlsxwriter", _EXTRA)
    frame.write_excel(file)


def check_sheet_holds(n_rows: int) -> None:
    """Refuse if XlsxWriter is not installed, or if a sheet cannot hold all rows."""
    require("xlsxwriter", _EXTRA)
    if n_rows > _MOST_ROWS:
        raise FileError(
            f"a sheet of Excel holds at most {_MOST_ROWS:,} rows below its header, and the table "
            f"has {n_rows:,}; write .csv or .parquet"
        )


def _load(book: Any, sheet: str | int, header_row: int | None) -> Any:
    return book.load_sheet(
        sheet,
        header_row=header_row,
        schema_sample_rows=None,  # all rows: one late word makes a column text, and is not lost
        skip_whitespace_tail_rows=True,
    ).to_polars()
