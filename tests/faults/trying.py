"""What all faults of files share: run the command once, and judge how it ended."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

LONGEST = 600.0
"""Seconds after which a command counts as hanging."""

Fault = Callable[[Path, random.Random], str]
"""Tries something in an empty folder and returns how it ended; an AssertionError is a failure."""


def run_all(faults: dict[str, Fault], folder: Path, seed: int, n_rounds: int) -> list[str]:
    """Try each fault in each round; print how they ended and return the failures."""
    failures = []
    for name, fault in faults.items():
        ends: dict[str, int] = {}
        for number in range(n_rounds):
            place = folder / f"{name} {number}"
            place.mkdir()
            try:
                end = fault(place, random.Random(f"{name} {seed} {number}"))
            except AssertionError as error:
                end = "FAILED"
                failures.append(f"{name}, seed {seed}, try {number}: {error}")
                print("  " + failures[-1], flush=True)
            ends[end] = ends.get(end, 0) + 1
        told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
        print(f"{name.replace('_', ' ')}: {told} (seed {seed})", flush=True)
    return failures


def modeshift(*arguments: object) -> list[str]:
    """Return the command line of ``modeshift`` with arguments."""
    return [sys.executable, "-m", "modeshift", *map(str, arguments)]


def start(command: list[str], folder: Path, **environment: str) -> subprocess.Popen:
    """Start a command in a folder."""
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def end_of(process: subprocess.Popen) -> str:
    """Wait for a command. Return "done" or its one line; anything else is a failure."""
    _, told = process.communicate(timeout=LONGEST)
    lines = told.strip().splitlines()
    assert process.returncode in (0, 1, 2), f"ended with {process.returncode}: {told}"
    if process.returncode == 0:
        return "done"
    assert len(lines) == 1, f"not one line: {told}"
    assert lines[0].startswith("modeshift: "), told
    return lines[0]


def kind_of(end: str) -> str:
    """Return how a command ended, without names and numbers."""
    return end if end == "done" else "one line"


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
