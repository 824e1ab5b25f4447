"""The subcommands, from files to files."""

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import modeshift
from helpers import ROOT
from modeshift import cli
from modeshift.cli import advice
from modeshift.cli.manual import manual
from modeshift.cli.parameters import (
    METHODS,
    OWN_DEFAULTS,
    RENAMED,
    class_name,
    parameters_of,
    read_value,
)
from modeshift.cli.wording import in_options
from modeshift.datasets import make_paper_set
from modeshift.metrics import purity_report
from modeshift.parameters import PARAMETERS, names_where
from modeshift.watching.compiling import COMPILATION
from modeshift.watching.watch import Watch

X, Y = make_paper_set(1, scale=0.2, random_state=0)
NAMES = [f"p{i}" for i in range(len(X))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with ``points.csv``: x, y, class, name."""
    frame = pl.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": Y, "name": NAMES})
    frame.write_csv(tmp_path / "points.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def succeed(answer):
    """Return what was printed. A fit that has to compile first may tell how far it is."""
    code, out, err = answer
    of_the_bar = ("sweep ", "step ", "compiling ", "choosing ", "preparing")
    told = [line for line in err.splitlines() if not line.startswith(of_the_bar)]
    assert (code, told) == (0, [])
    return out


def refuse(answer):
    """Return the one line with which the command refuses."""
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err


CLUSTER = ("cluster", "points.csv", "--label", "class", "--bandwidth", "0.9")


# cluster


@pytest.mark.parametrize("method", METHODS)
def test_cluster_does_what_the_estimator_does(method, folder, run):
    out = succeed(run(*CLUSTER, "--method", method))
    estimator = getattr(modeshift, class_name(method))(bandwidth=0.9)
    if method == "stochastic":
        estimator.set_params(random_state=0)
    estimator.fit(X)
    labels = pl.read_csv("points.labels.csv")
    assert_array_equal(labels["row"], np.arange(len(X)) + 1)
    assert_array_equal(labels["cluster"], estimator.labels_)
    summary = json.loads(Path("points.labels.json").read_text())
    assert summary["estimator"] == class_name(method)
    assert summary["data"]["features"] == ["x", "y"]
    assert summary["data"]["columns_left_out"] == ["name"]
    assert summary["n_clusters"] == len(estimator.cluster_centers_)
    assert summary["converged"] is True
    assert summary["n_steps"] == estimator.n_steps_
    assert summary["scores"]["K"] == purity_report(Y, estimator.labels_).k
    for cluster in summary["clusters"]:
        inside = X[estimator.labels_ == cluster["label"]]
        assert cluster["size"] == len(inside)
        assert_allclose(list(cluster["center"].values()),
                        estimator.cluster_centers_[cluster["label"]])  # fmt: skip
        assert_allclose(list(cluster["spread"].values()), inside.std(axis=0))
    assert "150 points, 2 features: x, y" in out
    assert "columns left out: name" in out
    assert f"{summary['n_clusters']} clusters" in out
    assert "labels.csv" in out


def test_parameters_reach_the_estimator(folder, run):
    options = "--bandwidth 0.5:1.2 --tol 0.02 --max-iter 7 --jobs 1 --seed 3 --algorithm brute"
    code, _, err = run("cluster", "points.csv", "--columns", "x,y", *options.split())
    summary = json.loads(Path("points.labels.json").read_text())
    got = summary["parameters"]
    assert got["bandwidth"] == [0.5, 1.2]
    assert [got[name] for name in ("tol", "max_iter", "n_jobs")] == [0.02, 7, 1]
    assert [got[name] for name in ("random_state", "algorithm")] == [3, "brute"]
    assert code == 0
    assert ("did not converge" in err) == (not summary["converged"])


def test_standardize_and_weights(folder, run):
    frame = pl.DataFrame({"x": 100 * X[:, 0], "y": X[:, 1] - 7, "w": np.arange(len(X)) % 3 + 1.0})
    frame.write_csv("scaled.csv")
    succeed(run("cluster", "scaled.csv", "--weight", "w", "--standardize", "--bandwidth", 0.8))
    points, weight = frame.select("x", "y").to_numpy(), frame["w"].to_numpy()
    offset = np.average(points, axis=0, weights=weight)
    scale = np.sqrt(np.average((points - offset) ** 2, axis=0, weights=weight))
    estimator = modeshift.StochasticMeanShift(bandwidth=0.8, random_state=0)
    estimator.fit((points - offset) / scale, sample_weight=weight)
    assert_array_equal(pl.read_csv("scaled.labels.csv")["cluster"], estimator.labels_)
    summary = json.loads(Path("scaled.labels.json").read_text())
    centers = [list(cluster["center"].values()) for cluster in summary["clusters"]]
    assert_allclose(centers, estimator.cluster_centers_ * scale + offset)


def test_starts_from_a_file(folder, run):
    pl.DataFrame({"y": [1.0, -1.0], "x": [1.0, -1.0]}).write_csv("starts.csv")
    options = ("--columns", "x,y", "--bandwidth", 0.9, "--method", "deterministic")
    succeed(run("cluster", "points.csv", *options, "--seeding", "starts.csv"))
    estimator = modeshift.MeanShift(bandwidth=0.9, seeding=[[1, 1], [-1, -1]]).fit(X)
    assert_array_equal(pl.read_csv("points.labels.csv")["cluster"], estimator.labels_)


def test_identity_and_formats_of_the_labels(folder, run):
    for ending in ("tsv", "parquet", "arrow", "npy", "npz"):
        out = f"labels.{ending}"
        succeed(run(*CLUSTER, "--id", "name", "--out", out, "--force"))
    expected = pl.read_parquet("labels.parquet")
    assert expected.columns == ["name", "cluster"]
    assert expected["name"].to_list() == NAMES
    for other in (pl.read_csv("labels.tsv", separator="\t"), pl.read_ipc("labels.arrow")):
        assert other.equals(expected)
    assert_array_equal(np.load("labels.npy"), expected["cluster"])
    assert_array_equal(np.load("labels.npz")["cluster"], expected["cluster"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "npz"])
def test_append_writes_the_whole_table(ending, folder, run):
    text = "x,y,name,when\n0,0,a,2020-01-01\n,1,b,\n0.1,0,é,2020-01-03\n9,9,d,\n"
    Path("holes.csv").write_text(text, encoding="utf-8")
    options = ("--missing", "drop", "--bandwidth", 1, "--out", f"out.{ending}", "--append")
    succeed(run("cluster", "holes.csv", *options))
    if ending == "npz":
        with np.load("out.npz") as out:
            assert out["name"].tolist() == ["a", "b", "é", "d"]
            assert_array_equal(out["cluster"], [0, np.nan, 0, 1])
        return
    read = {"csv": pl.read_csv, "xlsx": pl.read_excel, "parquet": pl.read_parquet}.get(ending)
    out = read(f"out.{ending}") if read else pl.read_csv("out.tsv", separator="\t")
    assert out.columns == ["x", "y", "name", "when", "cluster"]
    assert out["cluster"].to_list() == [0, None, 0, 1]
    assert out["name"].to_list() == ["a", "b", "é", "d"]


def test_a_reader_that_has_enough_is_no_error(folder):
    """As in modeshift cluster points.csv --out - | head -1."""
    Path("many.csv").write_text("x\n" + "".join(f"{i % 7}\n" for i in range(100_000)))
    words = [sys.executable, "-m", "modeshift", "cluster", "many.csv", "--bandwidth", "0.4"]
    words += ["--resolution", "4", "--out", "-"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"row,cluster\n"
        process.stdout.close()
        assert b"BrokenPipe" not in process.stderr.read()
    assert process.returncode == 0


def test_a_column_of_clusters_is_no_feature_unless_it_is_named(folder, run):
    Path("again.csv").write_text("x,cluster\n0,1\n0.1,1\n9,0\n")
    assert "1 feature: x\n" in succeed(run("cluster", "again.csv", "--bandwidth", 1))
    named = ("--columns", "x,cluster", "--force")
    assert "x, cluster\n" in succeed(run("cluster", "again.csv", "--bandwidth", 1, *named))
    Path("alone.csv").write_text("cluster\n0\n9\n")
    assert "cluster\n" in succeed(run("cluster", "alone.csv", "--bandwidth", 1))


def test_a_file_of_labels_holds_no_points(folder, run):
    pl.DataFrame({"row": [1, 2, 3], "cluster": [0, 0, 1]}).write_csv("points.labels.csv")
    err = refuse(run("cluster", "points.labels.csv"))
    assert "holds labels that modeshift wrote, and no points; name the table of the points" in err


def test_append_without_a_gap_repeats_the_file(folder, run):
    succeed(run(*CLUSTER, "--append"))
    lines = Path("points.labels.csv").read_text().splitlines()
    assert [line.rpartition(",")[0] for line in lines] == Path("points.csv").read_text().split()
    succeed(run(*CLUSTER, "--force", "--model", "model.npz"))
    labels = pl.read_csv("points.labels.csv")["cluster"]
    assert [int(line.rpartition(",")[2]) for line in lines[1:]] == labels.to_list()
    succeed(run("predict", "model.npz", "points.csv", "--append"))
    assert pl.read_csv("points.predicted.csv").columns == ["x", "y", "class", "name", "cluster"]


def test_append_is_refused_before_the_fit(folder, run):
    pl.DataFrame({"x": [1, 2], "cluster": [0, 1]}).write_csv("old.csv")
    line = refuse(run("cluster", "old.csv", "--append"))
    assert "--append adds a column 'cluster', and old.csv has one already; rename it" in line
    line = refuse(run("cluster", "points.csv", "--append", "--out", "labels.npy"))
    assert "labels.npy holds one array" in line


def test_from_excel_to_excel(folder, run):
    pl.read_csv("points.csv").write_excel("points.xlsx", worksheet="data")
    out = succeed(run("cluster", "points.xlsx", *CLUSTER[2:], "--sheet", "data", "--append"))
    assert "out: points.labels.xlsx" in out
    whole = pl.read_excel("points.labels.xlsx")
    assert whole.columns == ["x", "y", "class", "name", "cluster"]
    succeed(run(*CLUSTER, "--force"))
    assert_array_equal(whole["cluster"], pl.read_csv("points.labels.csv")["cluster"])
    assert "its sheets are data" in refuse(run("cluster", "points.xlsx", "--sheet", "x", "--force"))


def test_excel_needs_an_extra(folder, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    line = refuse(run("cluster", "points.csv", "--out", "labels.xlsx"))
    assert line.endswith("Install it: pip install 'modeshift[excel]'\n")


def test_an_archive_with_points_classes_and_text(folder, run):
    np.savez("set.npz", X=X, y=Y, name=np.array(NAMES), description=np.array("Set 1"))
    options = ("--label", "y", "--id", "name", "--bandwidth", 0.9, "--out", "set.csv")
    succeed(run("cluster", "set.npz", *options))
    succeed(run(*CLUSTER))
    labels = pl.read_csv("set.csv")
    assert labels["name"].to_list() == NAMES
    assert_array_equal(labels["cluster"], pl.read_csv("points.labels.csv")["cluster"])
    np.savez("two.npz", X_train=X, X_test=X[:9])
    line = refuse(run("cluster", "two.npz"))
    assert "X_test 9), and none is named X; name the array of the points: --columns NAME" in line
    succeed(run("cluster", "two.npz", "--columns", "X_test", "--model", "m.npz", "--bandwidth", 1))
    succeed(run("predict", "m.npz", "two.npz"))
    assert len(np.load("two.predicted.npz")["cluster"]) == 9


def test_dropped_rows_are_told(folder, run):
    Path("holes.csv").write_text("x,y\n0,0\n,1\n0.1,0\n")
    out = succeed(run("cluster", "holes.csv", "--missing", "drop", "--bandwidth", 1))
    assert "dropped for missing values: 1 row" in out
    assert Path("holes.labels.csv").read_text() == "row,cluster\n1,0\n3,0\n"


def test_runs_vote(folder, run):
    out = succeed(run(*CLUSTER, "--runs", 3, "--seed", 4, "--model", "model.npz"))
    runs = modeshift.StochasticMeanShift(bandwidth=0.9)
    expected = modeshift.Consensus(runs, n_runs=3, random_state=4).fit(X)
    assert_array_equal(pl.read_csv("points.labels.csv")["cluster"], expected.labels_)
    summary = json.loads(Path("points.labels.json").read_text())
    assert (summary["estimator"], summary["n_runs"]) == ("StochasticMeanShift", 3)
    assert f"{len(expected.cluster_centers_)} clusters" in out
    succeed(run("predict", "model.npz", "points.csv"))
    assert_array_equal(pl.read_csv("points.predicted.csv")["cluster"], expected.predict(X))


def test_from_standard_input_to_standard_output(folder):
    command = [sys.executable, "-m", "modeshift", "cluster", "-", "--columns", "x,y"]
    text = Path("points.csv").read_bytes()
    done = subprocess.run(command, input=text, capture_output=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout.startswith(b"row,cluster\n1,")
    assert done.stdout.count(b"\n") == 1 + len(X)
    assert b"150 points, 2 features" in done.stderr
    assert os.listdir() == ["points.csv"]


def test_quiet_is_silent(folder, run):
    assert run(*CLUSTER, "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluster", "none.csv"], "there is no file none.csv"),
        (["cluster", "."], "modeshift: . is a folder; name a file in it\n"),
        (["cluster", ".."], "modeshift: .. is a folder; name a file in it\n"),
        (["cluster", "points.csv", "--columns", "x,name"], "docs/missing-values.md"),
        (["cluster", "points.csv", "--columns", "x,z"], "no column 'z'; it has x, y, class, name"),
        (["cluster", "points.csv", "--columns", "x,name"], "row 1, column 'name' is 'p0'"),
        (["cluster", "points.csv", "--columns", "x,name"], "drop such rows with --missing drop"),
        (["cluster", "points.csv", "--columns", "name", "--missing", "drop"], "other --columns"),
        (["cluster", "points.csv", "--id", "x", "--weight", "x"], "in --columns, --id, --label"),
        (["cluster", "points.csv", "--bandwidth", "-1"], ": --bandwidth must be greater than 0"),
        (["cluster", "points.csv", "--bandwidth", "nan"], ": --bandwidth must be greater than 0"),
        (["cluster", "points.csv", "--bandwidth", "inf"], "only together with --neighbors k."),
        (["cluster", "points.csv", "--tol", "much"], ": --tol must be a number, got 'much'"),
        (["cluster", "points.csv", "--weight", "y"], ": --weight must be finite and not neg"),
        (["bandwidth", "points.csv", "--jobs", "0"], ": --jobs must not be 0; use 1 for"),
        (["cluster", "points.csv", "--out", "a/b.csv"], "the folder a does not exist"),
        (["cluster", "points.csv", "--out", "b.docx"], "known format"),
        (["cluster", "points.csv", "--report", "b.txt"], "--report b.txt must end in .html"),
        (["cluster", "points.csv", "--out", "points.csv", "--force"], "is the data file"),
        (["cluster", "points.csv", "--out", "a.npz", "--model", "a.npz"], "the same file a.npz"),
        (
            ["cluster", "points.csv", "--method", "blurring", "--patience", "2"],
            "--patience does not belong to --method blurring; leave it out, or take --method stoch",
        ),
        (
            ["cluster", "points.csv", "--method", "blurring", "--runs", "3"],
            "--runs 3 needs a random method",
        ),
        (["predict", "points.csv", "points.csv"], "points.csv cannot be loaded: it is no NPZ file"),
        (["predict", "none.npz", "points.csv"], "No such file"),
        (["score", "points.csv", "points.csv", "--truth", "nope"], "no column 'nope'"),
        (["bench", "--sizes", "many"], "separated by commas, got many"),
    ],
)  # fmt: skip
def test_refused(arguments, words, folder, run):
    assert words in refuse(run(*arguments))
    assert os.listdir() == ["points.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--runs", "0"], "--runs must be at least 1, got 0"),
        (["--runs", "-3"], "--runs must be at least 1, got -3"),
        (["--checkpoint-every", "-1"], "--checkpoint-every must be at least 0 and finite, got -1"),
        (
            ["--checkpoint-every", "nan"],
            "--checkpoint-every must be at least 0 and finite, got nan",
        ),
        (["--checkpoint-every", "inf", "--out", "-"], "--checkpoint-every must be at least 0"),
        (["--method", "blurring", "--runs", "3"], "--runs 3 needs a random method"),
        (["--bandwidth", "abc"], "--bandwidth must be a number, or none to choose it"),
        (["--tol", "nan"], "--tol must be at least 0 and less than 1, got nan"),
        (["--max-iter", "0"], "--max-iter must be at least 1, got 0"),
        (["--neighbors", "0.5"], "--neighbors must be none, or a whole number, got 0.5"),
    ],
)
def test_options_of_the_command_are_checked_before_the_data(options, words, folder, run):
    """The data are not there, so a command that read them first would say that."""
    err = refuse(run("cluster", "none.csv", *options))
    assert err.startswith(f"modeshift: {words}")


@pytest.mark.parametrize("seeding", [[], ["--seeding", "bins"]])
def test_runs_of_a_method_without_chance_are_refused(seeding, folder, run):
    line = refuse(run("cluster", "none.csv", "--method", "deterministic", "--runs", 3, *seeding))
    assert "all runs of --method deterministic are the same; leave --runs out" in line
    assert line.endswith("or take --method stochastic, or --seeding N\n")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("tol must be at least 0, got nan.", "--tol must be at least 0, got nan."),
        ("n_jobs must be None, or 1.", "--jobs must be none, or 1."),
        ("feature_scale[0] must be finite.", "--feature-scale[0] must be finite."),
        (
            "MeanShift did not converge within max_iter=3; ... Raise max_iter or tol.",
            "MeanShift did not converge within --max-iter 3; ... Raise --max-iter or --tol.",
        ),
        (
            "feature_scale=[1, 2.5] and metric='cosine' do not go together: features of unit "
            "vectors cannot be scaled. Take metric='euclidean' or feature_scale=None.",
            "--feature-scale 1,2.5 and --metric cosine do not go together: features of unit "
            "vectors cannot be scaled. Take --metric euclidean or --feature-scale none.",
        ),
        (
            "bandwidth=(0.5, 1) and device='cuda' ... Leave seeding at its default.",
            "--bandwidth 0.5:1 and --device cuda ... Leave --seeding at its default.",
        ),
        ("With metric='cosine' the bandwidth is", "With --metric cosine the bandwidth is"),
        ("no column 'n_jobs'", "no column 'n_jobs'"),
        ("bandwidth=1e-300 is small", "--bandwidth 1e-300 is small"),
    ],
)
def test_messages_of_the_library_name_options(message, expected):
    assert in_options(message) == expected


def test_advice_after_a_slow_fit(folder, run, monkeypatch):
    """Twenty points in each of fifty places are fifty cells; one point in each is no help."""
    assert json.loads(Path(told(run)).read_text())["advice"] is None  # a fast fit
    monkeypatch.setattr(advice, "_SLOW", 0.0)
    code, _, err = run("cluster", "places.csv", "--bandwidth", 1, "--force")
    assert err.startswith("modeshift: --resolution 8 would probably take less than a tenth of the")
    assert code == err.count("\n") - 1 == 0
    summary = json.loads(Path("places.labels.json").read_text())
    assert summary["advice"] in err
    succeed(run("cluster", "places.csv", "--bandwidth", 1, "--force", "--resolution", 8))
    succeed(run(*CLUSTER, "--force"))
    monkeypatch.setattr(advice, "_MANY_SWEEPS", 1)
    assert "--method blurring or deterministic would" in run(*CLUSTER, "--force")[2]
    succeed(run(*CLUSTER, "--force", "--method", "blurring"))


def told(run):
    places = np.repeat(np.random.default_rng(0).normal(size=(50, 2)), 20, axis=0)
    pl.DataFrame(places, schema=["x", "y"]).write_csv("places.csv")
    succeed(run("cluster", "places.csv", "--bandwidth", 1))
    return "places.labels.json"


def test_results_are_not_overwritten_unasked(folder, run):
    succeed(run(*CLUSTER))
    assert "--out points.labels.csv exists; pass --force" in refuse(run(*CLUSTER))
    succeed(run(*CLUSTER, "--force"))


FULL_DISK = """
import resource, sys
from modeshift import cli
from modeshift.io import write
whole = write.write_whole
def on_a_full_disk(path, fill):
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    whole(path, fill)
write.write_whole = on_a_full_disk
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.jit
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_disk_full_while_writing(ending, folder):
    command = [sys.executable, "-c", FULL_DISK, *CLUSTER, "--quiet", "--out", f"out.{ending}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert f"out.{ending} could not be written" in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir() == ["points.csv"]


# Long fits

STOPPED = """
import sys
from modeshift import cli
from modeshift.watching.watch import Watch
beat, left = Watch.beat, [3]
def stop_or_go_on(watch):
    left[0] -= 1
    if left[0] == 0:
        raise KeyboardInterrupt
    beat(watch)
Watch.beat = stop_or_go_on
sys.exit(cli.main(sys.argv[1:]))
"""


def test_a_fit_that_was_stopped_is_resumed(folder, run):
    succeed(run(*CLUSTER, "--out", "whole.csv", "--method", "deterministic"))
    arguments = [*CLUSTER, "--method", "deterministic", "--model", "model.npz"]
    command = [sys.executable, "-c", STOPPED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130
    assert done.stderr == (
        "modeshift: stopped; points.labels.checkpoint holds the state of the fit. "
        "Add --resume to continue\n"
    )
    assert not Path("points.labels.csv").exists()
    assert "continue it with --resume, or start again with --force" in refuse(run(*arguments))
    changed = [argument.replace("0.9", "0.8") for argument in arguments]
    assert "other parameters" in refuse(run(*changed, "--resume"))
    succeed(run(*arguments, "--resume"))
    assert Path("points.labels.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert not Path("points.labels.checkpoint").exists()
    assert "there is no file points.labels.ch" in refuse(run(*arguments, "--force", "--resume"))


def test_force_starts_anew(folder, run):
    Path("points.labels.checkpoint").write_text("old")
    succeed(run(*CLUSTER, "--force"))
    assert not Path("points.labels.checkpoint").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--runs", "3"],
        ["--method", "deterministic", "--seeding", "20", "--seed", "none"],
    ],
)
def test_without_a_checkpoint_where_none_is_possible(options, folder, run):
    succeed(run(*CLUSTER, *options))
    for wish in (["--resume"], ["--checkpoint-every", "5"]):
        line = refuse(run(*CLUSTER, *options, "--force", *wish))
        assert line.startswith(f"modeshift: {wish[0]} cannot be used here: ")
        assert "do not go together: a " in line or "--runs 3 makes several fits" in line
        assert line.endswith(f"; leave {wish[0]} out\n")


@pytest.mark.parametrize("wish", [["--resume"], ["--checkpoint-every", "5"]])
def test_a_checkpoint_lies_beside_the_labels(wish, folder, run):
    assert f"{wish[0]} needs --out FILE" in refuse(run(*CLUSTER, "--out", "-", *wish))


def test_options_that_clash_are_refused_before_the_data_are_read(folder, run):
    options = ["--method", "blurring", "--feature-weights", "learned", "--metric", "cosine"]
    assert "do not go together" in refuse(run("cluster", "none.csv", *options))


@pytest.fixture
def gpu():
    """Triton's interpreter, or a GPU."""
    for name in ("torch", "triton"):
        pytest.importorskip(name)
    import on_gpu  # noqa: F401 - skips where there is neither


def device_of(out):
    """The device in the summary, which the printed table must name too."""
    device = json.loads(Path("points.labels.json").read_text())["device"]
    assert f" s on {device}\n" in out
    return device


BLUR = (*CLUSTER, "--method", "blurring", "--force")


@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_the_gpu_computes(device, gpu, folder, run):
    assert device_of(succeed(run(*BLUR))) == "cpu"
    labels = Path("points.labels.csv").read_text()
    assert device_of(succeed(run(*BLUR, "--device", device))) == "cuda"
    assert Path("points.labels.csv").read_text() == labels
    assert not Path("points.labels.checkpoint").exists()


def test_a_fit_on_a_gpu_goes_on_from_its_checkpoint(gpu, folder, run, monkeypatch):
    expected = succeed(run(*BLUR, "--device", "cuda"))
    labels = Path("points.labels.csv").read_text()
    beat = Watch.beat

    def stop(watch):
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "beat", stop)
    run(*BLUR, "--device", "auto")
    assert Path("points.labels.checkpoint").exists()
    monkeypatch.setattr(Watch, "beat", beat)
    assert device_of(succeed(run(*BLUR, "--device", "auto", "--resume"))) == "cuda"
    assert device_of(expected) == "cuda"
    assert Path("points.labels.csv").read_text() == labels


def test_auto_takes_the_cpu_for_options_that_no_gpu_has(gpu, folder, run):
    out = succeed(run(*BLUR, "--device", "auto", "--feature-weights", "learned"))
    assert device_of(out) == "cpu"


def test_a_model_from_a_gpu_predicts_without_one(gpu, folder, run, monkeypatch):
    succeed(run(*BLUR, "--device", "cuda", "--model", "model.npz"))
    on_gpu = succeed(run("predict", "model.npz", "points.csv"))
    monkeypatch.setattr("modeshift.engines.choose.find_spec", lambda name: None)
    assert succeed(run("predict", "model.npz", "points.csv", "--force")) == on_gpu


def test_without_a_gpu_auto_is_the_cpu(folder, run, monkeypatch):
    monkeypatch.setattr("modeshift.engines.choose.find_spec", lambda name: None)
    assert device_of(succeed(run(*BLUR, "--device", "auto"))) == "cpu"


# Options and parameters


@pytest.mark.parametrize("method", METHODS)
def test_options_are_the_parameters_of_the_estimator(method):
    """Read off the source, they equal what the class itself says."""
    signature = inspect.signature(getattr(modeshift, class_name(method)))
    parameters = parameters_of(method)
    assert set(signature.parameters) - set(parameters) == names_where(in_command=False)
    assert {*RENAMED, *OWN_DEFAULTS} <= set(PARAMETERS)
    for name, parameter in parameters.items():
        assert parameter.default == signature.parameters[name].default
        assert parameter.type
        assert parameter.help


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("3", 3), ("-1", -1), ("0.5", 0.5), ("1e-3", 1e-3), ("inf", np.inf)],
        *[("auto", None), ("None", None), ("0.5:1", (0.5, 1)), ("bins", "bins"), ("1,2", [1, 2])],
    ],
)
def test_values_of_options(text, value):
    assert read_value(text) == value
    assert type(read_value(text)) is type(value)


def test_every_option_of_every_command_tells_its_default():
    (subparsers,) = [a for a in cli.make_parser()._actions if a.nargs == "A..."]
    for parser in subparsers.choices.values():
        for action in parser._actions:
            assert action.help
            if action.option_strings and action.dest != "help":
                assert "default: " in action.help, (parser.prog, action.option_strings)


def helps_of_cluster():
    (subparsers,) = [a for a in cli.make_parser()._actions if a.nargs == "A..."]
    return {
        option: action.help.replace("%%", "%")
        for option, action in subparsers.choices["cluster"]._option_string_actions.items()
    }


@pytest.mark.parametrize("method", METHODS)
def test_help_has_every_sentence_of_every_method(method):
    helps = helps_of_cluster()
    for parameter in parameters_of(method).values():
        for sentence in parameter.help.replace("None", "none").split(". "):
            assert sentence in helps[parameter.option]


def test_help_names_the_methods_where_they_differ():
    helps = helps_of_cluster()
    assert helps["--max-iter"] == (
        "stochastic: Largest number of sweeps. A sweep is n steps. "
        "deterministic: Largest number of steps of a climb. "
        "blurring: Largest number of sweeps. (default: 300)"
    )
    assert helps["--merge-radius"].startswith("Final positions at most")  # all say the same
    assert "all cores. The result does not depend on it. stochastic: Only the" in helps["--jobs"]


def test_help_names_the_parameter_behind_another_name():
    helps = helps_of_cluster()
    for name, option in RENAMED.items():
        assert f"In the library: {name}." in helps[f"--{option}"]
    assert "sample_weight" in helps["--weight"]


def test_help_begins_with_examples_and_the_ten_options_most_people_need(capsys):
    with pytest.raises(SystemExit):
        cli.main(["cluster", "--help"])
    usage, _, examples, _, options, data, *_ = capsys.readouterr().out.split("\n\n")
    assert usage == "usage: modeshift cluster DATA [options]"
    assert examples.count("\n  modeshift cluster ") == 3
    assert re.findall(r"^  (--[a-z-]+)", options, re.M) == [
        *("--columns", "--standardize", "--bandwidth", "--n-clusters", "--resolution", "--method"),
        *("--out", "--append", "--report", "--model", "--debug"),
    ]
    assert data.startswith("the data:")


def test_the_manual_is_up_to_date():
    assert (ROOT / "docs" / "command.md").read_text() == manual(), "run make manual"


# predict and models


def test_predict_gives_the_labels_of_the_fitted_model(folder, run):
    succeed(run(*CLUSTER, "--method", "deterministic", "--standardize", "--model", "model.npz"))
    new = pl.read_csv("points.csv").select("name", "y", "x")  # another order of columns
    new.write_parquet("new.parquet")
    out = succeed(run("predict", "model.npz", "new.parquet", "--id", "name"))
    assert "150 points in " in out
    predicted = pl.read_parquet("new.predicted.parquet")
    assert predicted["name"].to_list() == NAMES
    assert_array_equal(predicted["cluster"], pl.read_csv("points.labels.csv")["cluster"])


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "by a development version of modeshift (0.1.0.dev0)"), (9, "its format is 9")],
)
def test_other_formats_are_refused_in_one_line(number, words, folder, run):
    text = json.dumps({"format": number, "modeshift": "0.1.0.dev0", "value": None}).encode()
    np.savez("model.npz", tree=np.frombuffer(text, dtype=np.uint8))
    assert words in refuse(run("predict", "model.npz", "points.csv"))


def test_predict_refuses_other_content(folder, run):
    modeshift.save(modeshift.MeanShift(bandwidth=0.9).fit(X[:6]), "model.npz")  # alone
    words = "MODEL model.npz cannot be loaded: it was not written by modeshift cluster --model"
    assert words in refuse(run("predict", "model.npz", "points.csv"))


# score


def test_score(folder, run):
    labels = (Y + (np.arange(len(Y)) % 10 == 0)) % 3
    pl.DataFrame({"name": NAMES[::-1], "cluster": labels[::-1]}).write_parquet("found.parquet")
    options = ("--truth", "class", "--id", "name", "--json")
    scores = json.loads(succeed(run("score", "points.csv", "found.parquet", *options)))
    report = purity_report(Y, labels)
    assert list(scores.values())[:7] == pytest.approx(list(report))
    assert scores["clusters"] == 3
    assert 0.5 < scores["ARI"] < 1
    assert 0.5 < scores["NMI"] < 1
    table = succeed(run("score", "points.csv", "points.csv", "--predicted", "class"))
    assert [line.split()[0] for line in table.splitlines()[:4]] == ["ACP", "ASP", "K", "Pur_C"]
    assert "ACP        1.0000  average cluster purity" in table
    assert table.count("1.0000") == 9


def test_noise_is_no_cluster_in_any_score(folder, run):
    pl.DataFrame({"cluster": np.full(len(Y), -1)}).write_csv("noise.csv")
    scores = json.loads(succeed(run("score", "points.csv", "noise.csv", "--json")))
    assert scores["clusters"] == len(Y)
    assert scores["ARI"] == 0


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        ({"label": [0, 1]}, [], "has 150 rows and PREDICTED other.csv has 2"),
        ({"a": [0, 1], "b": [1, 2]}, [], "several columns (a, b); choose one with --pr"),
        ({"label": [0], "name": ["q"]}, ["--id", "name"], "no class for name = 'q' (1 such"),
        ({"label": [0, 1], "name": ["p", "p"]}, ["--id", "name"], "has 'p' twice"),
        ({"label": [0, None, 0] * 50}, [], "no label in row 2"),
        ({"y": [0.5, 1, 2] * 50}, [], "column 'y' of other.csv holds 0.5, a measurement and no cl"),
    ],
)
def test_labels_that_do_not_fit(frame, options, words, folder, run):
    pl.DataFrame(frame).write_csv("other.csv")
    assert words in refuse(run("score", "points.csv", "other.csv", *options))


# info, bench, warmup, completion


def test_info(run):
    facts = json.loads(succeed(run("info", "--json")))
    assert facts["modeshift"] == modeshift.__version__
    assert facts["numpy"] == np.__version__
    assert facts["cores"] == os.cpu_count()
    assert "GPU" in facts
    assert "modeshift" in succeed(run("info"))


def test_bench(run):
    code, out, _ = run("bench", "--sizes", "9,30", "--repeat", "1")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["points", "9", "30"]
    code, out, _ = run("bench", "--sizes", "9", "--repeat", "1", "--json")
    assert set(json.loads(out)["seconds"]) == set(METHODS)


@pytest.mark.jit
def test_warmup_compiles_once_and_says_what(run):
    code, out, _ = run("warmup", "--features", "2")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[1:3]] == [
        ["2", "flat"],
        ["2", "gaussian"],
    ]
    code, out, _ = run("warmup", "--features", "2")
    assert out.splitlines()[-1] == "nothing to compile"
    for features in ("0", "two", ""):
        assert "--features must be" in refuse(run("warmup", "--features", features))


@pytest.mark.slow
@pytest.mark.jit
def test_a_fit_after_warmup_compiles_nothing(run):
    run("warmup", "--features", "3")
    before = COMPILATION.n_kernels
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3)) + 9 * rng.integers(2, size=(300, 1))
    modeshift.StochasticMeanShift(random_state=0).fit(points).predict(points)
    assert COMPILATION.n_kernels == before


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_completion_knows_the_options(shell, run):
    script = succeed(run("completion", shell))
    assert "merge-radius" in script
    assert "standardize" in script


def test_completion_for_fish_is_one_line_for_each_word(run):
    first, *lines = succeed(run("completion", "fish")).splitlines()
    assert first == "complete -c modeshift -f"
    assert (
        "complete -c modeshift -n __fish_use_subcommand -a cluster -d 'find the clust" in lines[0]
    )
    of_cluster = [line for line in lines if "__fish_seen_subcommand_from cluster'" in line]
    (method,) = [line for line in of_cluster if " -l method " in line]
    assert " -r -a 'stochastic deterministic blurring' -d '" in method
    (out,) = [line for line in of_cluster if " -l out " in line]
    assert " -r -F -d 'file of the labels" in out
    (patience,) = [line for line in of_cluster if " -l patience " in line]
    assert "-d 'After patience * n quiet steps" in patience
    for line in lines:  # quotes are closed
        assert len(shlex.split(line.replace("\\'", ""))) >= 7


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_completion_works_in_fish(run, tmp_path):
    (tmp_path / "script").write_text(succeed(run("completion", "fish")))
    test = f"source {tmp_path / 'script'}; complete -C 'modeshift cluster --meth'"
    done = subprocess.run(["fish", "-c", test], capture_output=True, text=True, timeout=60)
    assert "--method" in done.stdout


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_completion_works_in_bash(run, tmp_path):
    (tmp_path / "script").write_text(succeed(run("completion", "bash")))
    line = "modeshift cluster --meth"
    test = f"""
source {tmp_path / "script"}
COMP_WORDS=({line}) COMP_CWORD=2 COMP_LINE="{line}" COMP_POINT={len(line)}
_shtab_modeshift
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", test], capture_output=True, text=True, timeout=60)
    assert "--method" in done.stdout


def test_bandwidth_shows_the_choice_and_draws_it(folder, run):
    apart = X + 10.0 * Y[:, np.newaxis]
    pl.DataFrame(apart, schema=["x", "y"]).write_csv("apart.csv")
    out = succeed(run("bandwidth", "apart.csv", "--picture", "profile.svg"))
    profile = modeshift.bandwidth_profile(
        apart, modeshift.StochasticMeanShift(random_state=0, n_jobs=-1)
    )
    assert f"--bandwidth {profile.bandwidth:.6g}" in out
    marked = [line for line in out.splitlines() if line.startswith("->  ")]
    assert float(marked[0].split()[1]) == pytest.approx(profile.bandwidth, rel=1e-3)
    assert "<svg" in (folder / "profile.svg").read_text()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--bandwidth", 1], "modeshift bandwidth finds the bandwidth"),
        (["--picture", "profile.txt"], "must end in .png, .svg or .pdf"),
        (["--picture", "points.csv"], "must end in"),
    ],
)
def test_bandwidth_refuses(options, complaint, folder, run):
    code, _, err = run("bandwidth", "points.csv", *options)
    assert code == 2
    assert complaint in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bandwith", "3"], "there is no option --bandwith; the nearest is --bandwidth"),
        (["--bandwith=3"], "there is no option --bandwith; the nearest is --bandwidth"),
        (["--merge_radius", "1"], "there is no option --merge_radius; the nearest is --merge-radi"),
        (["--random-state", "1"], "there is no option --random-state; the nearest is --seed"),
        (["--n-jobs", "1"], "there is no option --n-jobs; the nearest is --jobs"),
        (["--zzz"], "there is no option --zzz; see modeshift cluster --help"),
        (["more.csv"], "unknown argument 'more.csv'; see modeshift cluster --help"),
    ],
)
def test_unknown_options(arguments, words, folder, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["cluster", "points.csv", *arguments])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith(f"modeshift cluster: {words}")


def test_errors_of_usage_are_one_line(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["cluster"])
    assert stop.value.code == 2
    message = "the following arguments are required: DATA; see modeshift cluster --help"
    assert capsys.readouterr().err == f"modeshift cluster: {message}\n"
