"""Data that do not fit into a limit of memory: one clear line, nothing half written, no crash.

The limit is one of address space (``ulimit -v``), or of a group of processes (cgroup) as containers
and batch systems have them. In a group the kernel ends a process that takes more; then too nothing
may be half written.
"""

import os
import random
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from faults.places import assert_whole, write_points
from faults.trying import LONGEST, Fault, end_of, kind_of, modeshift, run_all
from modeshift.io.memory import GROUPS, Groups

GIGABYTE = 1 << 30
KILLED = "ended by the kernel"


def run(folder: Path, seed: int, n_rounds: int) -> list[str]:
    """Try all tables under random limits; return the failures."""
    return run_all(FAULTS, folder, seed, n_rounds)


def table_that_cannot_be_read(folder: Path, rng: random.Random) -> str:
    """An array of 8 GB, nearly all of it a hole in the file."""
    write_hole(folder / "points.npy")
    end = clustered(folder, "points.npy", address_space(rng.uniform(3.0, 6.0)))
    assert "of memory to be read" in end, end
    return "one line"


def text_that_may_fit(folder: Path, rng: random.Random) -> str:
    """A CSV file of 80 MB; some of the limits are too low."""
    write_points(folder / "points.csv", 2_000_000)
    return kind_of(clustered(folder, "points.csv", address_space(rng.uniform(1.2, 3.0))))


def fit_that_may_fit(folder: Path, rng: random.Random) -> str:
    """Points that can be read, and for which the fit may want more than there is."""
    write_points(folder / "points.npy", 4_000_000)
    return kind_of(clustered(folder, "points.npy", address_space(rng.uniform(1.2, 3.0))))


def table_beyond_a_group(folder: Path, rng: random.Random) -> str:
    """The array of 8 GB again."""
    write_hole(folder / "points.npy")
    with group(rng.uniform(1.0, 6.0)) as limit:
        end = clustered(folder, "points.npy", limit)
    assert "of memory to be read" in end, end
    return "one line"


def table_in_a_group(folder: Path, rng: random.Random) -> str:
    """A table that may fit, while the limit is nearly filled by the file in the group's cache."""
    name = rng.choice(["points.csv", "points.npy", "points.parquet", "points.csv.gz"])
    write_points(folder / name, 2_000_000)
    with group(rng.uniform(0.1, 0.9)) as limit:
        subprocess.run(["cat", name], cwd=folder, stdout=subprocess.DEVNULL, preexec_fn=limit)
        end = clustered(folder, name, limit)
        return end if end == KILLED else kind_of(end)


def clustered(folder: Path, data: str, limit: Callable[[], object]) -> str:
    """Cluster a file in a process that first sets itself a limit; return how it ended."""
    results = folder / "results"
    results.mkdir()
    command = modeshift(
        *("cluster", folder / data, "--bandwidth", "1.5", "--resolution", "2", "--quiet"),
        *("--out", results / "out.csv", "--model", results / "model.npz"),
    )
    process = subprocess.Popen(
        command, cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=limit,
    )  # fmt: skip
    end = end_in_memory(process)
    assert_whole(results)
    written = sorted(path.name for path in results.iterdir())
    assert end != "done" or len(written) == 3, f"done, but only {written} were written"
    return end


def end_in_memory(process: subprocess.Popen) -> str:
    """Return how a command ended; the kernel ends it where a group has no more memory."""
    if process.wait(LONGEST) == -signal.SIGKILL:
        return KILLED
    return end_of(process)


def write_hole(path: Path) -> None:
    """Write an array of 8 GB that takes next to nothing on the disk."""
    np.lib.format.open_memmap(path, mode="w+", shape=(250_000_000, 4))[0] = 1.0


def address_space(gigabytes: float) -> Callable[[], object]:
    """Return a function that limits the address space of the process that calls it."""
    size = int(gigabytes * GIGABYTE)
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


@contextmanager
def group(gigabytes: float) -> Iterator[Callable[[], object]]:
    """Make a group with a limit; yield a function by which a process joins it."""
    kind = next(kind for kind in GROUPS.values() if has_groups(kind))
    folder = kind.root / f"modeshift-faults-{os.getpid()}"
    folder.mkdir()
    (folder / kind.limit).write_text(str(int(gigabytes * GIGABYTE)))
    try:
        yield lambda: (folder / "cgroup.procs").write_text("0")
    finally:
        folder.rmdir()


def has_groups(kind: Groups) -> bool:
    """Return whether this user may make groups of this version with limits of memory."""
    folder = kind.root / f"modeshift-try-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        return False
    has_limits = (folder / kind.limit).exists()
    folder.rmdir()
    return has_limits


IN_GROUPS: dict[str, Fault] = {
    "table_beyond_a_group": table_beyond_a_group,
    "table_in_a_group": table_in_a_group,
}
FAULTS: dict[str, Fault] = {
    "table_that_cannot_be_read": table_that_cannot_be_read,
    "text_that_may_fit": text_that_may_fit,
    "fit_that_may_fit": fit_that_may_fit,
    **(IN_GROUPS if any(map(has_groups, GROUPS.values())) else {}),
}
