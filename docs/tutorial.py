"""Run the blocks of a page; draw the pictures of the tutorial: ``python docs/tutorial.py``."""

import contextlib
import io
import os
import re
import shlex
import tempfile
from pathlib import Path
from shutil import copy

from modeshift.cli import main as command

DOCS = Path(__file__).parent
BLOCK = re.compile(
    r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE
)


def run(page: Path, folder: Path) -> list[tuple[str, str]]:
    """Run the blocks of a page in a folder; return what each should print, and what it printed.

    Blocks of Python share their names, as in a notebook. Those of the shell are lines with the
    command ``modeshift``.
    """
    names: dict[str, object] = {}
    pairs = []
    with contextlib.chdir(folder):
        for language, code, wanted in BLOCK.findall(page.read_text(encoding="utf-8")):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                if language == "python":
                    exec(code, names)
                else:
                    for line in code.splitlines():
                        command(shlex.split(line)[1:])
            pairs.append((wanted, printed.getvalue()))
    return pairs


def draw() -> None:
    """Keep the pictures that the blocks of the tutorial draw."""
    os.environ.setdefault("MPLBACKEND", "agg")
    images = DOCS / "images" / "tutorial"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run(DOCS / "tutorial.md", Path(folder))
        for picture in Path(folder).glob("*.png"):
            copy(picture, images)


if __name__ == "__main__":
    draw()
