"""What the README and the docstrings show must run."""

import ast
import doctest
import json
import re
import runpy
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from threading import Thread

import pytest

import modeshift
from helpers import ROOT
from public_names import listed_names, named

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = sorted((ROOT / "src").rglob("*.py"))
WITH_EXAMPLES = [path for path in MODULES if "\n    >>> " in path.read_text(encoding="utf-8")]


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


@pytest.mark.parametrize(
    ("page", "files"),
    [("seeing", ["clusters.png", "page.html", "two_features.png"]), ("explorer", ["page.html"])],
)
def test_the_examples_about_seeing_run(page, files, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(example, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == files


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
        ("plda", ["10"]),
        ("speaker-clustering", ["4", "2"]),
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
@pytest.mark.parametrize(
    "page", ["tutorial", "weights", "scaling", "pipelines", "large-data", "from-hdbscan"]
)
def test_a_page_prints_what_it_says(page, tmp_path):
    pytest.importorskip("matplotlib")
    run = runpy.run_path(str(ROOT / "docs" / "tutorial.py"))["run"]
    pairs = run(ROOT / "docs" / f"{page}.md", tmp_path)
    assert len(pairs) >= 1
    for wanted, printed in pairs:
        assert without_seconds(printed) == without_seconds(wanted)


def without_seconds(text):
    """Return an output without what differs from run to run."""
    return re.sub(r"[\d.]+ s on", "s on", text)


@pytest.mark.jit
def test_the_examples_about_scale_run(capsys):
    pytest.importorskip("dask.array")
    text = (ROOT / "docs" / "scale.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(example, {})
    assert "dask.array<modeshift-labels" in capsys.readouterr().out


def test_the_server_of_the_page_answers(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    client = pytest.importorskip("fastapi.testclient").TestClient
    X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]]
    modeshift.save(modeshift.MeanShift(bandwidth=1.0).fit(X), tmp_path / "model.npz")
    monkeypatch.setenv("MODEL", str(tmp_path / "model.npz"))
    text = (ROOT / "docs" / "serving.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "server.py").write_text(example)
    server = client(runpy.run_path(str(tmp_path / "server.py"))["app"])
    assert server.post("/predict", json={"points": X}).json() == {"labels": [0, 0, 1]}
    refused = server.post("/predict", json={"points": [[1.0]]})
    assert refused.status_code == 422
    assert "has 1 features" in refused.json()["detail"]
    assert server.post("/predict", json={"points": []}).status_code == 422
    assert server.post("/predict", content='{"points": [[NaN, 1]]}').status_code == 422


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_in_docstrings(path):
    pytest.importorskip("matplotlib")
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    results = doctest.testmod(import_module(name))
    assert results.attempted >= 2
    assert results.failed == 0


def test_every_public_function_and_class_has_an_example():
    """The names in the reference; tuples of results are shown where they come back."""
    names = listed_names()
    assert len(names) > 40
    for name in names:
        thing = named(name)
        if not (isinstance(thing, type) and issubclass(thing, tuple)):
            assert ">>> " in (thing.__doc__ or ""), name


def test_the_reference_has_every_public_name():
    listed = (ROOT / "docs" / "api.md").read_text()
    parts = [modeshift.datasets, modeshift.image, modeshift.metrics, modeshift.plots]
    for module in [modeshift, *parts, modeshift.presets, modeshift.report, modeshift.speech]:
        prefix = "" if module is modeshift else f"{module.__name__.split('.')[1]}."
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if callable(thing):
                assert f"   {prefix}{name}\n" in listed, (module.__name__, name)


def test_every_script_of_the_gallery_has_a_head_and_texts_for_its_pictures():
    """They run when the site is built; here they only must compile."""
    scripts = sorted((ROOT / "docs" / "gallery").rglob("plot_*.py"))
    assert len(scripts) >= 20
    for path in scripts:
        assert (path.parent / "GALLERY_HEADER.rst").exists(), path
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        compile(tree, path, "exec")
        title, line = ast.get_docstring(tree).splitlines()[:2]
        assert line == "=" * len(title), path
        assert re.search(r"^# Picture: \w", text, re.MULTILINE), path


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
