"""The explorer: its levels against the profile, and what it does in a real browser."""

import json
import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import modeshift
from modeshift import Consensus, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.report import Camera
from modeshift.report.explorer import script

X, _ = make_paper_set(1, scale=0.3, random_state=0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(model, points=X, **options):
    """Write a page, and return the content of its explorer."""
    modeshift.report.write(model, points, "page.html", **options)
    text = Path("page.html").read_text()
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])["explorer"]


def numbers(text, dtype):
    return np.frombuffer(b64decode(text), dtype=dtype)


def labels_on_page(content, level):
    """Return the labels that the page gives its points at a level."""
    levels = content["levels"]
    if level == levels["fit"]:
        return numbers(content["points"]["labels"], np.int32)
    labels = numbers(levels["labels"], np.int16).reshape(-1, levels["sampled"])
    return labels[levels["steps"][level]["row"]][numbers(levels["nearest"], np.uint16)]


# The levels


def test_levels_are_those_of_the_profile():
    model = MeanShift().fit(X)
    levels = (content := written(model))["levels"]
    assert [
        step["bandwidth"] for step in levels["steps"]
    ] == model.profile_.chosen.bandwidths.tolist()
    for level, step in enumerate(levels["steps"]):
        labels, of_sample = (
            labels_on_page(content, level),
            model.profile_.labels_at(step["bandwidth"]),
        )
        if level == levels["fit"]:
            assert_array_equal(labels, model.labels_)
            continue
        kept = labels[model.profile_.rows] >= 0  # beyond dust
        assert_array_equal(labels[model.profile_.rows][kept], of_sample[kept])
        assert labels.max() + 1 == model.profile_.chosen.n_clusters[level]
        assert 1 - kept.mean() == pytest.approx(step["small"])


def test_points_that_were_not_sampled_take_the_labels_of_the_nearest():
    points = np.concatenate([X + shift for shift in np.linspace(0, 1e-6, 8)])
    model = MeanShift().fit(points)
    assert len(model.profile_.rows) < len(points)
    content = written(model, points)
    level = content["levels"]["fit"] + 1
    labels = labels_on_page(content, level).reshape(8, -1)
    twins = np.all(labels == labels[0], axis=0)  # eight points within 1e-6 of each other
    assert twins.mean() > 0.95
    assert f"a sample of 1,500 of the {len(points):,} points" in content["levels"]["note"]


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(),
        MeanShift(n_clusters=2),
        StochasticMeanShift(random_state=3, min_cluster_size=4),
        Consensus(StochasticMeanShift(), n_runs=2, random_state=0),
    ],
    ids=str,
)
def test_the_code_of_the_level_of_the_fit_repeats_it(model):
    levels = written(model.fit(X))["levels"]
    names = {
        name: getattr(modeshift, name) for name in ("MeanShift", "StochasticMeanShift", "Consensus")
    }
    exec(levels["steps"][levels["fit"]]["code"], names)
    assert_array_equal(names["model"].fit(X).labels_, model.labels_)
    exec(levels["steps"][0]["code"], names)  # another bandwidth
    assert len(names["model"].fit(X).cluster_centers_) > len(model.cluster_centers_)


def test_one_cluster_is_a_level_beyond_the_profile():
    points = np.random.default_rng(0).normal(size=(300, 2))
    model = MeanShift().fit(points)
    assert model.profile_.one_cluster
    levels = written(model, points)["levels"]
    assert levels["fit"] == len(model.profile_.chosen.bandwidths)
    assert levels["steps"][-1]["row"] is None
    assert levels["steps"][-1]["text"].endswith(", 1 cluster")
    assert "so the choice is one cluster" in levels["note"]


def test_the_tree_is_cut_into_the_clusters_of_each_level():
    model = MeanShift().fit(X)
    levels = (content := written(model))["levels"]
    tree, profile = levels["tree"], model.profile_
    assert max(tree["place"]) + 1 == sum(
        k not in tree["parent"] for k in range(len(tree["parent"]))
    )
    for level, cut in enumerate(levels["tree"]["cuts"]):
        alive = [k for k in range(len(tree["low"])) if tree["low"][k] <= level <= tree["high"][k]]
        assert [node for node, _ in cut] == alive
        for node, label in cut:
            members = profile.tree().members[level] == node
            shown = labels_on_page(content, level)[profile.rows[members]]
            assert np.bincount(shown + 1).argmax() == label + 1


def test_a_given_bandwidth_has_no_levels():
    assert written(MeanShift(bandwidth=1.0).fit(X))["levels"] is None


def test_the_script_needs_no_other_file():
    lines = [line for line in script().splitlines() if not line.startswith("//")]
    assert not [line for line in lines if line.startswith(("import", "export"))]
    assert len([line for line in lines if line.startswith("function render(")]) == 1


def test_kilometres_have_no_exponent():
    places = np.array([[0.0, 0.0], [0.0, 60.0]]).repeat(60, axis=0)
    places += np.random.default_rng(0).normal(scale=8.0, size=places.shape)
    steps = written(MeanShift(metric="haversine").fit(places), places)["levels"]["steps"]
    assert max(step["bandwidth"] for step in steps) > 1000
    assert [step["text"] for step in steps if "e+" in step["text"]] == []
    assert all(step["name"].endswith(" km") for step in steps)


# In a browser

PART = "[data-part={}]".format


@pytest.fixture
def page(show):
    camera = Camera()
    written(MeanShift().set_callbacks(camera).fit(X), camera=camera)
    return show("page.html")


def shown_clusters(page):
    return page.locator(f"{PART('cluster-table')} tbody tr").count()


def ink(page):
    page.wait_for_timeout(60)
    return page.evaluate("() => document.querySelector('[data-part=canvas]').toDataURL()")


def test_the_slider_changes_clusters_tree_and_score(page):
    slider = page.locator(PART("level"))
    start, cut = ink(page), page.locator(".crossing").count()
    assert slider.get_attribute("aria-valuetext").endswith("3 clusters (the fit)")
    assert (shown_clusters(page), cut) == (3, 3)
    score = page.locator(".at-score").get_attribute("cy")
    slider.focus()
    page.keyboard.press("Home")
    said = slider.get_attribute("aria-valuetext")
    n_clusters = int(re.fullmatch(r"h = [\d.]+, (\d+) clusters", said)[1])
    assert page.locator(PART("level-text")).text_content() == said
    assert shown_clusters(page) == min(n_clusters, 50) > 3
    assert ink(page) != start
    assert page.locator(".crossing").count() > 3
    assert page.locator(".at-score").get_attribute("cy") != score
    page.keyboard.press("End")
    assert shown_clusters(page) < 3
    page.get_by_role("button", name="(the fit)").click()
    assert ink(page) == start


def test_the_chart_is_a_slider_too(page):
    box = page.locator(PART("chart")).bounding_box()
    page.mouse.click(box["x"] + box["width"] - 18, box["y"] + 50)
    slider = page.locator(PART("level"))
    assert slider.input_value() == slider.get_attribute("max")


def test_a_bandwidth_is_taken_with_one_button(page):
    page.locator(PART("level")).focus()
    page.keyboard.press("ArrowLeft")
    taken = page.locator(PART("take")).text_content()
    assert not page.locator(PART("code")).is_visible()
    page.locator(PART("take")).click()
    code = page.locator(PART("code")).text_content()
    assert float(re.search(r"bandwidth=([\d.]+)", code)[1]) == pytest.approx(
        float(taken.split("=")[1]), rel=0.01
    )
    page.keyboard.press("Tab")  # to the button that copies
    page.locator(PART("level")).focus()
    page.keyboard.press("ArrowRight")
    assert not page.locator(PART("code")).is_visible()  # it was of another bandwidth


def drag(page, places):
    box = page.locator(PART("canvas")).bounding_box()
    points = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in places]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()


def listed(page):
    """Return how many points the list says that it has."""
    return int(re.search(r"(\d+) points?", page.locator(PART("selected-text")).text_content())[1])


LEFT_HALF = [(0.08, 0.01), (0.5, 0.01), (0.5, 0.99), (0.08, 0.99)]


@pytest.mark.parametrize("by", ["button", "shift"])
def test_the_lasso_lists_points(by, page):
    assert not page.locator(PART("selected-table")).is_visible()
    if by == "button":
        page.locator(PART("lasso")).click()
    else:
        page.keyboard.down("Shift")
    start = ink(page)
    drag(page, LEFT_HALF)
    assert ink(page) != start
    cells = "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    body = page.locator(f"{PART('selected-table')} tbody").nth(1)
    rows = {int(name.split()[1]): rest for name, *rest in body.locator("tr").evaluate_all(cells)}
    assert len(rows) == listed(page) < 100
    for row, (cluster, *values) in rows.items():
        assert cluster in ("0", "1", "2")
        assert [float(value) for value in values] == pytest.approx(X[row], rel=1e-4)
    edge = max(X[row, 0] for row in rows)
    assert set(rows) == set(np.flatnonzero(X[:, 0] <= edge))
    page.locator(PART("clear")).click()
    assert ink(page) == start


def test_the_lasso_stays_while_the_bandwidth_slides(page):
    page.locator(PART("lasso")).click()
    drag(page, LEFT_HALF)
    before = listed(page)
    page.locator(PART("level")).focus()
    page.keyboard.press("End")
    assert listed(page) == before


def place_of(page, words):
    """Move the mouse over the picture until a point says these words; return where."""
    box, tip = page.locator(PART("canvas")).bounding_box(), page.locator(PART("tip"))
    for k in range(400):
        share_x, share_y = 0.1 + 0.04 * (k % 20), 0.1 + 0.04 * (k // 20)
        place = box["x"] + box["width"] * share_x, box["y"] + box["height"] * share_y
        page.mouse.move(*place)
        if tip.is_visible() and words in tip.text_content():
            return place
    raise AssertionError(words)


def test_a_click_chooses_a_cluster_with_its_points_and_paths(page):
    start = ink(page)
    button = page.locator(f"{PART('cluster-table')} tbody button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    size = int(
        page.locator(f"{PART('cluster-table')} tbody tr").nth(1).locator("td").first.text_content()
    )
    assert listed(page) == size
    alone = ink(page)
    assert alone != start
    page.locator(PART("canvas")).focus()
    page.keyboard.press("Escape")
    assert ink(page) == start
    page.mouse.click(*place_of(page, "cluster 1"))
    assert page.locator(PART("selected-text")).text_content() == f"Cluster 1: {size} points"


def test_the_film_is_that_of_the_fit(page):
    page.locator(PART("level")).focus()
    page.keyboard.press("Home")
    page.locator(PART("time")).focus()
    page.keyboard.press("End")
    assert "(the fit)" in page.locator(PART("level-text")).text_content()
    page.locator(PART("level")).focus()
    page.keyboard.press("Home")
    assert page.locator(PART("clock")).text_content() == "start: the data"


def test_light_and_dark(page):
    light = ink(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    assert ink(page) != light
    page.emulate_media(color_scheme="light")
    page.wait_for_timeout(200)
    assert ink(page) == light


def test_a_given_bandwidth_is_said(show):
    written(MeanShift(bandwidth=1.0).fit(X))
    page = show("page.html")
    assert not page.locator(PART("level")).is_visible()
    assert page.locator(PART("given")).is_visible()


def test_a_narrow_page_is_one_column(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(100)
    boxes = [page.locator(name).bounding_box() for name in (".picture", ".beside", ".selection")]
    assert len({round(box["x"]) for box in boxes}) == 1
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
