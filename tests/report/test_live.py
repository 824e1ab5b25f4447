"""The explorer on pages of the site: in a real browser, as the gallery puts it there."""

import runpy
from pathlib import Path

import pytest

from helpers import ROOT
from modeshift import MeanShift
from modeshift.datasets import make_paper_set
from modeshift.report.explorer import make_explorer
from modeshift.report.fits import describe

live = runpy.run_path(str(ROOT / "docs" / "live.py"))
X, _ = make_paper_set(1, scale=0.3, random_state=0)
PART = "[data-part={}]".format
SITE = """<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>site</title><link rel="icon" href="data:,"><style>
html[data-theme="light"] {{ color-scheme: light }} html[data-theme="dark"] {{ color-scheme: dark }}
</style><script>const make = 1, points = 2, content = 3; function render() {{}}</script></head>
<body>{}{}</body></html>"""


@pytest.fixture
def site(show, tmp_path):
    """A page with a theme that is switched by an attribute, and two explorers."""
    fit = describe(MeanShift().fit(X), X, None, None)
    content = make_explorer(fit, "The model of the notebook has it.")
    for name in ("one", "two"):
        Path(tmp_path / f"{name}.js").write_text(live["live_script"](name, content))
    parts = [live["live_part"](name, 'A "<b>set</b>"', f"{name}.js") for name in ("one", "two")]
    Path(tmp_path / "site.html").write_text(SITE.format(*parts))
    return show(tmp_path / "site.html")


def test_two_explorers_live_on_a_page_and_leave_its_names_alone(site):
    sliders = site.locator(PART("level"))
    assert sliders.count() == 2
    start = sliders.nth(1).input_value()
    sliders.nth(0).focus()
    site.keyboard.press("Home")
    assert (sliders.nth(0).input_value(), sliders.nth(1).input_value()) == ("0", start)
    assert site.evaluate("() => [make, points, content]") == [1, 2, 3]


def test_it_is_named_for_those_who_do_not_see_it(site):
    assert site.get_by_role("group", name='A "<b>set</b>"', exact=True).count() == 2


def test_taking_a_bandwidth_gives_code_and_speaks_of_no_notebook(site):
    site.locator(PART("take")).first.click()
    assert "notebook" not in site.locator(PART("taken")).first.text_content()
    assert "bandwidth=" in site.locator(PART("code")).first.text_content()


def test_it_is_dark_when_the_theme_says_so(site):
    picture = "() => document.querySelector('[data-part=canvas]').toDataURL()"
    site.wait_for_timeout(100)
    light = site.evaluate(picture)
    site.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    site.wait_for_timeout(200)
    assert site.evaluate(picture) != light
    site.evaluate("() => { document.documentElement.dataset.theme = 'light'; }")
    site.wait_for_timeout(200)
    assert site.evaluate(picture) == light


def test_it_is_dark_though_the_page_is_hidden_while_the_theme_changes(site):
    """JupyterLab does so: the transition that tells of the new colours never ends."""
    picture = "() => document.querySelector('[data-part=canvas]').toDataURL()"
    site.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    site.wait_for_timeout(200)
    dark = site.evaluate(picture)
    site.evaluate("() => { document.documentElement.dataset.theme = 'light'; }")
    site.wait_for_timeout(200)
    assert site.evaluate(picture) != dark
    site.evaluate("""() => {
        const explorer = document.querySelector(".modeshift-explorer");
        document.documentElement.dataset.theme = "dark";
        getComputedStyle(explorer).color; // the transition starts
        document.body.hidden = true;
        getComputedStyle(explorer).color;
        document.body.hidden = false;
    }""")
    site.wait_for_timeout(200)
    assert site.evaluate(picture) == dark
