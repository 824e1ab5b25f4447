"""Data that do not fit into ``ulimit -v``: one clear line, nothing half written, no crash."""

import random
import resource
import subprocess
from pathlib import Path

import numpy as np

from faults.places import assert_whole, write_points
from faults.trying import end_of, kind_of, modeshift, run_all

GIGABYTE = 1 << 30


def run(folder: Path, seed: int, n_rounds: int) -> list[str]:
    """Try all tables under random limits; return the failures."""
    return run_all(FAULTS, folder, seed, n_rounds)


def table_that_cannot_be_read(folder: Path, rng: random.Random) -> str:
    """An array of 8 GB, nearly all of it a hole in the file."""
    points = np.lib.format.open_memmap(folder / "points.npy", mode="w+", shape=(250_000_000, 4))
    points[0] = 1.0
    del points
    end = clustered(folder, "points.npy", rng.uniform(3.0, 6.0))
    assert "of memory to be read" in end, end
    return "one line"


def text_that_may_fit(folder: Path, rng: random.Random) -> str:
    """A CSV file of 80 MB; some of the limits are too low."""
    write_points(folder / "points.csv", 2_000_000)
    return kind_of(clustered(folder, "points.csv", rng.uniform(1.2, 3.0)))


def fit_that_may_fit(folder: Path, rng: random.Random) -> str:
    """Points that can be read, and for which the fit may want more than there is."""
    write_points(folder / "points.npy", 4_000_000)
    return kind_of(clustered(folder, "points.npy", rng.uniform(1.2, 3.0)))


FAULTS = {
    "table_that_cannot_be_read": table_that_cannot_be_read,
    "text_that_may_fit": text_that_may_fit,
    "fit_that_may_fit": fit_that_may_fit,
}


def clustered(folder: Path, data: str, gigabytes: float) -> str:
    """Cluster a file within a limit of the address space; return how it ended."""
    results = folder / "results"
    results.mkdir()
    command = modeshift(
        *("cluster", folder / data, "--bandwidth", "1.5", "--resolution", "2", "--quiet"),
        *("--out", results / "out.csv", "--model", results / "model.npz"),
    )
    size = int(gigabytes * GIGABYTE)
    process = subprocess.Popen(
        command, cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )  # fmt: skip
    end = end_of(process)
    assert_whole(results)
    written = sorted(path.name for path in results.iterdir())
    assert end != "done" or len(written) == 3, f"done, but only {written} were written"
    return end
