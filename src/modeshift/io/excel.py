"""Excel workbooks (.xlsx): a sheet is read with fastexcel, and written with XlsxWriter."""

import io
import re
import zipfile
from pathlib import Path
from typing import IO, Any

from modeshift.io.errors import FileError
from modeshift.io.limits import check_unpacked, size_of
from modeshift.io.optional import require
from modeshift.io.text import is_number

_EXTRA = "excel"
_MOST_ROWS = 1_048_575  # of a sheet, below its header
_SHEETS = "xl/worksheets/"
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')
_CELL_SIZE = 24  # bytes of a cell in fastexcel, at least


def frame_of_excel(name: str, content: bytes | Path, sheet: str | None) -> Any:
    """Return a sheet as a lazy frame; None is the first sheet.

    The first row names the columns, unless it holds only numbers. A column with numbers and words
    is text.
    """
    fastexcel = require("fastexcel", _EXTRA)
    _check_area(name, content)
    book = fastexcel.read_excel(content)
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


def _check_area(name: str, content: bytes | Path) -> None:
    """Refuse sheets whose cells lie far apart: fastexcel keeps all cells between them."""
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    with zipfile.ZipFile(file) as archive:
        sheets = [member for member in archive.namelist() if member.startswith(_SHEETS)]
        for sheet in sheets:
            columns, rows = {1}, {1}
            for letters, digits in _CELL.findall(archive.read(sheet)):
                columns.add(_number_of_column(letters))
                rows.add(int(digits))
            check_unpacked(name, size_of(content), max(columns) * max(rows) * _CELL_SIZE)


def _number_of_column(letters: bytes) -> int:
    """Return the number of a column: A is 1, Z 26, AA 27."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _load(book: Any, sheet: str | int, header_row: int | None) -> Any:
    return book.load_sheet(
        sheet,
        header_row=header_row,
        schema_sample_rows=None,  # all rows: one late word makes a column text, and is not lost
        skip_whitespace_tail_rows=True,
    ).to_polars()
