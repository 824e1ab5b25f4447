"""What the README and the docstrings show must run."""

import doctest
import json
import re
import runpy
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

import modeshift.compat.sklearn
import modeshift.estimators.bandwidth
import modeshift.estimators.blurring_mean_shift
import modeshift.estimators.consensus
import modeshift.estimators.mean_shift
import modeshift.estimators.stochastic_mean_shift
import modeshift.plots.scatter
import modeshift.watching.bar
from helpers import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_example_of_the_readme_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    exec(example, {})
    assert "PurityReport" in capsys.readouterr().out


def test_the_examples_about_long_fits_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "long-fits.md").read_text(), re.DOTALL
    )
    for example in examples:
        exec(example, {})
    assert capsys.readouterr().out.startswith("1 ")
    assert list(tmp_path.iterdir()) == []


def test_the_examples_about_seeing_run(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "seeing.md").read_text()
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(example, {})
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["clusters.png", "page.html", "two_features.png"]


def test_the_examples_about_scikit_learn_run():
    text = (ROOT / "docs" / "from-scikit-learn.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    try:
        for example in examples:
            exec(example, {})
    finally:
        modeshift.unpatch_sklearn()


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("missing-values", ["-1 735", "0 (1,)", "0 15"]),
        ("sparse-data", ["[0 0 0 1 1 1]"]),
        ("streams", ["100000", "2", "[0 1]"]),
        ("maps", ["[0 0 0 0 0 1 1 1]", "[[ -17.5  179.3]", " [ -13.9 -171.5]]"]),
        ("depth", ["[[ -20. -180.   30.]", " [ -20. -179.  559.]]"]),
    ],
)
def test_the_examples_about_data_run(page, printed, capsys):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(example, {})
    assert capsys.readouterr().out.splitlines() == printed


@pytest.mark.jit
def test_the_examples_about_scale_run(capsys):
    pytest.importorskip("dask.array")
    text = (ROOT / "docs" / "scale.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(example, {})
    assert "dask.array<modeshift-labels" in capsys.readouterr().out


@pytest.mark.parametrize(
    "module",
    [
        modeshift.compat.sklearn,
        modeshift.estimators.bandwidth,
        modeshift.estimators.mean_shift,
        modeshift.estimators.stochastic_mean_shift,
        modeshift.estimators.blurring_mean_shift,
        modeshift.estimators.consensus,
        modeshift.plots.scatter,
        modeshift.watching.bar,
    ],
    ids=lambda module: module.__name__,
)
def test_examples_in_docstrings(module):
    results = doctest.testmod(module)
    assert results.attempted >= 3
    assert results.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_every_make_target_of_the_docs_exists():
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"`?make ([a-z]+)`", page.read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (page.name, target)


def test_the_live_feed_of_earthquakes_is_read(capsys):
    """The example reads a feed again and again, and adds only what is new."""
    feeds = [
        {"type": "FeatureCollection", "features": [_quake(name) for name in names]}
        for names in ("abc", "abc", "bcde")
    ]
    answers = [json.dumps(feed).encode() for feed in feeds]

    class Feed(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answers.pop(0))

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Feed) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        example = runpy.run_path(str(ROOT / "docs" / "earthquakes.py"))
        example["watch"](f"http://127.0.0.1:{server.server_port}", pause=0.0, rounds=3)
        server.shutdown()
    out = capsys.readouterr().out
    assert "3 new, 3 in all" in out
    assert "2 new, 5 in all" in out
    assert out.count("new") == 2
    assert "  -18.00   178.00" in out.splitlines()[1]


def _quake(name):
    """A feature like those of the U.S. Geological Survey."""
    longitude = 178.0 if name in "abc" else 20.0
    geometry = {"type": "Point", "coordinates": [longitude, -18.0, 10.0]}
    return {"type": "Feature", "id": name, "geometry": geometry, "properties": {"mag": 1.0}}
