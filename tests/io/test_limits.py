"""Files that are made to fill memories, tables that do not fit, and files that change meanwhile."""

import gzip
import io
import os
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import polars as pl
import pytest

import modeshift
from modeshift.estimators.saving import REGISTER, to_plain
from modeshift.image.files import read_frames, read_picture
from modeshift.io import limits, memory, models
from modeshift.io.batches import Batches
from modeshift.io.errors import FileChanged, FileError, TooLarge
from modeshift.io.source import open_source
from modeshift.io.table import read_table

ROWS = 200_000  # of zeros: small when packed
MODEL = modeshift.MeanShift(bandwidth=1.0).fit([[0.0, 0.0], [5.0, 5.0]])


@pytest.fixture(autouse=True)
def low_limits(monkeypatch):
    """What is refused from 1 GiB on is refused from 100 KB on here."""
    monkeypatch.setattr(limits, "FREE", 100_000)


def gzip_of_rows(path):
    path.write_bytes(gzip.compress(b"x,y\n" + b"0.0,0.0\n" * ROWS))


def gzip_of_many_parts(path):
    path.write_bytes(gzip.compress(b"x,y\n") + gzip.compress(b"0.0,0.0\n" * 10_000) * 20)


def gzip_of_geojson(path):
    point = b'{"type": "Point", "coordinates": [0, 0]}'
    feature = b'{"type": "Feature", "properties": {}, "geometry": ' + point + b"}"
    features = b",".join([feature] * 20_000)
    path.write_bytes(
        gzip.compress(b'{"type": "FeatureCollection", "features": [' + features + b"]}")
    )


def npz(path):
    np.savez_compressed(path, X=np.zeros((ROWS, 2)))


def parquet(path):
    pl.DataFrame({"x": np.zeros(ROWS), "y": np.zeros(ROWS)}).write_parquet(path)


def excel_with_distant_cells(path):
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, 1.0)
        sheet.write(1_048_575, 16_383, 1.0)  # fastexcel asked for 412 GB, and ended the process


BOMBS = {
    "rows.csv.gz": gzip_of_rows,
    "parts.csv.gz": gzip_of_many_parts,
    "points.geojson.gz": gzip_of_geojson,
    "arrays.npz": npz,
    "table.parquet": parquet,
    "book.xlsx": excel_with_distant_cells,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_with_a_large_table_is_refused(name, tmp_path):
    BOMBS[name](tmp_path / name)
    with pytest.raises(FileError, match="made to fill memories"):
        open_source(str(tmp_path / name))


def test_usual_compression_is_no_bomb(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(ROWS // 10, 2)).round(1)
    frame = pl.DataFrame({"x": numbers[:, 0], "y": numbers[:, 1]})
    buffer = io.BytesIO()
    frame.write_csv(buffer)
    (tmp_path / "points.csv.gz").write_bytes(gzip.compress(buffer.getvalue()))
    frame.write_parquet(tmp_path / "points.parquet")
    for name in ("points.csv.gz", "points.parquet"):
        np.testing.assert_array_equal(read_table(open_source(str(tmp_path / name))).points, numbers)


HEADS = {
    "more rows than there are": ("<f8", (10**12, 2)),
    "text without width": ("<U0", (10**10, 2)),
    "many columns of no row": ("<f8", (0, 10**9)),
}


@pytest.mark.parametrize("packed", [False, True], ids=["npy", "npz"])
@pytest.mark.parametrize("head", HEADS)
def test_heads_of_arrays_that_promise_too_much(head, packed, tmp_path):
    """Some took minutes and gigabytes, and one ended the process."""
    descr, shape = HEADS[head]
    buffer = io.BytesIO()
    about = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, about)
    path = tmp_path / ("x.npz" if packed else "x.npy")
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", buffer.getvalue())
    else:
        path.write_bytes(buffer.getvalue())
    with pytest.raises(FileError, match=path.name):
        read_table(open_source(str(path)))


def test_names_in_archives_lead_nowhere(tmp_path):
    """Members are read in memory, so a path out of the folder writes nothing."""
    inside = tmp_path / "inside"
    inside.mkdir()
    buffer = io.BytesIO()
    np.save(buffer, np.ones((3, 2)))
    with zipfile.ZipFile(inside / "points.npz", "w") as archive:
        archive.writestr("../../X.npy", buffer.getvalue())
        archive.writestr("/X.npy", buffer.getvalue())
    read_table(open_source(str(inside / "points.npz"), ["../../X"]), ["../../X"])
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inside", "points.npz"]


# ----------------------------------------------------------------- models


def packed_again(path, **changed):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files} | changed
    np.savez_compressed(path, **arrays)


def test_a_model_that_unpacks_to_more_than_its_size_is_refused(tmp_path):
    modeshift.save(MODEL, tmp_path / "model.npz")
    packed_again(tmp_path / "model.npz", array99=np.zeros(10**6))
    with pytest.raises(ValueError, match="unpacks to more than its size"):
        modeshift.load(tmp_path / "model.npz")


def test_members_that_share_their_bytes_count_each(tmp_path):
    """A zip may name one block many times (Fifield, WOOT 2019)."""
    path = tmp_path / "model.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(1000))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", buffer.getvalue())
        for k in range(50):
            entry = archive.infolist()[0]
            copy = zipfile.ZipInfo(f"b{k}.npy")  # the same entry under another name
            for part in ("CRC", "compress_size", "file_size", "header_offset"):
                setattr(copy, part, getattr(entry, part))
            archive.filelist.append(copy)
    with pytest.raises(ValueError, match="more than its size"):
        models.load(path, REGISTER)


def test_a_class_outside_the_register_is_refused(tmp_path):
    modeshift.save(MODEL, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    text = arrays["tree"].tobytes().replace(b'"estimator"', b'"os.system"')
    arrays["tree"] = np.frombuffer(text, dtype=np.uint8)
    np.savez(tmp_path / "model.npz", **arrays)
    with pytest.raises(ValueError, match=r"os\.system"):
        modeshift.load(tmp_path / "model.npz")


def test_a_model_with_a_pickle_runs_no_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    traps = np.array([Trap()], dtype=object)
    np.savez(tmp_path / "model.npz", tree=traps, array0=traps)
    with pytest.raises(ValueError, match="cannot be loaded"):
        modeshift.load(tmp_path / "model.npz")
    assert not (tmp_path / "trapped").exists()


def test_a_model_with_a_long_text_is_refused(tmp_path):
    """30 MB of nested lists took 1.4 GB."""
    text = b'{"format": 2, "modeshift": "x", "value": [' + b"[]," * (1 << 23) + b"[]]}"
    np.savez(tmp_path / "model.npz", tree=np.frombuffer(text, dtype=np.uint8))
    with pytest.raises(ValueError, match="its text is longer than 16 MB"):
        modeshift.load(tmp_path / "model.npz")


LIES = {
    "points of another width": ("model", "problem", "points", np.zeros((2, 3))),
    "labels beyond the clusters": ("model", "labels", np.array([0, 9])),
    "a label too few": ("model", "labels", np.array([0])),
    "weights of another type": ("model", "problem", "weights", np.ones(2, np.float32)),
    "points that are no numbers": ("model", "problem", "points", np.full((2, 2), np.nan)),
    "a huge number of clusters": ("model", "n_clusters", 10**12),
    "sums of another shape": ("stream", "tally", "digits", np.zeros((2, 1, 3), np.int64)),
    "a place beyond the table": ("stream", "tally", "tops", np.array([10**9, 0])),
    "an age that never ends": ("stream", "clock", "start", 1e300),
}


@pytest.mark.parametrize("lie", LIES)
def test_fitted_data_that_compiled_code_would_trust_are_checked(lie, tmp_path):
    """A stream whose sums had another width ended the process: it read beyond an array."""
    *way, value = LIES[lie]
    fitted = modeshift.MeanShift(bandwidth=1.0, resolution=2.0).fit([[0.0, 0.0], [5.0, 5.0]])
    saved = to_plain(fitted)
    saved.fitted[f"_{way[0]}_"] = replaced(saved.fitted[f"_{way[0]}_"], way[1:], value)
    with (tmp_path / "model.npz").open("wb") as file:
        models.save(file, saved, REGISTER)
    with pytest.raises(ValueError, match="in it cannot be"):
        modeshift.load(tmp_path / "model.npz")


def replaced(data, way, value):
    """Return named tuples with another value at the end of a way of names."""
    inner = replaced(getattr(data, way[0]), way[1:], value) if way else value
    return data._replace(**{way[0]: inner}) if way else value


# --------------------------------------------------------------- pictures


def png(path, width, height):
    """A grey PNG of zeros."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(width + 1)) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


def test_a_picture_bomb_is_one_line(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setattr(image, "MAX_IMAGE_PIXELS", 20_000)
    png(tmp_path / "large.png", 200, 150)  # between the limit and twice the limit: no word
    assert read_picture(tmp_path / "large.png").pixels.shape == (150, 200)
    png(tmp_path / "bomb.png", 300, 300)
    with pytest.raises(FileError, match="too many pixels to be read at once"):
        read_picture(tmp_path / "bomb.png")


def test_a_tiff_and_a_film_that_unpack_to_far_more_are_refused(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    image = pytest.importorskip("PIL.Image")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((3000, 3000), np.uint8), compression="zlib")
    with pytest.raises(FileError, match="made to fill memories"):
        read_picture(tmp_path / "a.tif")
    frames = [image.new("L", (2000, 2000)) for _ in range(3)]
    frames[1].putpixel((0, 0), 255)
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    with pytest.raises(FileError, match="made to fill memories"):
        read_frames([tmp_path / "a.gif"])


# ------------------------------------------------------- memory, and time


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    (tmp_path / "points.csv").write_text("x,y\n" + "1.0,2.0\n" * 1000)
    pl.DataFrame({"x": np.arange(5000.0), "y": np.arange(5000.0)}).write_parquet(
        tmp_path / "points.parquet"
    )
    monkeypatch.setattr(limits, "available", lambda: 5000.0)
    for name in ("points.csv", "points.parquet"):
        with pytest.raises(TooLarge, match=r"needs about .* KB of memory.*5 KB are free"):
            open_source(str(tmp_path / name))


def test_a_limit_of_the_address_space_is_seen():
    code = (
        "import resource; from modeshift.io.memory import available; before = available();"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30));"
        "print(before > available(), 0 <= available() < 2.5 * (1 << 30))"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "True True\n"


@pytest.mark.parametrize(
    ("line", "place", "limit", "expected"),
    [
        ("0::/", ".", "1000000", 850_000),  # a container
        ("0::/jobs/7", "jobs", "1000000", 850_000),  # the limit of all jobs: it was not seen
        ("0::/jobs/7", "jobs/7", "200000", 50_000),
        ("0::/jobs/7", "jobs/7", "100000", 0),
        ("0::/jobs/7", "jobs/7", "max", np.inf),
        ("0::/jobs/8", "jobs/7", "1000000", np.inf),
        ("4:memory:/docker/7", ".", "1000000", 850_000),  # version 1: it was not seen
        ("9:name=systemd:/", ".", "1000000", np.inf),
    ],
)
def test_limits_of_groups_are_seen_and_cached_files_do_not_count(
    tmp_path, monkeypatch, line, place, limit, expected
):
    names = {key: kind._replace(root=tmp_path / "fs") for key, kind in memory.GROUPS.items()}
    monkeypatch.setattr(memory, "GROUPS", names)
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    (tmp_path / "own").write_text(f"3:cpu:/\n{line}\n")
    group = tmp_path / "fs" / place
    group.mkdir(parents=True)
    kind = names["memory" if "memory" in line else ""]
    (group / kind.limit).write_text(limit)
    (group / kind.taken).write_text("300000")
    (group / "memory.stat").write_text(
        f"{kind.prefix}inactive_file 100000\n{kind.prefix}active_file 50000\nanon 150000\n"
    )
    assert memory.free_in_groups() == expected


def written(kind, path, n=100_000):
    X = np.arange(2.0 * n).reshape(n, 2)
    frame = pl.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    writers = {
        "csv": frame.write_csv,
        "arrow": frame.write_ipc,
        "parquet": frame.write_parquet,
        "npy": lambda to: np.save(to, X),
    }
    writers[kind](path)
    return X


@pytest.mark.parametrize("kind", ["csv", "arrow", "parquet"])
def test_a_file_that_is_cut_while_it_is_read(kind, tmp_path):
    """A memory map ended the process (SIGBUS), and a table lost its end without a word."""
    path = tmp_path / f"points.{kind}"
    written(kind, path)
    source = open_source(str(path))
    if kind == "arrow":  # read when it was opened
        assert source.frame.collect().height == 100_000
    os.truncate(path, 50_000)
    with pytest.raises(FileError, match=r"changed while it was read|cannot be read"):
        read_table(source)


@pytest.mark.parametrize("kind", ["csv", "arrow", "npy"])
def test_a_file_that_is_cut_while_it_is_read_in_batches(kind, tmp_path):
    path = tmp_path / f"points.{kind}"
    written(kind, path, 600_000)
    batches = iter(Batches(str(path)))
    next(batches)
    os.truncate(path, 50_000)
    with pytest.raises(FileError):
        list(batches)


def test_a_file_that_is_replaced_between_two_passes(tmp_path):
    path = tmp_path / "points.csv"
    written("csv", path, 50)
    batches = Batches(str(path))
    assert len(list(batches)) == 1
    written("csv", path, 60)
    with pytest.raises(FileChanged, match=r"points\.csv was changed while it was read"):
        list(batches)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(7,), (7, 1), (7, 3)])
def test_rows_of_an_array_file(shape, order, tmp_path):
    from modeshift.io.arrays import NpyRows

    X = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    np.save(tmp_path / "x.npy", X)
    rows = NpyRows(tmp_path / "x.npy")
    assert len(rows) == 7
    np.testing.assert_array_equal(rows.read(0, 7), X)
    np.testing.assert_array_equal(rows.read(2, 5), X[2:5])
