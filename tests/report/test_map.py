"""The map of the report, as data and in a real browser."""

import io
import json
import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import modeshift
from modeshift import MeanShift

FIJI = np.array([[-18.14, 178.44], [-17.80, 177.42], [-16.43, 179.36], [-16.84, -179.97]])
RNG = np.random.default_rng(0)
WORLD = np.column_stack([RNG.uniform(-60, 70, 500), RNG.uniform(-170, 170, 500)])
ARCTIC = np.column_stack([RNG.uniform(60, 90, 200), RNG.uniform(-180, 180, 200)])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(places, km=800):
    """Write a page and return its data."""
    X = pd.DataFrame(places, columns=["lat", "lon"])
    model = MeanShift(bandwidth=km, metric="haversine").fit(X)
    modeshift.report.write(model, X, "page.html")
    text = Path("page.html").read_text()
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])["explorer"]


def n_of(packed):
    return len(np.frombuffer(b64decode(packed["points"]), dtype=np.float32)) // 2


def test_a_page_of_places_is_a_map():
    content = write(WORLD)
    assert n_of(content["view"]["map"]["land"]) > 4000
    assert content["view"]["map"]["period"] == pytest.approx(65535, rel=0.01)
    assert "true to scale at the equator" in content["view"]["note"]
    assert "Natural Earth" in content["view"]["note"]
    assert content["clusters"]["features"] == ["lat", "lon", "spread, km"]
    assert "root mean square distance" in content["clusters"]["note"]


def test_a_small_map_has_no_land():
    content = write(RNG.normal([-18.14, 178.44], 0.1, size=(50, 2)), km=5)
    assert n_of(content["view"]["map"]["land"]) == 0
    assert "Natural Earth" not in content["view"]["note"]


def test_other_pages_have_no_map():
    X = RNG.normal(size=(50, 2))
    modeshift.report.write(MeanShift(bandwidth=1.0).fit(X), X, "page.html")
    assert '"map": null' in Path("page.html").read_text().replace('"map":null', '"map": null')


LAND = np.array([0xF1, 0xEF, 0xE8])
TEXTS = """() => {
    const c = document.querySelector('[data-part=canvas]').getContext("2d"), write = c.fillText;
    return new Promise((done) => {
        const found = [];
        c.fillText = (text, ...place) => {
            found.push(String(text));
            write.call(c, text, ...place);
        };
        document.querySelector('[data-part=zoom-all]').click();
        setTimeout(() => { c.fillText = write; done(found); }, 150);
    });
}"""


def share_of_land(page):
    """Return the share of the picture that has the colour of land."""
    page.wait_for_timeout(150)
    image = pytest.importorskip("matplotlib.image")
    picture = image.imread(io.BytesIO(page.locator("[data-part=canvas]").screenshot()))[..., :3]
    return (np.rint(255 * picture) == LAND).all(axis=-1).mean()


@pytest.mark.parametrize(
    ("places", "share", "words"),
    [
        (WORLD, (0.1, 0.4), {"0°", "60° N", "longitude", "latitude"}),
        (np.concatenate([FIJI, [[-13.8, -171.8], [-35.0, 150.0]]]), (0.005, 0.3), {"180°"}),
        (ARCTIC, (0.1, 0.7), {"80° N", "60° N", "90° E", "0°"}),
    ],
    ids=["world", "date line", "pole"],
)
def test_land_and_degrees_are_drawn(places, share, words, show):
    write(places)
    page = show("page.html")
    before = share_of_land(page)
    assert share[0] < before < share[1]
    assert words <= set(page.evaluate(TEXTS))
    page.locator("[data-part=zoom-in]").click()
    assert share_of_land(page) != before
