"""The folder of a run. Results are saved one by one, and other runs are not overwritten.

``run.json`` holds the parameters, ``results.jsonl`` has a line for each finished task, and
``results.json`` is written when all are finished.
"""

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any, TextIO

from modeshift.io.errors import FileError, PlaceTaken
from modeshift.io.whole_file import is_left_over
from modeshift.io.write import write_text
from modeshift.paper.results import Results
from modeshift.paper.runs import Record, Task

OUTPUTS = (
    "run.json",
    "results.jsonl",
    "results.json",
    "tables.md",
    "report.html",
    "figures",
    "calibration.csv",
    "setting.json",
)


class Folder:
    """A folder that belongs to one run.

    Parameters
    ----------
    path : Path
        Created if it does not exist.
    parameters : dict
        Parameters of the run. A folder with the same parameters is resumed; others are refused.
    force : bool
        Delete the outputs of another run instead of refusing.
    """

    def __init__(self, path: Path, parameters: dict[str, Any], force: bool) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise FileError(f"{path} is a file", "name a folder")
        path.mkdir(parents=True, exist_ok=True)
        if not self._is_ours(parameters):
            if not force and not all(map(is_left_over, path.iterdir())):
                raise PlaceTaken(
                    self._fact(parameters),
                    "name another folder, or pass force=True to replace the results",
                )
            self._clear()
            write_text(path / "run.json", json.dumps(parameters, indent=2) + "\n")
        self.done = self._read()

    def append_to(self) -> TextIO:
        """Open the file of finished tasks for `append`."""
        return (self.path / "results.jsonl").open("a", encoding="utf-8")

    def append(self, file: TextIO, task: Task, records: list[Record]) -> None:
        """Save a finished task at once."""
        self.done[task.key] = records
        file.write(json.dumps({"task": task.key, "records": records}) + "\n")
        file.flush()

    def finish(self, results: Results) -> None:
        """Write everything as one file."""
        write_results(results, self.path / "results.json")

    def _is_ours(self, parameters: dict[str, Any]) -> bool:
        return self._recorded() == json.loads(json.dumps(parameters))

    def _recorded(self) -> Any:
        try:
            return json.loads((self.path / "run.json").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def _fact(self, parameters: dict[str, Any]) -> str:
        """Return a description of the content of the folder."""
        there = self._recorded()
        if not isinstance(there, dict):
            return f"{self.path} holds other files"
        now = json.loads(json.dumps(parameters))
        changed = sorted(name for name in {*there, *now} if there.get(name) != now.get(name))
        return f"{self.path} holds the results of another run (it differs in {', '.join(changed)})"

    def _clear(self) -> None:
        """Delete the files that a run writes, and no others."""
        for name in OUTPUTS:
            target = self.path / name
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)

    def _read(self) -> dict[str, list[Record]]:
        """Return the finished tasks; an incomplete last line is cut off."""
        path = self.path / "results.jsonl"
        if not path.exists():
            return {}
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(path, len(whole))
        lines = [json.loads(line) for line in whole.splitlines()]
        return {line["task"]: line["records"] for line in lines}


def write_results(results: Results, path: Path) -> None:
    """Write parameters, environment and every run, a line each."""
    head = {"parameters": results.parameters, "environment": results.environment}
    runs = ",\n".join(json.dumps(record) for record in results.records)
    text = json.dumps(head, indent=1)[:-2] + f',\n "runs": [\n{runs}\n]}}\n'
    write_text(path, text)


def read_results(path: Path) -> Results:
    """Read a file that `write_results` wrote, packed by gzip or not."""
    packed = path.suffix == ".gz"
    content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    table = json.loads(content)
    return Results(table["runs"], table["parameters"], table["environment"])
