"""Search for the parameters that the paper does not state.

A setting (h, Th1, Th2, quiet steps) is used for all sets and both algorithms. Its score is the
number of the 98 published cells that lie in the central 95% of the seeds (``cells.py``). All
settings of a grid are scored with few seeds, and the best settings with many. The score of the best
one is too high, because the same seeds chose it; so it is judged on seeds that took no part.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import modeshift
from modeshift.io.write import write_text
from modeshift.paper.cells import FIELDS, as_printed, is_inside
from modeshift.paper.plan import SETS
from modeshift.paper.published import PUBLISHED
from modeshift.paper.reproduce import Watch, run_missing
from modeshift.paper.runs import Record, Task
from modeshift.paper.setting import Setting, save_settings
from modeshift.paper.store import Folder


class Search(NamedTuple):
    """The grid, the number of seeds for all settings, for the best ones, and for the judgement."""

    bandwidths: tuple[float, ...]
    th1s: tuple[float, ...]
    th2s: tuple[float, ...]
    quiets: tuple[int | None, ...]
    seeds: int
    finalists: int
    final_seeds: int
    judging_seeds: int


JUDGES_FROM = 1000
"""First of the seeds that judge. The seeds that choose begin with 0."""

FULL_SEARCH = Search(
    bandwidths=(0.775, 0.8, 0.825, 0.85),
    th1s=(0.015, 0.02, 0.025),
    th2s=(0.15, 0.2, 0.25, 0.3, 0.35),
    quiets=(100, 200, None),
    seeds=20,
    finalists=4,
    final_seeds=100,
    judging_seeds=100,
)

QUICK_SEARCH = Search(
    bandwidths=(0.8,),
    th1s=(0.02, 0.05),
    th2s=(0.25, 0.3),
    quiets=(200, None),
    seeds=2,
    finalists=1,
    final_seeds=3,
    judging_seeds=3,
)


class Score(NamedTuple):
    """A setting and its score over some seeds.

    ``cells`` counts the published cells inside. ``distance`` is the mean distance of all 98 cells
    from the middle of the seeds, in percentiles from 0 to 50; it decides ties.
    """

    setting: Setting
    seeds: range
    cells_d: int
    cells_s: int
    distance: float

    @property
    def cells(self) -> int:
        """Number of cells inside, of 98."""
        return self.cells_d + self.cells_s


def calibrate(
    out: Path, search: Search, *, watch: Watch, jobs: int = -1, force: bool = False
) -> tuple[Score, Score]:
    """Search, and write ``calibration.csv`` and ``setting.json``.

    The folder is resumed, refused or replaced like the folder of a run.

    Returns
    -------
    best, judged : Score
        The best setting, over the seeds that chose it and over seeds that took no part.
    """
    parameters = {"version": modeshift.__version__, "search": search._asdict()}
    folder = Folder(out, parameters, force)
    grid = [
        Setting(h, th1, th2, quiet)
        for h, th1, th2, quiet in product(
            search.bandwidths, search.th1s, search.th2s, search.quiets
        )
    ]

    def score(settings: list[Setting], seeds: range) -> list[Score]:
        """Return the scores of settings, best first."""
        tasks = _tasks(settings, search.th2s, seeds)
        values = _group(run_missing(folder, tasks, watch, jobs))
        scores = [_score(setting, values, seeds) for setting in settings]
        return sorted(scores, key=lambda score: (-score.cells, score.distance))

    coarse = score(grid, range(search.seeds))
    final = score([one.setting for one in coarse[: search.finalists]], range(search.final_seeds))
    best = final[0]
    judges = range(JUDGES_FROM, JUDGES_FROM + search.judging_seeds)
    (judged,) = score([best.setting], judges)
    _write_table([*final, judged, *coarse], out / "calibration.csv")
    unstopped = best.setting._replace(quiet=None)
    save_settings({"D": unstopped, "S": best.setting, "B": unstopped}, out / "setting.json")
    return best, judged


def describe(best: Score, judged: Score) -> str:
    """Return the result in two lines."""
    h, th1, th2, quiet = best.setting
    stop = "every point tested" if quiet is None else f"{quiet} quiet steps"
    return (
        f"best: h {h:g}, Th1 {th1:g}, Th2 {th2:g}, {stop}: {_count(best)}, which chose it\n"
        f"on other seeds: {_count(judged)}, which took no part"
    )


def _count(score: Score) -> str:
    first, last = score.seeds[0], score.seeds[-1]
    return (
        f"{score.cells} of 98 cells inside ({score.cells_d} deterministic, {score.cells_s} "
        f"stochastic) on seeds {first} to {last}"
    )


def _tasks(settings: list[Setting], th2s: tuple[float, ...], seeds: range) -> list[Task]:
    """Return the fits for the settings: one fit serves every Th2, and D has no quiet steps."""
    fits = {("S", *setting._replace(th2=0.0)) for setting in settings}
    fits |= {("D", *setting._replace(th2=0.0, quiet=None)) for setting in settings}
    return [
        Task("calibrate", index, 1, seed, algorithm, h, th1, quiet, th2s)
        for seed in seeds
        for index in SETS
        for algorithm, h, th1, _, quiet in sorted(fits, key=str)
    ]


def _group(records: Iterable[Record]) -> dict[tuple, np.ndarray]:
    """Return the seven columns: (set, algorithm, setting) -> array of shape (7, seeds)."""
    groups = defaultdict(list)
    for record in records:
        setting = Setting(record["bandwidth"], record["th1"], record["th2"], record["quiet"])
        row = [record[field] for field in FIELDS]
        groups[record["set"], record["algorithm"], setting].append(row)
    return {key: np.array(rows).T for key, rows in groups.items()}


def _score(setting: Setting, values: dict[tuple, np.ndarray], seeds: range) -> Score:
    own = {"D": setting._replace(quiet=None), "S": setting}
    inside, distances = {"D": 0, "S": 0}, []
    for index, rows in PUBLISHED.items():
        for algorithm, row in rows.items():
            ours, published = values[index, algorithm, own[algorithm]], np.array(row)
            inside[algorithm] += int(is_inside(published, ours).sum())
            above = np.sign(as_printed(published)[:, None] - as_printed(ours)).mean(axis=1)
            distances.append(50 * np.abs(above))
    return Score(setting, seeds, inside["D"], inside["S"], float(np.mean(distances)))


def _write_table(scores: list[Score], path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("cells", "cells_d", "cells_s", "distance", "first_seed", "last_seed")
    writer.writerow([*Setting._fields, *names])
    for score in scores:
        numbers = [score.cells, score.cells_d, score.cells_s, round(score.distance, 2)]
        writer.writerow([*score.setting, *numbers, score.seeds[0], score.seeds[-1]])
    write_text(path, text.getvalue())
