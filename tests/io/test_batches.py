"""Tables in batches: every format gives the rows of the whole file, and errors count its rows."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import ipc

from modeshift.io import batches as batches_module
from modeshift.io.batch_writer import batch_writer, check_batch_ending
from modeshift.io.batches import Batches
from modeshift.io.errors import FileError
from modeshift.io.source import open_source
from modeshift.io.table import read_table

RNG = np.random.default_rng(0)
FRAME = pl.DataFrame(
    {"a": RNG.normal(size=200), "b": RNG.normal(size=200), "note": ['say "x,\ny"', "é"] * 100}
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Batches of a few rows."""
    monkeypatch.setattr(batches_module, "_BLOCK", 2500)
    monkeypatch.setattr(batches_module, "_ROWS", 50)


def as_bytes(write, **options):
    file = io.BytesIO()
    write(file, **options)
    return file.getvalue()


def arrow_stream():
    file, table = io.BytesIO(), FRAME.to_arrow()
    with ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=70)
    return file.getvalue()


CSV = as_bytes(FRAME.write_csv)
FORMATS = {
    "points.csv": CSV,
    "points.csv.gz": gzip.compress(CSV),
    "points.tsv": as_bytes(FRAME.write_csv, separator="\t"),
    "windows.csv": as_bytes(FRAME.write_csv, line_terminator="\r\n"),
    "old_mac.csv": as_bytes(FRAME.select("a", "b").write_csv, line_terminator="\r"),
    "no_header.csv": as_bytes(FRAME.select("a", "b").write_csv, include_header=False),
    "no_end.csv": CSV.rstrip(),
    "points.parquet": as_bytes(FRAME.write_parquet),
    "points.arrow": as_bytes(FRAME.write_ipc),
    "points.arrows": arrow_stream(),
    "points.npy": as_bytes(lambda file: np.save(file, FRAME.select("a", "b").to_numpy())),
}


@pytest.mark.parametrize("name", FORMATS)
def test_batches_are_the_whole_file(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    whole = read_table(open_source(str(path)))
    batches = Batches(str(path))
    assert batches.can_repeat
    for _ in range(2):  # a file can be read again
        tables = [read_table(batch) for batch in batches]
        assert len(tables) >= 3
        assert_array_equal(np.concatenate([table.points for table in tables]), whole.points)
        assert_array_equal(np.concatenate([table.rows for table in tables]), np.arange(1, 201))
        assert batches.share == 1.0


@pytest.mark.parametrize("name", ["points.csv", "points.csv.gz", "points.arrows"])
def test_standard_input_is_read_once(name, monkeypatch):
    file = io.BytesIO(FORMATS[name])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(file)))
    batches = Batches("-")
    assert not batches.can_repeat
    points = np.concatenate([read_table(batch).points for batch in batches])
    assert_array_equal(points, FRAME.select("a", "b").to_numpy())
    assert batches.share is None


def test_an_empty_line_at_the_end_is_no_row(tmp_path):
    path = tmp_path / "points.csv"
    path.write_bytes(CSV + b"\n\n\n")
    assert sum(len(read_table(batch).points) for batch in Batches(str(path))) == 200


@pytest.mark.parametrize(
    ("row", "words"),
    [(b"1,2,3", "fields in row 201"), (b"1,two", "row 201, column 'b'"), (b",1", "row 201")],
)
def test_errors_count_the_rows_of_the_file(row, words, tmp_path):
    path = tmp_path / "points.csv"
    path.write_bytes(as_bytes(FRAME.select("a", "b").write_csv) + row + b"\n")
    batches = Batches(str(path))
    with pytest.raises(FileError, match=words):
        [read_table(batch, ["a", "b"]) for batch in batches]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("points.csv", b"", "is empty"),
        ("points.csv", b"a,b\n", "has columns but no rows"),
        ("points.csv", b'a,b\n1,"2\n', "quote that is not closed"),
        (
            "points.npz",
            as_bytes(lambda f: np.savez(f, X=np.eye(2))),
            "NPZ, which cannot",
        ),
        ("points.geojson", b'{"type": "FeatureCollection"}', "GeoJSON, which cannot"),
    ],
)
def test_what_cannot_be_cut_is_refused(name, content, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        list(Batches(str(path)))


def test_parquet_needs_a_file(monkeypatch):
    file = io.BytesIO(FORMATS["points.parquet"])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
    with pytest.raises(FileError, match=r"Parquet, which needs a file .* send CSV"):
        Batches("-")


def test_a_row_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(batches_module, "_LONGEST", 5000)
    path = tmp_path / "points.csv"
    path.write_bytes(b'a,b\n1,"' + b"x\n" * 10_000)
    with pytest.raises(FileError, match="quote that is not closed"):
        list(Batches(str(path)))


# Written batch by batch


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "npy"])
def test_batches_become_one_file(ending, tmp_path):
    path = tmp_path / f"labels.{ending}"
    labels = pl.DataFrame({"row": np.arange(500), "cluster": RNG.integers(-1, 4, size=500)})
    with batch_writer(path) as write:
        for start in range(0, 500, 150):
            write(labels[start : start + 150])
    columns = None if ending == "npy" else ["cluster"]
    assert_array_equal(read_table(open_source(str(path)), columns).points[:, 0], labels["cluster"])


def test_a_batch_without_a_value_has_the_type_of_the_others(tmp_path):
    path = tmp_path / "labels.parquet"
    with batch_writer(path) as write:
        write(pl.DataFrame({"cluster": [1, 2]}))
        write(pl.DataFrame({"cluster": [None]}))
    assert pl.read_parquet(path)["cluster"].to_list() == [1, 2, None]


def test_a_file_that_is_not_finished_is_not_there(tmp_path):
    def stop():
        with batch_writer(tmp_path / "labels.csv") as write:
            write(FRAME)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        stop()
    assert list(tmp_path.iterdir()) == []


def test_excel_cannot_be_written_in_batches(tmp_path):
    with pytest.raises(FileError, match=r"labels.xlsx cannot be written batch by batch; take one"):
        check_batch_ending(tmp_path / "labels.xlsx")


def test_arrow_tables_keep_their_types(tmp_path):
    path = tmp_path / "labels.arrow"
    with batch_writer(path) as write:
        write(pl.DataFrame({"cluster": pl.Series([1], dtype=pl.Int64)}))
    assert ipc.open_file(str(path)).schema.field("cluster").type == pa.int64()
