"""Vectors of others, in all formats, and what is wrong with files."""

import struct

import numpy as np
import pytest

from modeshift.io import limits
from modeshift.io.errors import FileError
from modeshift.speech import Segment, read_vectors

X = np.array([[1.0, 2.5, -3.0], [0.0, 1.0, 2.0], [4.0, 5.0, 6.0]])
WINDOWS = [("ä", 0.0, 1.5), ("ä", 0.75, 2.25), ("b", 3.0, 4.0)]
SEGMENTS = [Segment("ä", 0.0, 2.25), Segment("b", 3.0, 4.0)]


def binary(kind, dtype):
    parts = [
        f"u{k} ".encode() + b"\0B" + kind + struct.pack("<bi", 4, 3) + row.astype(dtype).tobytes()
        for k, row in enumerate(X)
    ]
    return b"".join(parts)


def write_all(folder):
    np.savez(folder / "a.npz", X=X, start=[w[1] for w in WINDOWS], end=[w[2] for w in WINDOWS],
             recording=[w[0] for w in WINDOWS])  # fmt: skip
    np.save(folder / "b.npy", X.astype(np.float32))
    rows = [",".join(map(str, [*w, *x])) for w, x in zip(WINDOWS, X.tolist(), strict=True)]
    head = "recording,start,end,x,y,z"
    (folder / "c.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    lines = [f"u{k}  [ {' '.join(map(str, row))} ]\n" for k, row in enumerate(X.tolist())]
    (folder / "d.ark").write_text("".join(lines))
    (folder / "e.ark").write_bytes(binary(b"FV ", "<f4"))
    (folder / "f.ark").write_bytes(binary(b"DV ", "<f8"))
    (folder / "times.csv").write_text(
        "\n".join(["recording,start,end", *(",".join(map(str, w)) for w in WINDOWS)]),
        encoding="utf-8",
    )
    kaldi = [f"u{k} {' '.join(map(str, w))}\n" for k, w in enumerate(WINDOWS)]
    (folder / "segments").write_text("".join(reversed(kaldi)), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("a.npz", None),
        ("b.npy", "times.csv"),
        ("c.csv", None),
        ("d.ark", "times.csv"),
        ("d.ark", "segments"),
        ("e.ark", "segments"),
        ("f.ark", "segments"),
    ],
)
def test_vectors_of_all_formats(tmp_path, name, times):
    write_all(tmp_path)
    found = read_vectors(tmp_path / name, None if times is None else tmp_path / times)
    assert np.array_equal(found.X, X)
    assert found.segments == SEGMENTS
    assert found.windows.segment.tolist() == [0, 0, 1]
    assert found.windows.start.tolist() == [0.0, 0.75, 3.0]


def test_files_that_cannot_be_used(tmp_path):
    write_all(tmp_path)
    np.savez(tmp_path / "noX.npz", Y=X)
    np.savez(tmp_path / "backwards.npz", X=X, start=[1, 2, 3], end=[2, 1, 4])
    np.savez(tmp_path / "nan.npz", X=X * np.nan, start=[1, 2, 3], end=[2, 3, 4])
    (tmp_path / "short.csv").write_text("recording,start,end\na,0,1\n")
    (tmp_path / "cut.ark").write_bytes(binary(b"FV ", "<f4")[:-2])
    (tmp_path / "bad.ark").write_text("u0 1 2 3\n")
    (tmp_path / "bad.csv").write_text("x,y\n1,two\n")
    for name, times, message in [
        ("b.npy", None, "does not say when its vectors are"),
        ("b.npy", "short.csv", "has 3 vectors, and .* has 1 segments"),
        ("noX.npz", None, "has no array 'X'"),
        ("backwards.npz", None, "has a window from 2 to 1"),
        ("nan.npz", None, "finite numbers"),
        ("cut.ark", "segments", "ends too early"),
        ("bad.ark", "segments", "is no archive of vectors"),
        ("bad.csv", None, "without a number"),
        ("times.txt", None, "does not end in .npz"),
    ]:
        with pytest.raises(FileError, match=message):
            read_vectors(tmp_path / name, None if times is None else tmp_path / times)


def test_an_archive_that_is_made_to_fill_memories_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE", 100_000)
    np.savez_compressed(tmp_path / "v.npz", X=np.zeros((200_000, 2)), start=[0], end=[1])
    with pytest.raises(FileError, match="made to fill memories"):
        read_vectors(tmp_path / "v.npz")
