"""The commands of modeshift that take long, with small inputs, and what they must give.

Each is run as its user would: after an end that was not its own, the next command says
``--resume`` if there is something to go on from.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

RECORDING = Path(__file__).parents[2] / "docs" / "recordings" / "two-voices.wav"
_TIMES = ("seconds", "read", "fit", "command", "seconds_of_fit")


class Command:
    """A command that is run in a folder of its own, again and again, until it is done."""

    name: str

    def prepare(self, inputs: Path) -> None:
        """Write the input."""

    def arguments(self, inputs: Path, folder: Path) -> list[str]:
        """Return the arguments that begin or go on."""
        raise NotImplementedError

    def result(self, folder: Path) -> Any:
        """Return what must not depend on the way to it."""
        raise NotImplementedError

    def command(self, inputs: Path, folder: Path) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "modeshift", *self.arguments(inputs, folder)]

    def start(self, inputs: Path, folder: Path) -> subprocess.Popen:
        """Start the command in its folder, as a process with a session of its own."""
        return subprocess.Popen(
            self.command(inputs, folder), cwd=folder, start_new_session=True, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip


class Cluster(Command):
    """A stochastic fit of 60,000 points that keeps a checkpoint every tenth of a second."""

    name = "cluster"
    n = 60_000

    def prepare(self, inputs: Path) -> None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.n, 2)) + 4 * rng.integers(4, size=(self.n, 2))
        np.save(inputs / "points.npy", X)

    def arguments(self, inputs: Path, folder: Path) -> list[str]:
        going_on = (folder / "out.checkpoint").exists()
        return [
            *("cluster", str(inputs / "points.npy"), "--out", str(folder / "out.csv")),
            *("--bandwidth", "0.9", "--seed", "0", "--checkpoint-every", "0.1", "--quiet"),
            *("--model", str(folder / "model.npz"), "--force"),
            *(["--resume"] if going_on else []),
        ]

    def result(self, folder: Path) -> Any:
        summary = json.loads((folder / "out.json").read_text())
        with np.load(folder / "model.npz") as model:
            arrays = {name: model[name].tobytes() for name in model.files if name != "tree"}
        return (folder / "out.csv").read_bytes(), _without(summary, _TIMES), arrays


class Paper(Command):
    """The whole reproduction of the paper, with one seed and two processes."""

    name = "paper"

    def arguments(self, inputs: Path, folder: Path) -> list[str]:
        return ["paper", "--quick", "--seeds", "1", "--jobs", "2", "--out", str(folder / "paper")]

    def result(self, folder: Path) -> Any:
        runs = json.loads((folder / "paper" / "results.json").read_text())["runs"]
        report = (folder / "paper" / "report.html").read_text()
        assert report.rstrip().endswith("</html>")
        return _without(runs, _TIMES)


class Image(Command):
    """A folder of pictures."""

    name = "image"
    n_pictures = 8

    def prepare(self, inputs: Path) -> None:
        from PIL import Image as pillow

        rng = np.random.default_rng(0)
        (inputs / "pictures").mkdir()
        for number in range(self.n_pictures):
            blocks = 60 * rng.integers(4, size=(30, 40, 3)).repeat(8, axis=0).repeat(8, axis=1)
            pixels = blocks + rng.integers(20, size=blocks.shape)
            picture = pillow.fromarray(pixels.astype(np.uint8))
            picture.save(inputs / "pictures" / f"{number}.png")

    def arguments(self, inputs: Path, folder: Path) -> list[str]:
        pictures, out = str(inputs / "pictures"), str(folder / "regions")
        return ["image", pictures, "--out", out, "--boundaries", "--resume", "--force", "--quiet"]

    def result(self, folder: Path) -> Any:
        written = sorted((folder / "regions").glob("[!.]*"))
        assert len(written) == 2 * self.n_pictures
        return {path.name: path.read_bytes() for path in written}


class Speakers(Command):
    """A recording of two voices: speech, windows, vectors, speakers."""

    name = "speakers"

    def arguments(self, inputs: Path, folder: Path) -> list[str]:
        return [
            *("speakers", str(RECORDING), "--out", str(folder), "--json", "--csv", "--quiet"),
            *("--seed", "0", "--jobs", "1", "--force", "--resume"),
        ]

    def result(self, folder: Path) -> Any:
        with (folder / "two-voices.speakers.csv").open() as file:
            turns = list(csv.reader(file))
        rttm = (folder / "two-voices.speakers.rttm").read_text()
        return turns, rttm, json.loads((folder / "two-voices.speakers.json").read_text())


COMMANDS = {command.name: command for command in (Cluster(), Paper(), Image(), Speakers())}


def _without(tree: Any, names: tuple[str, ...]) -> Any:
    """Return plain data without the entries of these names, at any depth."""
    if isinstance(tree, dict):
        return {key: _without(value, names) for key, value in tree.items() if key not in names}
    return [_without(value, names) for value in tree] if isinstance(tree, list) else tree
