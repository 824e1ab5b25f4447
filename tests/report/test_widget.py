"""The explorer as a widget: what the estimator gets from it, and what it draws in a browser."""

import json
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from modeshift import Consensus, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.io import optional
from modeshift.report import Camera, explore

pytest.importorskip("anywidget")

X, _ = make_paper_set(1, scale=0.3, random_state=0)
PART = "[data-part={}]".format


def take(widget, level):
    """Do what the browser does when the reader takes a bandwidth."""
    widget._handle_custom_msg({"take": level}, [])


def test_the_button_sets_the_bandwidth_on_the_estimator():
    model = MeanShift().fit(X)
    widget, heard = explore(model, X), []
    widget.observe(lambda change: heard.append(change.new), "bandwidth")
    levels = widget.content["levels"]
    level = levels["fit"] - 3
    take(widget, level)
    step = levels["steps"][level]
    assert heard == [model.bandwidth] == [step["bandwidth"]]
    assert f"{len(model.fit(X).cluster_centers_)} clusters" in step["text"]


def test_the_button_keeps_what_the_user_had_set():
    model = StochasticMeanShift(random_state=3, min_cluster_size=4).fit(X)
    widget = explore(model, X)
    take(widget, 0)
    assert (model.random_state, model.min_cluster_size) == (3, 4)
    assert model.bandwidth == widget.bandwidth


def test_the_level_of_the_fit_gives_the_same_fit():
    model = StochasticMeanShift(random_state=0).fit(X)
    labels, widget = model.labels_, explore(model, X)
    take(widget, widget.content["levels"]["fit"])
    assert model.bandwidth == model.bandwidth_
    assert_array_equal(model.fit(X).labels_, labels)


def test_a_second_fit_does_not_change_what_the_steps_mean():
    model = MeanShift().fit(X)
    widget = explore(model, X)
    steps = widget.content["levels"]["steps"]
    for level in (0, 5):
        take(widget, level)
        model.fit(X)  # with a bandwidth given it has no profile
        assert model.bandwidth_ == steps[level]["bandwidth"]


def test_of_a_consensus_the_estimator_of_the_runs_is_set():
    model = Consensus(n_runs=2, random_state=0).fit(X)
    widget = explore(model, X)
    take(widget, 4)
    assert model.estimator.bandwidth == widget.bandwidth
    assert model.fit(X).bandwidth_ == widget.bandwidth


def test_one_cluster_can_be_taken():
    model = MeanShift(significance=1e-9).fit(X)
    assert len(model.cluster_centers_) == 1
    widget = explore(model, X)
    take(widget, widget.content["levels"]["fit"])
    assert len(model.fit(X).cluster_centers_) == 1


def test_the_text_of_a_widget_is_one_line():
    assert repr(explore(MeanShift().fit(X), X)) == "Explorer of MeanShift: 225 points, 3 clusters"


def test_without_anywidget_the_error_says_how_to_install_it(monkeypatch):
    def gone(name):
        raise ImportError(name)

    monkeypatch.setattr(optional, "import_module", gone)
    with pytest.raises(ImportError, match=r"pip install 'modeshift\[widget\]'"):
        explore(MeanShift().fit(X), X)


# In a browser. A notebook renders an element first, and puts it on the page later.

NOTEBOOK = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>notebook</title>
<link rel="icon" href="data:,"><style>/*STYLE*/</style></head><body><script type="module">
const keys = window.keys = [], told = window.told = { selected: null, messages: [] };
document.addEventListener("keydown", (event) => keys.push(event.key));
const model = {
  get: (name) => ({ content: /*CONTENT*/ })[name],
  set(name, value) { told[name] = value; },
  save_changes() {},
  send(message) { told.messages.push(message); },
};
const { default: widget } = await import("data:text/javascript;base64," + "/*SCRIPT*/");
const el = document.createElement("div");
window.leave = widget.render({ model, el });
setTimeout(() => document.body.append(el), 200);
</script></body></html>"""


@pytest.fixture
def notebook(show, tmp_path):
    from base64 import b64encode

    camera = Camera()
    widget = explore(MeanShift().set_callbacks(camera).fit(X), X, camera=camera)
    parts = {
        "STYLE": str(widget._css),
        "CONTENT": json.dumps(widget.content),
        "SCRIPT": b64encode(str(widget._esm).encode()).decode(),
    }
    text = NOTEBOOK
    for mark, part in parts.items():
        text = text.replace(f"/*{mark}*/", part)
    Path(tmp_path / "notebook.html").write_text(text)
    page = show(tmp_path / "notebook.html")
    page.locator(PART("canvas")).wait_for()
    page.wait_for_timeout(300)
    return page


def test_the_widget_tells_the_notebook_what_is_taken_and_chosen(notebook):
    slider = notebook.locator(PART("level"))
    slider.focus()
    notebook.keyboard.press("ArrowLeft")
    notebook.locator(PART("take")).click()
    assert notebook.evaluate("() => told.messages") == [{"take": int(slider.input_value())}]
    notebook.locator(PART("zoom-all")).focus()
    assert notebook.evaluate("() => told.selected") == []
    notebook.locator(f"{PART('cluster-table')} tbody button").first.click()
    chosen = notebook.evaluate("() => told.selected")
    shown = notebook.locator(PART("selected-text")).text_content()
    assert shown == f"Cluster 0: {len(chosen)} points"


def test_the_widget_has_its_colours_though_it_was_drawn_before_it_was_shown(notebook):
    pixels = """() => {
      const canvas = document.querySelector("[data-part=canvas]");
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let k = 0; k < data.length; k += 4) seen.add(data.slice(k, k + 4).join(" "));
      return [...seen];
    }"""
    seen = notebook.evaluate(pixels)
    assert "0 114 178 255" in seen  # points of the first cluster
    assert "185 185 185 255" in seen  # the frame, in the grey of the light style
    assert notebook.locator(".swatch").first.evaluate(
        "(node) => node.style.backgroundImage.length"
    ) > len('url("data:,")')


def test_keys_in_the_widget_are_no_commands_of_the_notebook(notebook):
    notebook.locator(PART("canvas")).focus()
    for key in ("0", "0", "ArrowDown", "Escape"):
        notebook.keyboard.press(key)
    notebook.locator(PART("level")).focus()
    notebook.keyboard.press("ArrowUp")
    assert notebook.evaluate("() => keys") == []
    notebook.keyboard.press("Control+k")
    assert "k" in notebook.evaluate("() => keys")


def test_a_widget_that_is_closed_stops_watching(notebook):
    assert notebook.evaluate("() => typeof leave") == "function"
    notebook.evaluate("() => leave()")
    width = notebook.locator(PART("canvas")).evaluate("(canvas) => canvas.width")
    notebook.set_viewport_size({"width": 500, "height": 800})
    notebook.wait_for_timeout(100)
    assert notebook.locator(PART("canvas")).evaluate("(canvas) => canvas.width") == width
