"""Clocks that jump: the wall clock of a process by days, the clock since the start of the machine.

No result may depend on a clock, and no fit may end or wait because of one.
"""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from faults.places import cluster, write_points
from faults.trying import end_of, run_all, start

N_POINTS = 20_000

JUMPING = """
import random, time

def jumping(clock, rng, unit):
    def now():
        if rng.random() < 0.05:
            now.shift += rng.uniform(-1, 1) * unit
        return int(clock() + now.shift) if unit > 1e12 else clock() + now.shift
    now.shift = 0.0
    return now

time.time = jumping(time.time, random.Random({seed}), 1e6)
time.time_ns = jumping(time.time_ns, random.Random({seed}), 1e15)
"""
"""Put into a process before anything else: its wall clock jumps by up to 11 days."""


def run(folder: Path, seed: int, n_rounds: int) -> list[str]:
    """Try all clocks; return the failures."""
    return run_all(FAULTS, folder, seed, n_rounds)


def wall_clock_that_jumps(folder: Path, rng: random.Random) -> str:
    """The time of day jumps while a fit keeps checkpoints, is killed, and goes on."""
    (folder / "jumps").mkdir()
    (folder / "jumps" / "sitecustomize.py").write_text(JUMPING.format(seed=rng.randrange(10**9)))
    environment = {"PYTHONPATH": _with_first(str(folder / "jumps"))}
    return _killed_and_resumed(folder, rng, [], environment)


def machine_that_started_anew(folder: Path, rng: random.Random) -> str:
    """The first run sees a machine that has run for years, the next one that has just started."""
    years = str(rng.randrange(10**7, 10**9))
    first = ["unshare", "--time", "--fork", "--kill-child", "--monotonic", years]
    return _killed_and_resumed(folder, rng, first, {})


def can_unshare_time() -> bool:
    """Return whether this user may give a process a clock of its own."""
    try:
        return subprocess.run(["unshare", "--time", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


FAULTS = {
    "wall_clock_that_jumps": wall_clock_that_jumps,
    **({"machine_that_started_anew": machine_that_started_anew} if can_unshare_time() else {}),
}


def _killed_and_resumed(
    folder: Path, rng: random.Random, first: list[str], environment: dict[str, str]
) -> str:
    """Compare an undisturbed run with one that is killed and goes on."""
    write_points(folder / "points.npy", N_POINTS)
    began = time.monotonic()
    assert end_of(start(cluster("plain.npy"), folder)) == "done"
    seconds = time.monotonic() - began
    process = start([*first, *cluster("out.npy")], folder, **environment)
    time.sleep(rng.uniform(0.4, 1.0) * seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    going_on = (folder / "out.checkpoint").exists()
    more = ["--force", *(["--resume"] if going_on else [])]
    assert end_of(start(cluster("out.npy", *more), folder, **environment)) == "done"
    expected, labels = np.load(folder / "plain.npy"), np.load(folder / "out.npy")
    assert np.array_equal(labels, expected), "other labels"
    return "resumed" if going_on else "begun again"


def _with_first(path: str) -> str:
    return os.pathsep.join([path, *filter(None, [os.environ.get("PYTHONPATH")])])
