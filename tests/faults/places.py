"""Places that fail: a full disk, a read-only folder, files and folders that change or go away."""

import random
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from faults.trying import end_of, files_in, kind_of, modeshift, run_all, start

N_POINTS = 20_000
OUTPUTS = ("out.csv", "out.parquet", "out.npy", "out.arrow")


def run(folder: Path, seed: int, n_rounds: int) -> list[str]:
    """Try all faults of places; return the failures."""
    return run_all(FAULTS, folder, seed, n_rounds)


def can_mount() -> bool:
    """Return whether this user may mount a disk in memory."""
    try:
        done = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


@contextmanager
def small_disk(folder: Path, size: int):
    """A disk of a number of bytes in the folder ``disk``."""
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def full_disk(folder: Path, rng: random.Random) -> str:
    """Labels, summary, model and page on a disk that holds some of them, or none."""
    write_points(folder / "points.npy", 3000)
    out = rng.choice(OUTPUTS)
    with small_disk(folder, 4096 * rng.randint(1, 250)) as disk:
        end = end_of(start(cluster(disk / out, "--bandwidth", "0.5", page=True), folder))
        if end != "done":
            assert "could not be written" in end or "No space" in end, end
        assert_whole(disk)
    return kind_of(end)


def read_only_folder(folder: Path, rng: random.Random) -> str:
    """A disk that becomes read-only at a random moment, as after an error of the disk."""
    write_points(folder / "points.npy", N_POINTS)
    with small_disk(folder, 50_000_000) as disk:
        process = start(cluster(disk / "out.csv"), folder)
        time.sleep(rng.uniform(0.0, 8.0))
        remount = ["mount", "-o", "remount,ro", str(disk)]
        while process.poll() is None and subprocess.run(remount, capture_output=True).returncode:
            time.sleep(0.01)  # a file is being written at this moment
        end = end_of(process)
        assert_whole(disk)
    return kind_of(end)


def removed_checkpoint(folder: Path, rng: random.Random) -> str:
    """The file of the checkpoint is deleted, again and again: nobody needs it but --resume."""
    write_points(folder / "points.npy", N_POINTS)
    process = start(cluster("out.csv"), folder)
    n_removed = 0
    while process.poll() is None:
        time.sleep(rng.uniform(0.0, 0.3))
        checkpoint = folder / "out.checkpoint"
        n_removed += checkpoint.exists()
        checkpoint.unlink(missing_ok=True)
    assert end_of(process) == "done"
    again = end_of(start(cluster("out.csv", "--resume", "--force"), folder))
    assert "there is no file" in again, again
    return "done, checkpoint removed" if n_removed else "done before a checkpoint"


def removed_folder(folder: Path, rng: random.Random) -> str:
    """The folder of the results goes away at a random moment."""
    write_points(folder / "points.npy", N_POINTS)
    (folder / "results").mkdir()
    process = start(cluster("results/out.csv"), folder)
    time.sleep(rng.uniform(0.0, 8.0))
    shutil.rmtree(folder / "results", ignore_errors=True)
    return kind_of(end_of(process))


def changing_file(folder: Path, rng: random.Random) -> str:
    """The data are cut, grow, or are replaced while they are read: old, new, or one line."""
    ending = rng.choice(["csv", "parquet", "npy", "arrow", "csv.gz"])
    source, other = folder / f"points.{ending}", folder / f"other.{ending}"
    write_points(source, 200_000, seed=0)
    write_points(other, 150_000, seed=1)
    process = start(cluster("out.npy", "--resolution", "1", data=source.name), folder)
    time.sleep(rng.uniform(0.0, 3.0))
    how = rng.choice(["cut", "grown", "replaced", "rewritten"])
    if how == "cut":
        with source.open("r+b") as file:
            file.truncate(rng.randrange(source.stat().st_size))
    elif how == "grown":
        with source.open("ab") as file:
            file.write(b"1.0,2.0\n" * 1000)
    elif how == "replaced":
        other.replace(source)
    else:
        source.write_bytes(other.read_bytes())
    end = end_of(process)
    if end == "done":
        n_labels = len(np.load(folder / "out.npy"))
        assert n_labels in (200_000, 150_000), f"{how} {ending}: {n_labels} labels"
        return "done"
    assert not (folder / "out.npy").exists()
    return "refused"


ON_DISKS = {"full_disk": full_disk, "read_only_folder": read_only_folder}
FAULTS = {
    **(ON_DISKS if can_mount() else {}),
    "removed_checkpoint": removed_checkpoint,
    "removed_folder": removed_folder,
    "changing_file": changing_file,
}


def cluster(out: object, *more: str, data: str = "points.npy", page: bool = False) -> list[str]:
    """Return a command that writes labels, a summary, a model, and a page if wished."""
    out = Path(str(out))
    pages = ["--report", str(out.with_suffix(".html"))] if page else []
    chosen = ["--bandwidth", "0.9"] if "--bandwidth" not in more else []
    return modeshift(
        *("cluster", data, "--out", out, "--model", out.with_suffix(".model.npz"), *pages),
        *("--checkpoint-every", "0.2", "--seed", "0", "--quiet", *chosen, *more),
    )


def write_points(path: Path, n: int, seed: int = 0) -> None:
    """Write four blobs in the plane, in the format of the file name."""
    import gzip

    import polars as pl

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 8 * rng.integers(2, size=(n, 2))
    if path.suffix == ".npy":
        np.save(path, X)
        return
    frame = pl.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode(), 1))
        return
    writers = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".arrow": frame.write_ipc}
    writers[path.suffix](path)


def assert_whole(folder: Path) -> None:
    """All files in a folder can be read: none is half of one."""
    import json

    import polars as pl

    readers = {
        ".csv": lambda path: pl.read_csv(path)["cluster"][-1],
        ".parquet": pl.read_parquet,
        ".arrow": pl.read_ipc,
        ".npy": np.load,
        **dict.fromkeys((".npz", ".checkpoint"), lambda path: dict(np.load(path))),
        ".json": lambda path: json.loads(path.read_text()),
        ".html": lambda path: path.read_text().rstrip().index("</html>"),
    }
    for name in files_in(folder):
        assert Path(name).suffix in readers, f"{name} was left over"
        try:
            readers[Path(name).suffix](folder / name)
        except Exception as error:
            raise AssertionError(f"{name} is damaged: {error}") from error
