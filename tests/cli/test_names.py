"""Names of files, columns and recordings that are made to do harm: on screens, pages, in files."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from modeshift import cli
from modeshift.cli.screen import shown

ESCAPE = "a\x1b[2J\x9b31m\u202eb"  # clears the screen, colours it, and turns the direction
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
RNG = np.random.default_rng(0)
POINTS = np.r_[RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2)) + 9]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, *names, **columns):
    frame = pl.DataFrame({name: POINTS[:, k] for k, name in enumerate(names)} | columns)
    Path(path).write_text(frame.write_csv())


def test_characters_that_a_terminal_obeys_are_shown_as_escapes():
    assert shown(ESCAPE) == r"a\x1b[2J\x9b31m\u202eb"
    assert shown("é ± 日本\n") == "é ± 日本\n"
    assert shown(os.fsdecode(b"\xff")) == r"\udcff"


@pytest.mark.parametrize("bandwidth", ["1.5", "nonsense", "0"])
def test_nothing_for_the_terminal_comes_from_names(bandwidth, folder, run):
    write(f"{ESCAPE}.csv", ESCAPE, "y")
    _, out, err = run("cluster", f"{ESCAPE}.csv", "--bandwidth", bandwidth)
    _, out_2, err_2 = run("cluster", f"{ESCAPE}.csv", "--columns", f"{ESCAPE},z")
    for text in (out, err, out_2, err_2):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_file_whose_name_is_no_text(folder):
    """Its name could not be printed, and the command failed after the fit."""
    name = os.fsdecode(b"points\xff.npy")
    np.save(name, POINTS)
    command = [sys.executable, "-m", "modeshift", "cluster", name, "--bandwidth", "2"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0, done.stderr
    assert rb"out: points\udcff.labels.npy" in done.stdout


# ----------------------------------------------------------------- pages

HTML = """<img src=x onerror="alert(1)"></script><script>alert(2)</script>'\"&lt;"""
"""Text that runs code where it is taken for HTML. A name of a file holds no slash."""


@pytest.fixture
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium to look at the page with")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, path):
    """Open a page; an alert, an error or a breach of its policy fails the test."""
    page, wrong = browser.new_page(), []
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(Path(path).resolve().as_uri())
    page.wait_for_timeout(300)
    assert page.locator("meta[http-equiv=Content-Security-Policy]").count() == 1
    assert page.locator("img[onerror]").count() == 0
    return page, wrong


def test_html_in_names_is_text_on_the_page_of_a_fit(browser, folder):
    data = HTML.replace("/", "_") + ".csv"
    write(data, HTML, ESCAPE, name=[HTML] * 40)
    arguments = ["--id", "name", "--bandwidth", "2", "--report", "page.html", "--quiet"]
    assert cli.main(["cluster", data, *arguments]) == 0
    page, wrong = opened(browser, "page.html")
    assert data in page.inner_text("#title")
    page.locator("[data-part=cluster-table] tbody tr").first.click()
    assert HTML in page.inner_text("body")
    assert wrong == []


def test_html_in_the_name_of_a_picture_is_text(browser, folder):
    image = pytest.importorskip("PIL.Image")
    name = HTML.replace("/", "_")
    image.fromarray(np.tile(np.uint8([0, 200]), (8, 4))).save(f"{name}.png")
    assert cli.main(["image", f"{name}.png", "--page", "--quiet"]) == 0
    page, wrong = opened(browser, f"{name}.html")
    assert name in page.inner_text("#title")
    assert wrong == []


@pytest.mark.slow
def test_html_in_names_of_recordings_is_text_and_names_lead_nowhere(browser, folder):
    X = np.repeat(np.eye(4)[:2], 20, axis=0) + 0.01 * RNG.normal(size=(40, 4))
    start, name = 0.75 * np.arange(40), f"../{HTML}{ESCAPE}"
    inside = folder / "inside"
    inside.mkdir()
    np.savez("v.npz", X=X, start=start, end=start + 1.5, recording=[name] * 40)
    out = ["--out", str(inside), "--page", "--quiet", "--speakers", "2"]
    assert cli.main(["speakers", "--vectors", "v.npz", *out]) == 0
    assert {path.name for path in folder.iterdir()} == {"v.npz", "inside"}
    written = sorted(path.name for path in inside.iterdir())
    assert [Path(each).suffix for each in written] == [".html", ".rttm"]
    assert all(each.isprintable() for each in written)
    page, wrong = opened(browser, inside / written[0])
    assert HTML in page.inner_text("body")
    assert wrong == []


def test_recordings_that_would_have_the_same_file_are_refused(folder, run):
    X, start = np.eye(4), 2.0 * np.arange(4)
    np.savez("v.npz", X=X, start=start, end=start + 1, recording=["a/b", "a/b", "a_b", "a_b"])
    code, _, err = run("speakers", "--vectors", "v.npz", "--out", "out")
    assert code == 2
    assert "two recordings would have the same file" in err


# -------------------------------------------------------------- formulas

FORMULA = "=HYPERLINK(1)"


def test_text_of_the_user_is_copied_to_csv_as_it_is_and_is_no_formula_in_excel(folder):
    """A label file repeats what it was given; a workbook says which cells are text."""
    pytest.importorskip("xlsxwriter")
    write("points.csv", "x", "y", **{"=1+1": [FORMULA, "+1", "-1", "@x"] * 10})
    base = ["cluster", "points.csv", "--id", "=1+1", "--bandwidth", "2", "--quiet"]
    assert cli.main([*base, "--out", "out.csv"]) == 0
    assert Path("out.csv").read_text().startswith(f"=1+1,cluster\n{FORMULA},")
    assert cli.main([*base, "--out", "out.xlsx", "--force"]) == 0
    with zipfile.ZipFile("out.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert 't="s"' in sheet
