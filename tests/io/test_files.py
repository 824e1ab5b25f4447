"""Reading and writing of tables: every format, what is refused and how, and damaged files."""

import gzip
import io
import re
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import modeshift
from modeshift.io.errors import FileError, PlaceTaken
from modeshift.io.optional import NotInstalled
from modeshift.io.source import open_source
from modeshift.io.table import Roles, read_table
from modeshift.io.write import (
    check_frame_ending,
    check_frame_fits,
    check_place,
    write_frame,
    write_whole,
)

FRAME = pl.DataFrame(
    {
        "id": ["p", "q", "r", "s"],
        "a": [1, 2, 3, 4],
        "b": [0.5, -1.5, 2.25, 1e-3],
        "note": ["x", "y", "z", "é"],
    }
)
POINTS = FRAME.select("a", "b").to_numpy()


def as_bytes(write, *arguments, **options):
    file = io.BytesIO()
    write(file, *arguments, **options)
    return file.getvalue()


FORMATS = {
    "csv": as_bytes(FRAME.write_csv),
    "tsv": as_bytes(FRAME.write_csv, separator="\t"),
    "csv.gz": gzip.compress(as_bytes(FRAME.write_csv)),
    "parquet": as_bytes(FRAME.write_parquet),
    "arrow": as_bytes(FRAME.write_ipc, compat_level=pl.CompatLevel.oldest()),
    "feather": as_bytes(FRAME.write_ipc_stream),
    "xlsx": as_bytes(FRAME.write_excel),
    "npz": as_bytes(np.savez, **{name: FRAME[name].to_numpy().astype(
        str if FRAME[name].dtype == pl.String else float) for name in FRAME.columns}),
}  # fmt: skip


def read(path, sheet=None, **options):
    return read_table(open_source(str(path), options.get("columns"), sheet), **options)


def refuse(path, **options):
    """Return the one line with which a file is refused."""
    with pytest.raises(FileError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


@pytest.fixture
def put(tmp_path):
    """Make a file of some bytes or text."""

    def put(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("from_stdin", [False, True])
def test_every_format_is_read(ending, from_stdin, put, monkeypatch):
    if from_stdin:
        stdin = io.TextIOWrapper(io.BytesIO(FORMATS[ending]))
        monkeypatch.setattr(sys, "stdin", stdin)
        path = "-"
    else:
        path = put(FORMATS[ending], f"data.{ending}")
    table = read(path, roles=Roles(id="id"))
    assert_array_equal(table.points, POINTS)
    assert table.columns == ["a", "b"]
    assert table.unused == ["note"]
    assert table.id.to_list() == ["p", "q", "r", "s"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_npy_and_its_type(dtype, put):
    array = np.arange(8).reshape(4, 2).astype(dtype)
    table = read(put(as_bytes(np.save, array), "data.npy"))
    assert_array_equal(table.points, array)
    assert table.points.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert table.columns == ["x0", "x1"]


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1;2\n3;4\n",
        "a|b\n1|2\n3|4\n",
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\r1,2\r3,4\r",
        "a,b\n1,2\n3,4",
        "a,b\n1,2\n3,4\n\n\n",
        " a , b \n 1 , 2 \n 3 , 4 \n",
        '"a","b"\n"1","2"\n"3","4"\n',
        "\ufeffa,b\n1,2\n3,4\n",
        "a,b\n1,2.0\n3e0,+4\n",
    ],
)
def test_spellings_of_the_same_table(text, put):
    table = read(put(text))
    assert_array_equal(table.points, [[1, 2], [3, 4]])
    assert table.columns == ["a", "b"]


def test_quoted_fields(put):
    table = read(put('a,b,c\n1,"x,\ny",2\n3,"say ""z""",4\n'))
    assert_array_equal(table.points, [[1, 2], [3, 4]])
    assert table.unused == ["b"]


def test_without_a_header(put):
    table = read(put("1,2\n3,4\n"))
    assert_array_equal(table.points, [[1, 2], [3, 4]])
    assert table.columns == ["column_1", "column_2"]


def test_roles_are_no_features(put):
    path = put("id,a,b,class,w\n007,1,2,x,1\n008,3,4,y,0.5\n")
    table = read(path, roles=Roles("id", "class", "w"))
    assert table.columns == ["a", "b"]
    assert table.id.to_list() == ["007", "008"]
    assert table.label.to_list() == ["x", "y"]
    assert_array_equal(table.weight, [1, 0.5])
    assert read(path, columns=["b"]).columns == ["b"]


def test_rows_with_missing_values_are_dropped_and_counted(put):
    path = put("id,a,b\n1,1,2\n2,,2\n3,NA,2\n4,oops,2\n5,inf,2\n6,3,4\n")
    table = read(path, roles=Roles(id="id"), missing="drop")
    assert_array_equal(table.points, [[1, 2], [3, 4]])
    assert_array_equal(table.rows, [1, 6])
    assert table.id.to_list() == ["1", "6"]
    assert table.n_dropped == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["is empty"]),
        (b"a,b\n", ["no rows"]),
        (b"\na,b\n1,2\n", ["blank line"]),
        (b"a,b\nx,y\n", ["no column of numbers"]),
        (b"1.0 2.0\n3.0 4.0\n", ["no column of numbers", "not spaces"]),
        (b"a,b\n1,2\n3,oops\n5,6\n", ["row 2", "'b'", "'oops'", "1 such row", "missing='drop'"]),
        (b"a,b\n1,2\n,4\n5,NA\n", ["row 2", "'a'", "is empty", "2 such rows"]),
        (b"a,b\n1,2\n3,inf\n", ["row 2", "'b'", "'inf'"]),
        (b"a,b,c\n1,2,3\n4,5\n", ["2 fields in row 2", "3 in the first line"]),
        (b"a,b,c\n1,2,3\n4,5,6,7\n", ["4 fields in row 2"]),
        (b"1,2\n3\n", ["1 fields in row 2"]),
        (b"a,b\n1;2\n", ["1 fields in row 1", "commas", "delimiter"]),
        (b'a,b\n1,"2\n3,4\n', ["quote", "not closed"]),
        ("a,b\n1,2\n3,\xe9\n".encode("latin-1"), ["not in UTF-8", "line 3"]),
        ("a,b\n1,2\n".encode("utf-16"), ["UTF-16", "save it"]),
        (b"a,b\n1,\x00\n", ["neither text"]),
        (b"a;b\n1,5;2,5\n3,5;4\n", ["column 'a'", "a decimal comma, such as '1,5'", "points"]),
        (b"a;b\n1;2\n3;1.004,5\n5;+6,5e3\n7;8,0\n", ["column 'b'", "'1.004,5'"]),
    ],
)
def test_refused_text(content, words, put):
    message = refuse(put(content))
    assert "data.csv" in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "arrow", "npz", "xlsx"])
def test_truncated_files(ending, put):
    message = refuse(put(FORMATS[ending][:-30], f"data.{ending}"))
    assert "cannot be read" in message
    assert "is the file complete?" in message


def test_columns_that_are_not_there_or_not_numbers(put):
    path = put(FORMATS["parquet"], "data.parquet")
    assert "no column 'c'; it has id, a, b, note" in refuse(path, columns=["a", "c"])
    assert "is used twice" in refuse(path, columns=["a"], roles=Roles(weight="a"))
    assert "row 1, column 'note' is 'x'" in refuse(path, columns=["a", "note"])


def test_dates_are_no_numbers(put):
    """They are left out, unless they are chosen."""
    for text in ("2020-01-31", "2020-01-31 12:00", "31.1.2020", "1/31/20"):
        path = put(f"a,when\n1,{text}\n2,{text}\n")
        assert read(path).unused == ["when"]
        message = refuse(path, columns=["a", "when"])
        assert f"column 'when' of {path} holds dates or times, such as {text!r}; convert" in message
    days = FRAME.with_columns(when=pl.date(2020, 1, pl.col("a")))
    for ending, write in [("parquet", days.write_parquet), ("xlsx", days.write_excel)]:
        path = put(as_bytes(write), f"data.{ending}")
        assert "when" in read(path).unused
        assert "column 'when'" in refuse(path, columns=["a", "when"])
        assert "holds dates or times; convert" in refuse(path, columns=["a", "when"])


def test_places_that_are_no_files(tmp_path):
    assert "there is no file" in refuse(tmp_path / "none.csv")
    assert "is a folder" in refuse(tmp_path)
    assert "no valid file name" in refuse("a\0b")


def test_endings_that_lie(put):
    assert "is no Parquet file, although its name says so" in refuse(
        put(b"a,b\n1,2\n", "data.parquet")
    )


def test_arrays_that_make_no_table(put):
    different = as_bytes(np.savez, x=np.zeros(3), y=np.zeros(2))
    assert "different lengths (x 3, y 2), and none is named X" in refuse(put(different, "data.npz"))
    cube = as_bytes(np.save, np.zeros((2, 2, 2)))
    assert "shape (2, 2, 2)" in refuse(put(cube, "data.npy"))
    objects = as_bytes(np.save, np.array([{}]), allow_pickle=True)
    assert "cannot be read as NPY" in refuse(put(objects, "data.npy"))
    objects = as_bytes(np.savez, X=np.array([{}]))
    assert "has no array of numbers or text" in refuse(put(objects, "data.npz"))
    assert "'X' has shape ()" in refuse(put(as_bytes(np.savez, X=1.0), "data.npz"))
    assert "'X' holds complex128" in refuse(put(as_bytes(np.savez, X=np.full(3, 1j)), "data.npz"))


MATRIX = np.arange(8, dtype=np.float16).reshape(4, 2)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (None, ["X0", "X1"]),
        (["raw"], ["raw0", "raw1", "raw2"]),
        (["X1", "y"], ["X1", "y"]),
        (["test"], ["test0", "test1"]),
        (["test1"], ["test1"]),
    ],
)
def test_an_archive_of_several_arrays(columns, expected, put):
    """X holds the points, unless other arrays are chosen; what has another length is no column."""
    arrays = {
        "description": np.array("a set"), "y": np.arange(4), "name": np.array(list("abcd")),
        "raw": np.ones((4, 3)), "test": np.ones((9, 2)), "cube": np.ones((4, 2, 2)),
        "objects": np.array([{}] * 4), "when": np.full(4, np.datetime64("2020-01-01")), "X": MATRIX,
    }  # fmt: skip
    table = read(put(as_bytes(np.savez, **arrays), "data.npz"), columns=columns)
    assert table.columns == expected
    if columns is None:
        assert_array_equal(table.points, MATRIX)
        assert table.points.dtype == np.float32
        assert table.unused == ["y", "name", "raw0", "raw1", "raw2"]


def test_the_only_matrix_of_an_archive_holds_the_points(put):
    path = put(as_bytes(np.savez, data=MATRIX, y=np.arange(4), k=7), "data.npz")
    assert read(path, roles=Roles(label="y")).columns == ["data0", "data1"]
    assert "no column 'z'; it has data, y" in refuse(path, columns=["z"])


def workbook(**sheets):
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return file.getvalue()


def test_sheets(put):
    path = put(workbook(one=[["a", "b"], [1, 2.5]], two=[["c"], [3]], three=[]), "data.xlsx")
    assert read(path).columns == ["a", "b"]
    assert read(path, sheet="two").columns == ["c"]
    assert "has no sheet 'four'; its sheets are one, two, three" in refuse(path, sheet="four")
    assert "the sheet 'three' is empty" in refuse(path, sheet="three")
    assert "has no sheet 'one'; only Excel files have sheets" in refuse(
        put(FORMATS["csv"]), sheet="one"
    )


def test_cells_of_a_sheet(put):
    """A number may be text, a blank row keeps its number, and a late word is seen."""
    rows = [["a", "b"], [1, "2"], ["", ""], *[[3, "4"]] * 2000, [5, "oops"], ["", ""]]
    path = put(workbook(sheet=rows), "data.xlsx")
    table = read(path, missing="drop")
    assert table.columns == ["a", "b"]
    assert_array_equal(table.points[:2], [[1, 2], [3, 4]])
    assert_array_equal(table.rows[:2], [1, 3])
    assert table.n_dropped == 2
    assert "row 2, column 'a' is empty (2 such rows)" in refuse(path)
    bare = put(workbook(sheet=[[1, 2], [3, 4]]), "bare.xlsx")
    assert read(bare).columns == ["column_1", "column_2"]
    assert_array_equal(read(bare).points, [[1, 2], [3, 4]])


def test_other_archives(put):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", "")
    assert "is a zip archive, but neither NPZ nor Excel" in refuse(put(file.getvalue(), "a.ods"))


@pytest.mark.parametrize("missing", ["fastexcel", "xlsxwriter"])
def test_excel_needs_an_extra(missing, put, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    path = put(FORMATS["xlsx"], "data.xlsx")
    with pytest.raises(NotInstalled, match=rf"needs {missing}.*pip install 'modeshift\[excel\]'"):
        read(path) if missing == "fastexcel" else check_frame_ending(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("dtype", [pl.List(pl.Float32), pl.Array(pl.Float32, 3)])
def test_a_column_of_vectors(ending, dtype, tmp_path):
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    frame = FRAME.select("id").with_columns(v=pl.Series(vectors.tolist(), dtype=dtype))
    write_frame(tmp_path / f"data.{ending}", frame)
    table = read(tmp_path / f"data.{ending}")
    assert table.columns == ["v_0", "v_1", "v_2"]
    assert_array_equal(table.points, vectors)
    assert table.points.dtype == np.float32


def test_vectors_of_different_lengths(tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"v": [[1.0, 2.0], [3.0]]}).write_parquet(path)
    assert "column 'v' holds lists of 1 to 2 numbers" in refuse(path)


# Damaged files

EDITS = st.lists(
    st.tuples(
        st.sampled_from(["replace", "delete", "insert", "cut"]),
        st.floats(0, 1),
        st.binary(min_size=1, max_size=12),
    ),
    min_size=1,
    max_size=6,
)


def damage(content, edits):
    content = bytearray(content)
    for edit, where, new in edits:
        place = int(where * len(content))
        if edit == "cut":
            del content[place:]
        else:
            content[place : place + (0 if edit == "insert" else len(new))] = (
                b"" if edit == "delete" else new
            )
    return bytes(content)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ending=st.sampled_from([*FORMATS, "npy"]), edits=EDITS, drop=st.booleans())
def test_damaged_files_are_read_or_refused(ending, edits, drop, tmp_path):
    """Never a traceback, never a hang; a warning would be an error here."""
    whole = FORMATS.get(ending) or as_bytes(np.save, POINTS)
    path = tmp_path / f"data.{ending}"
    path.write_bytes(damage(whole, edits))
    read_or_refuse(path, drop)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text("12.,;\t\n\r\"' ab-eé\ufeff", max_size=60), drop=st.booleans())
def test_any_text_is_read_or_refused(text, drop, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    read_or_refuse(path, drop)


def read_or_refuse(path, drop):
    message = None
    try:
        table = read(path, missing="drop" if drop else "error")
    except FileError as error:
        message = str(error)
    if message is None:
        assert np.isfinite(table.points).all()
        assert len(table.points) == len(table.rows) > 0
    else:
        assert path.name in message
        assert len(message.splitlines()) == 1


# Writing


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "arrow", "npz"])
def test_what_is_written_can_be_read(ending, tmp_path):
    path = tmp_path / f"data.{ending}"
    write_frame(path, FRAME)
    table = read(path, roles=Roles(id="id"))
    assert_array_equal(table.points, POINTS)
    assert table.id.to_list() == ["p", "q", "r", "s"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_sheet_holds_about_a_million_rows(tmp_path):
    check_frame_fits(tmp_path / "out.xlsx", 1_048_575)
    with pytest.raises(FileError, match="at most 1,048,575 rows below its header"):
        check_frame_fits(tmp_path / "out.xlsx", 1_048_576)


def test_npy_holds_the_last_column(tmp_path):
    write_frame(tmp_path / "labels.npy", FRAME.select("id", "a"))
    assert_array_equal(np.load(tmp_path / "labels.npy"), [1, 2, 3, 4])


def test_nothing_is_half_written(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail(file):
        file.write(b"new")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match=r"out\.csv could not be written: No space left"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_are_checked_before_the_work(tmp_path):
    there = tmp_path / "there.csv"
    there.touch()
    with pytest.raises(PlaceTaken, match="exists; pass force=True"):
        check_place(there, force=False)
    check_place(there, force=True)
    with pytest.raises(FileError, match="is a folder"):
        check_place(tmp_path, force=True)
    with pytest.raises(FileError, match=r"the folder .* does not exist; create it first"):
        check_place(tmp_path / "none" / "out.csv", force=False)


def test_no_error_of_the_library_speaks_of_options():
    """The command has options; functions have parameters."""
    for path in sorted(Path(modeshift.__file__).parent.rglob("*.py")):
        if path.parent.name != "cli":
            assert not re.search(r"\"[^\"\n]*(?<![-\w])--[a-z]", path.read_text()), path


def test_strange_names_of_files(tmp_path, monkeypatch):
    """No pattern is expanded, and a relative path is fine."""
    monkeypatch.chdir(tmp_path)
    for name in ["a*[b]?.csv", "sp ace.csv", "é.csv"]:
        Path(name).write_text("a,b\n1,2\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_array_equal(read(name).points, [[1, 2]])
