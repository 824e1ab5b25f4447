"""The reproduction of the paper, end to end on few seeds: runs, resume, tables, claims, figures."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

import matplotlib.image
import numpy as np
import pytest
from scipy import stats

from helpers import ROOT, assert_same_paths
from modeshift.cli import main
from modeshift.datasets import make_paper_set
from modeshift.io.errors import PlaceTaken
from modeshift.paper import calibrate as calibration
from modeshift.paper import cells, claims, perfect, reproduce, runs, store
from modeshift.paper.literal import LiteralStochasticMeanShift, patience_of
from modeshift.paper.plan import FULL, QUICK, SETS, Plan, make_tasks
from modeshift.paper.results import Results
from modeshift.paper.setting import ALGORITHMS, Setting, load_settings, save_settings
from modeshift.paper.tables import Table, markdown
from twins import naive

pytestmark = pytest.mark.jit

TINY = Plan(
    seeds=2, extra_seeds=1, th1s=(0.03,), th2s=(0.2, 0.3), per_class=(25, 50), bandwidths=(0.9,)
)


def watch(items, total, title):
    items = iter(items)
    for _ in range(total):
        yield next(items)


def reproduce_tiny(folder, **more):
    return reproduce.reproduce(folder, TINY, load_settings(), **{"watch": watch, "jobs": 1, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduction") / "out"


@pytest.fixture(scope="module")
def results(folder):
    return reproduce_tiny(folder)


# The literal stopping rule


@pytest.mark.parametrize("quiet", [1, 7, 30, 100])
def test_literal_rule_equals_the_twin(quiet):
    X, _ = make_paper_set(3, random_state=0)
    literal = LiteralStochasticMeanShift(
        bandwidth=0.9, tol=0.03, patience=patience_of(quiet, len(X)), random_state=1, record=True
    ).fit(X)
    twin = naive.stochastic_mean_shift(
        X, h=0.9, tol=0.03, patience=patience_of(quiet, len(X)), random_state=1, verify=False
    )
    assert literal.n_steps_ == twin.n_steps
    assert_same_paths(literal.paths_, twin.paths, X, 0.9)
    last = naive.stochastic_mean_shift(
        X, h=0.9, tol=0.03, patience=patience_of(quiet, len(X)), random_state=1
    )
    assert twin.n_steps <= last.n_steps


@pytest.mark.parametrize("n", [1, 3, 49, 150, 4500, 10**6])
def test_patience_is_exact_in_steps(n):
    for quiet in (1, 2, 49, 100, 1001):
        assert np.ceil(patience_of(quiet, n) * n) == quiet


# The runs


def test_every_run_is_recorded_with_its_columns(results):
    paper = results.of("paper")
    assert len(paper.records) == TINY.seeds * len(SETS) * len(ALGORITHMS)
    for record in paper.records:
        assert record["points"] == len(make_paper_set(record["set"], random_state=0)[1])
        assert record["k"] == pytest.approx(np.sqrt(record["acp"] * record["asp"]), abs=1e-5)
        assert record["g"] == pytest.approx(np.sqrt(record["pur_c"] * record["pur_d"]), abs=1e-5)
        assert record["n_clusters"] >= 1
        assert record["steps"] >= record["points"]
        assert record["converged"]
    assert {r["points"] for r in results.of("larger").records} == {5250}
    assert {r["points"] for r in results.of("size").records} == {75, 150}
    assert {r["th2"] for r in results.of("thresholds").records} == {0.2, 0.3}


def test_task_merges_like_the_estimator():
    """Several Th2 read off one fit are what as many fits give."""
    one = runs.Task("x", 3, 1, 5, "D", 0.9, 0.03, None, (0.1, 0.4))
    both = runs.run_task(one)
    for th2, record in zip((0.1, 0.4), both, strict=True):
        (alone,) = runs.run_task(one._replace(th2s=(th2,)))
        assert {**alone, "seconds": 0} == {**record, "seconds": 0}


def test_algorithms_see_the_same_points():
    """Of the same seed, so that they are compared in pairs; another seed gives other points."""
    tasks = [runs.Task("x", 3, 1, seed, "D", 50.0, 0.03, None, (0.2,)) for seed in (0, 1)]
    first, second = (runs.run_task(task)[0] for task in tasks)
    assert first["n_clusters"] == second["n_clusters"] == 1  # a bandwidth that spans everything
    X = [make_paper_set(3, random_state=seed)[0] for seed in (0, 1)]
    assert not np.allclose(*X)


def test_plans():
    settings = load_settings()
    for plan in (FULL, QUICK):
        tasks = make_tasks(plan, settings)
        assert len({task.key for task in tasks}) == len(tasks)
        assert [task.seed for task in tasks] == sorted(task.seed for task in tasks)
    assert max(FULL.per_class) == 15_000
    assert min(FULL.per_class) == 25
    assert FULL.with_seeds(4).extra_seeds == 4
    assert QUICK.with_seeds(50) == QUICK._replace(seeds=50)


# Resume, refuse, replace


def test_finished_run_is_read_back_and_not_run_again(folder, results, monkeypatch):
    monkeypatch.setattr(runs, "run_task", None)  # nothing may run
    monkeypatch.setattr(reproduce, "present", lambda *arguments: None)  # drawn already
    before = (folder / "results.json").read_text()
    again = reproduce_tiny(folder)
    assert again.records == results.records
    assert (folder / "results.json").read_text() == before
    assert store.read_results(folder / "results.json").records == results.records
    packed = folder.parent / "results.json.gz"
    packed.write_bytes(gzip.compress((folder / "results.json").read_bytes()))
    assert store.read_results(packed).records == results.records


def test_killed_run_resumes(tmp_path):
    """Kill the process in the middle, cut its last line, and run again."""
    settings = load_settings()
    tasks = make_tasks(QUICK.with_seeds(1), settings)
    command = [sys.executable, "-m", "modeshift", "paper", "--quick", "--seeds", "1"]
    command += ["--jobs", "1", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    lines = tmp_path / "out" / "results.jsonl"
    deadline = time.monotonic() + 120
    while not (lines.exists() and lines.read_text().count("\n") >= 5):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = lines.read_text().splitlines(keepends=True)[:5]
    lines.write_text("".join(kept) + '{"task": "cut off in the mid')
    parameters = json.loads((tmp_path / "out" / "run.json").read_text())
    folder = store.Folder(tmp_path / "out", parameters, force=False)
    assert len(folder.done) == 5
    assert lines.read_text() == "".join(kept)
    ran = []

    def count(items, total, title):
        assert title == "runs (resumed)"
        for item in watch(items, total, title):
            ran.append(item[0].key)
            yield item

    records = reproduce.run_missing(folder, tasks[:9], count, jobs=1)
    assert ran == [task.key for task in tasks[5:9]]
    assert len(records) == 9


def test_a_run_killed_in_its_first_write_can_be_begun_again(tmp_path):
    (tmp_path / ".run.json.4711.part").write_text('{"se')
    assert store.Folder(tmp_path, {"seeds": 1}, force=False).done == {}


def test_a_killed_write_leaves_the_old_file(tmp_path, monkeypatch):
    def killed(*arguments):
        raise KeyboardInterrupt

    settings, path = load_settings(), tmp_path / "setting.json"
    save_settings(settings, path)
    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save_settings(dict(reversed(settings.items())), path)
    assert load_settings(path) == settings


def test_another_run_is_refused_and_nothing_changes(folder, results):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(PlaceTaken, match=r"another run \(it differs in seeds\).*force=True"):
        store.Folder(folder, {**results.parameters, "seeds": 7}, force=False)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_folder_of_somebody_else_is_refused_and_force_keeps_their_files(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    (tmp_path / "figures").mkdir()
    (tmp_path / "results.jsonl").write_text("not ours")
    with pytest.raises(PlaceTaken, match="holds other files; name another folder, or pass force"):
        store.Folder(tmp_path, {"seeds": 1}, force=False)
    folder = store.Folder(tmp_path, {"seeds": 1}, force=True)
    assert folder.done == {}
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    assert not (tmp_path / "figures").exists()
    store.Folder(tmp_path, {"seeds": 1}, force=False)  # now it is ours


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "FILE"], "is a file; name a folder"),
        (["--jobs", "0"], "--jobs must not be 0"),
        (["--setting", "nowhere.json"], "--setting nowhere.json does not exist"),
        (["--setting", "FILE"], "cannot be read"),
    ],
)
def test_wrong_options_are_told_in_one_line(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("{}")
    assert main(["paper", "--quick", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_seeds_must_be_positive(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["paper", "--seeds", "0"])
    assert stop.value.code == 2
    assert "--seeds: must be at least 1, got 0" in capsys.readouterr().err


# Cells and claims


def test_inside_means_the_central_95_percent_as_printed():
    values = np.arange(100) / 100  # 0.00 to 0.99
    inside = [bool(cells.is_inside(np.array(p), values)) for p in (0.01, 0.02, 0.97, 0.98, 1.5)]
    assert inside == [False, True, True, False, False]
    assert cells.is_inside(np.array(0.92), np.array([0.9249, 0.9151]))
    assert not cells.is_inside(np.array(0.92), np.array([0.9251, 0.9349]))
    assert cells.percentile(0.5, np.array([0.4, 0.5, 0.5, 0.6])) == 50
    assert cells.percentile(0.7, np.array([0.4, 0.5])) == 100


def test_98_cells_are_compared(results):
    compared = list(cells.compare(results))
    assert len(compared) == 98
    for cell in compared:
        assert cell.low <= cell.median <= cell.high
        assert 0 <= cell.percentile <= 100


def test_paired_comparison_equals_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.1, 1, 30), rng.normal(0, 1, 30)
    pair = claims.compare_pairs(a, b)
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    np.testing.assert_allclose([pair.low, pair.high], [expected.low, expected.high])
    assert pair.won == (a > b).mean()


def made_up(k_difference):
    """Results in which S is ahead of D by so much in everything, with a little noise."""
    rng = np.random.default_rng(1)
    records = []
    base = {"bandwidth": 0.9, "quiet": None, "points": 750}
    for experiment, sets in (("paper", SETS), ("larger", (5,)), ("thresholds", (2, 4))):
        for index in sets:
            for seed in range(20):
                for algorithm in "DS":
                    value = 0.6 + (k_difference if algorithm == "S" else 0)
                    value += rng.normal(0, 0.01)
                    fields = dict.fromkeys(("k", "g", "pur_c", "ari", "n_clusters"), value)
                    where = {"experiment": experiment, "set": index, "seed": seed}
                    own = {"algorithm": algorithm, "th1": 0.03, "th2": 0.2}
                    records.append({**base, **where, **own, **fields})
    return Results(records, {"seeds": 20, "extra_seeds": 20}, {})


def test_verdicts_follow_the_numbers():
    ahead = [verdict.word for verdict in claims.judge_claims(made_up(+0.2))]
    behind = [verdict.word for verdict in claims.judge_claims(made_up(-0.2))]
    #       K, G, unchanged, collapse (nobody is below 0.5), clusters, larger
    assert ahead == ["holds", "holds", "holds", "does not hold", "holds", "holds"]
    assert behind == ["does not hold"] * 2 + ["holds"] + ["does not hold"] * 3


def test_collapse_of_all_seeds_and_thresholds_holds():
    results = made_up(0.0)
    for record in results.records:
        if record["algorithm"] == "D" and record["set"] == 4:
            record["pur_c"] = 0.33
    verdict = next(v for v in claims.judge_claims(results) if "collapses" in v.claim)
    assert verdict.word == "holds"
    assert "from Th1 0.03 on with Th2 0.2" in verdict.why


# What is written


def test_tables_show_published_and_ours(folder, results):
    text = (folder / "tables.md").read_text()
    assert text.count("percentile of published") == 14
    assert "| deterministic, published | 0.92 | 0.36 | 0.57 | 0.85 | 0.53 | 0.67 | 14 |" in text
    for index in SETS:
        assert f"## Set {index}: " in text


def test_markdown_of_an_empty_table():
    assert "None." in markdown([Table("Nothing", ("a",), [])])


def test_figures_are_written_as_png_and_svg(folder, results):
    names = {path.stem for path in (folder / "figures").glob("*.png")}
    assert names == {path.stem for path in (folder / "figures").glob("*.svg")}
    assert {"set3", "set4", "schematic", "thresholds_set2", "thresholds_set4"} <= names
    for name in names:
        picture = matplotlib.image.imread(folder / "figures" / f"{name}.png")
        assert picture.shape[1] > 600
        assert np.ptp(picture[..., :3]) > 0.5  # not blank


def test_report_needs_nothing_beside_it(folder, results):
    page = (folder / "report.html").read_text()
    assert page.count("<img") == len(list((folder / "figures").glob("*.png")))
    assert all(src.startswith("data:") for src in re.findall(r'src="([^"]*)', page))
    assert "<link" not in page
    assert "<script" not in page
    for verdict in claims.judge_claims(results):
        assert verdict.claim in page


def test_environment_names_versions_and_no_machine(results):
    environment = results.environment
    assert {"python", "numpy", "numba", "modeshift"} <= set(environment)
    assert os.uname().nodename not in json.dumps(environment)


def test_command_prints_score_and_verdicts(folder, results, capsys, monkeypatch):
    """The command with a plan that is done already."""
    monkeypatch.setattr("modeshift.paper.plan.QUICK", TINY)
    monkeypatch.setattr(reproduce, "present", lambda *arguments: None)  # drawn already
    assert main(["paper", "--quick", "--jobs", "1", "--out", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "of 98 published cells are in the central 95% of 2 seeds" in printed
    assert "fewer than 40 seeds" in printed
    assert printed.count("hold") >= 6
    assert str(folder / "report.html") in printed


@pytest.mark.slow
def test_quick_run_takes_less_than_a_minute_on_several_processes(tmp_path):
    command = [sys.executable, "-m", "modeshift", "paper", "--quick", "--out", str(tmp_path)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    print(f"quick run: {time.perf_counter() - started:.0f} s")
    assert done.returncode == 0, done.stderr
    assert "figures: " in done.stderr
    assert time.perf_counter() - started < 120  # under 60 s on a quiet machine


# Calibration


def test_calibration_on_a_tiny_grid(tmp_path, capsys, monkeypatch):
    tiny = calibration.Search((0.9,), (0.03,), (0.2, 0.3), (100,), 1, 1, 2, 3)
    monkeypatch.setattr(calibration, "QUICK_SEARCH", tiny)
    assert main(["paper", "--calibrate", "--quick", "--jobs", "1", "--out", str(tmp_path)]) == 0
    chosen, judged, *_ = capsys.readouterr().out.splitlines()
    assert "of 98 cells inside" in chosen
    assert "on seeds 0 to 1, which chose it" in chosen
    assert "on seeds 1000 to 1002, which took no part" in judged
    head, *rows = (tmp_path / "calibration.csv").read_text().splitlines()
    assert head == "bandwidth,th1,th2,quiet,cells,cells_d,cells_s,distance,first_seed,last_seed"
    seeds = [row.split(",")[-2:] for row in rows]
    assert seeds == [["0", "1"], ["1000", "1002"], ["0", "0"], ["0", "0"]]
    settings = load_settings(tmp_path / "setting.json")
    assert settings["S"].quiet == 100
    assert settings["D"] == settings["S"]._replace(quiet=None)


def test_calibration_counts_cells_like_the_report(results):
    setting = load_settings()["S"]
    values = calibration._group(results.of("paper").records)
    score = calibration._score(setting, values, range(TINY.seeds))
    compared = list(cells.compare(results))
    assert score.cells == sum(cell.inside for cell in compared)
    assert score.distance == pytest.approx(
        np.mean([abs(cell.percentile - 50) for cell in compared])
    )


def test_perfect_setting_counts_each_seed_against_the_others():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (7, 80)) / 100
    counted = perfect.inside_of_each_seed(rows)
    for seed in range(80):
        others = np.delete(rows, seed, axis=1)
        inside = [
            sum(other <= own for other in column) >= 0.025 * 79
            and sum(other >= own for other in column) >= 0.025 * 79
            for own, column in zip(rows[:, seed], others, strict=True)
        ]
        assert counted[seed] == sum(inside)
    assert counted.sum() < 7 * 80  # the ends of the spread are outside


def test_perfect_score_draws_one_seed_for_each_set(results):
    """With two seeds only equal columns are inside, the same in both directions."""
    equal = 0
    for index in SETS:
        for algorithm in ("D", "S"):
            ours = results.of("paper", set=index, algorithm=algorithm)
            rows = cells.as_printed(np.array([ours.column(field) for field in cells.FIELDS]))
            equal += int((rows[:, 0] == rows[:, 1]).sum())
    assert set(perfect.perfect_scores(results, draws=50)) == {equal}


def test_settings_survive_the_file(tmp_path):
    settings = {name: Setting(0.8, 0.01, 0.3, 7) for name in ALGORITHMS}
    save_settings(settings, tmp_path / "setting.json")
    assert load_settings(tmp_path / "setting.json") == settings


def test_committed_run_used_the_committed_setting():
    """And its score is the one that the docs tell."""
    docs = ROOT / "docs"
    with gzip.open(docs / "paper" / "results.json.gz", "rt", encoding="utf-8") as file:
        table = json.load(file)
    kept = Results(table["runs"], table["parameters"], table["environment"])
    settings = {name: setting._asdict() for name, setting in load_settings().items()}
    assert kept.parameters["settings"] == settings
    inside = sum(cell.inside for cell in cells.compare(kept))
    assert f"{inside} of 98 cells inside" in (docs / "paper.md").read_text()
    assert f"inside our spread: {inside} of 98" in (docs / "paper" / "tables.md").read_text()
    lines = (docs / "paper" / "calibration.csv").read_text().splitlines()
    best = next(csv.DictReader(lines))
    assert Setting(*(float(best[name]) for name in Setting._fields)) == load_settings()["S"]
    assert int(best["cells"]) == inside
