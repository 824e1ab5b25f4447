"""The whole reproduction: runs, tables, figures and the report, in one folder."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import modeshift
from modeshift.io.write import write_text
from modeshift.paper.claims import judge_claims
from modeshift.paper.figures import all_figures, save
from modeshift.paper.plan import Plan, make_tasks
from modeshift.paper.report import make_report
from modeshift.paper.results import Results, describe_environment
from modeshift.paper.runs import Record, Task, run_tasks
from modeshift.paper.setting import Setting
from modeshift.paper.store import Folder
from modeshift.paper.tables import all_tables, markdown

#: Yields items and shows the progress: (items, total, title).
Watch = Callable[[Iterable, int, str], Iterator]


def reproduce(
    out: Path,
    plan: Plan,
    settings: dict[str, Setting],
    *,
    watch: Watch,
    jobs: int = -1,
    force: bool = False,
) -> Results:
    """Run all tasks that are not done, then write everything.

    Parameters
    ----------
    out : Path
        Folder; ``store.Folder`` decides whether it is resumed, refused or replaced.
    plan : Plan
    settings : dict
        Setting of each algorithm.
    watch : callable
        Shows the progress.
    jobs : int
        Processes; -1 is all cores.
    force : bool
        Replace the results of another run.
    """
    parameters = {
        "version": modeshift.__version__,
        **plan._asdict(),
        "settings": {name: setting._asdict() for name, setting in settings.items()},
    }
    folder = Folder(out, parameters, force)
    records = run_missing(folder, make_tasks(plan, settings), watch, jobs)
    results = Results(records, parameters, describe_environment())
    folder.finish(results)
    present(results, settings, out, watch)
    return results


def run_missing(folder: Folder, tasks: list[Task], watch: Watch, jobs: int) -> list[Record]:
    """Run the tasks that are not in the folder; return the records of all tasks, in order."""
    missing = [task for task in tasks if task.key not in folder.done]
    if missing:
        title = "runs" if len(missing) == len(tasks) else "runs (resumed)"
        with folder.append_to() as file:
            for task, records in watch(run_tasks(missing, jobs), len(missing), title):
                folder.append(file, task, records)
    return [record for task in tasks for record in folder.done[task.key]]


def present(results: Results, settings: dict[str, Setting], out: Path, watch: Watch) -> None:
    """Write tables, figures and report."""
    tables = list(all_tables(results, judge_claims(results)))
    write_text(out / "tables.md", markdown(tables))
    pictures = out / "figures"
    pictures.mkdir(exist_ok=True)
    figures: list[Any] = list(all_figures(results, settings))
    for name, _, make in watch(figures, len(figures), "figures"):
        save(make(), pictures, name)
    captions = [(name, caption) for name, caption, _ in figures]
    page = make_report(results, settings, tables, captions, pictures)
    write_text(out / "report.html", page)
