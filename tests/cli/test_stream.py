"""--stream: tables larger than memory and standard input, batch by batch."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from modeshift import MeanShift
from modeshift.cli import stream as stream_module
from modeshift.io import batches as batches_module
from modeshift.watching import screen

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(center, 0.3, size=(300, 2)) for center in (0.0, 3.0, 6.0)])
X = RNG.permutation(X).round(3)
GIVEN = ("--bandwidth", "1", "--resolution", "8", "--method", "deterministic")
STREAM = ("cluster", "points.csv", "--stream", *GIVEN)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with points.csv, which is read in five batches or so."""
    monkeypatch.setattr(batches_module, "_BLOCK", 3000)
    monkeypatch.setattr(batches_module, "_ROWS", 200)
    monkeypatch.chdir(tmp_path)
    frame(X).write_csv("points.csv")
    return tmp_path


def frame(points, **columns):
    return pl.DataFrame({"x": points[:, 0], "y": points[:, 1]} | columns)


def send(monkeypatch, path="points.csv"):
    """Let a file be standard input."""
    file = io.BytesIO(Path(path).read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))


def one_fit(weights=None):
    return MeanShift(bandwidth=1.0, resolution=8).fit(X, sample_weight=weights)


def summary(path="points.labels.json"):
    return json.loads(Path(path).read_text())


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "npy"])
def test_labels_and_centres_are_those_of_one_fit(ending, run):
    name = f"points.{ending}"
    if ending == "csv.gz":
        frame(X).write_csv(name, compression="gzip")
    elif ending == "npy":
        np.save(name, X)
    else:
        {"csv": frame(X).write_csv, "parquet": frame(X).write_parquet,
         "arrow": frame(X).write_ipc}[ending](name)  # fmt: skip
    code, out, _ = run("cluster", name, "--stream", *GIVEN, "--out", "labels.csv")
    assert code == 0
    assert "900 points, 2 features" in out
    assert "kept as" in out
    labels, model = pl.read_csv("labels.csv"), one_fit()
    assert_array_equal(labels["row"], np.arange(1, 901))
    assert_array_equal(labels["cluster"], model.labels_)
    told = summary("labels.json")
    assert (told["data"]["points"], told["n_clusters"]) == (900, 3)
    for cluster, center in zip(told["clusters"], model.cluster_centers_, strict=True):
        inside = X[model.labels_ == cluster["label"]]
        assert_array_equal(list(cluster["center"].values()), center)
        assert cluster["size"] == len(inside)
        assert_allclose(list(cluster["spread"].values()), inside.std(axis=0), rtol=0.02)


def test_the_summary_without_stream_agrees(run):
    run(*STREAM, "--out", "a.csv")
    run("cluster", "points.csv", *GIVEN, "--out", "b.csv")
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    a, b = summary("a.json"), summary("b.json")
    assert a["parameters"] == b["parameters"]
    assert [c["center"] for c in a["clusters"]] == [c["center"] for c in b["clusters"]]
    assert [c["size"] for c in a["clusters"]] == [c["size"] for c in b["clusters"]]


def test_standard_input_gives_a_model_and_predict_labels(run, monkeypatch):
    send(monkeypatch)
    code, out, err = run("cluster", "-", "--stream", *GIVEN, "--model", "model.npz")
    assert code == 0
    assert "900 points" in out
    assert "predict model.npz - --stream" in err
    send(monkeypatch)
    code, out, err = run("predict", "model.npz", "-", "--stream")
    labels = pl.read_csv(io.StringIO(out))
    assert_array_equal(labels["cluster"], one_fit().labels_)
    assert_array_equal(labels["row"], np.arange(1, 901))
    assert "900 points in 3 of 3 clusters" in err


def test_labels_go_to_standard_output_of_a_pipe():
    """The whole command: out is the labels and nothing else."""
    command = [sys.executable, "-m", "modeshift", *STREAM, "--out", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    labels = pl.read_csv(io.StringIO(done.stdout))
    assert_array_equal(labels["cluster"], one_fit().labels_)


def test_append_and_dropped_rows(run):
    text = Path("points.csv").read_text().splitlines()
    text[500] = "NA,1.0"
    Path("points.csv").write_text("\n".join(text))
    code, _, err = run(*STREAM)
    assert code == 2
    assert "row 500, column 'x'" in err
    code, out, _ = run(*STREAM, "--missing", "drop", "--append", "--out", "whole.csv")
    assert code == 0
    assert "899 points" in out
    whole = pl.read_csv("whole.csv", null_values="NA")
    assert whole.columns == ["x", "y", "cluster"]
    assert whole["cluster"].null_count() == 1
    assert whole["cluster"][499] is None
    assert_array_equal(whole["y"].to_numpy()[500:], X[500:, 1])


def test_all_rows_of_a_batch_may_be_dropped(run):
    text = Path("points.csv").read_text().splitlines()
    text[300:300] = ["NA,NA"] * 2000
    Path("points.csv").write_text("\n".join(text))
    assert run(*STREAM, "--missing", "drop", "--append")[0] == 0
    assert summary()["data"]["dropped_rows"] == 2000
    clusters = pl.read_csv("points.labels.csv", null_values="NA")["cluster"]
    assert clusters.is_null().to_list() == [False] * 299 + [True] * 2000 + [False] * 601
    assert_array_equal(clusters.drop_nulls(), one_fit().labels_)
    Path("points.csv").write_text("x,y\n" + "NA,1\n" * 900)
    code, _, err = run(*STREAM, "--missing", "drop", "--columns", "x,y", "--force")
    assert code == 2
    assert "no row without a missing value; choose other --columns" in err


def test_weights_and_half_life(run):
    weights = np.linspace(1.0, 2.0, len(X)).round(3)
    frame(X, w=weights).write_csv("weighted.csv")
    assert run("cluster", "weighted.csv", "--stream", *GIVEN, "--weight", "w")[0] == 0
    told = summary("weighted.labels.json")
    assert_array_equal(
        [list(cluster["center"].values()) for cluster in told["clusters"]],
        one_fit(weights).cluster_centers_,
    )
    code, out, _ = run(*STREAM, "--half-life", "100")
    assert code == 0
    assert "half-life 100 rows" in out
    aged = MeanShift(bandwidth=1.0, resolution=8).partial_fit(X, half_life=100)
    centers = [list(cluster["center"].values()) for cluster in summary()["clusters"]]
    assert_array_equal(centers, aged.cluster_centers_)


def test_starts_from_a_file(run):
    frame(X[:2]).write_csv("starts.csv")
    assert run(*STREAM, "--seeding", "starts.csv")[0] == 0
    model = MeanShift(bandwidth=1.0, resolution=8, seeding=X[:2]).fit(X)
    assert_array_equal(pl.read_csv("points.labels.csv")["cluster"], model.labels_)


def test_predict_in_batches_is_predict(run):
    run(*STREAM, "--model", "model.npz")
    frame(X + 0.5).write_csv("new.csv")
    assert run("predict", "model.npz", "new.csv", "--out", "a.parquet")[0] == 0
    assert run("predict", "model.npz", "new.csv", "--stream", "--out", "b.parquet")[0] == 0
    assert pl.read_parquet("a.parquet").equals(pl.read_parquet("b.parquet"))


def test_progress_says_rows_and_time(run, monkeypatch):
    monkeypatch.setattr(stream_module, "_SHOWN_AFTER", 0.0)
    monkeypatch.setattr(screen, "SECONDS_BETWEEN_LINES", 0.0)
    _, _, err = run(*STREAM)
    assert "reading, 900 rows" in err
    assert "labelling, 900 rows" in err
    assert run(*STREAM, "--quiet", "--force") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--stream", "--resolution", "8"), "--stream needs --bandwidth H"),
        (("--stream", "--bandwidth", "1"), "--stream needs --resolution R"),
        ((*STREAM[2:], "--report", "page.html"), "--report needs all rows at once"),
        ((*STREAM[2:], "--standardize"), "--standardize needs all rows at once"),
        ((*STREAM[2:], "--label", "y"), "--label needs all rows at once"),
        ((*STREAM[2:-2], "--runs", "3"), "--runs 3 needs all rows at once"),
        ((*STREAM[2:], "--resume"), "--resume needs all rows at once"),
        ((*STREAM[2:], "--half-life", "0.5"), "--half-life must be at least 1 .* got 0.5"),
        ((*GIVEN, "--half-life", "9"), "--half-life .* add --stream"),
        ((*STREAM[2:], "--out", "a.xlsx"), "a.xlsx cannot be written batch by batch"),
        ((*STREAM[2:], "--out", "a.geojson"), "no columns of latitude and longitude"),
        ((*STREAM[2:], "--columns", "x,z"), "no column 'z'"),
        ((*STREAM[2:], "--append", "--out", "a.npy"), "--append writes a table"),
    ],
)
def test_refused_in_one_line(arguments, words, run):
    code, out, err = run("cluster", "points.csv", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert re.search(words, err), err


def test_standard_input_with_out_is_refused(run, monkeypatch):
    send(monkeypatch)
    code, _, err = run("cluster", "-", "--stream", *GIVEN, "--out", "labels.csv")
    assert code == 2
    assert "standard input cannot be read twice" in err


def test_stopped_labels_leave_no_file(run, folder, monkeypatch):
    monkeypatch.setattr(
        "modeshift.cli.tables.LabelWriter.frame",
        lambda *_: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    assert run(*STREAM)[0] == 130
    assert [path.name for path in folder.iterdir()] == ["points.csv"]
