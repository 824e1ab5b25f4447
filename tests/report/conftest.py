"""A browser to look at pages with."""

import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium to look at the page with")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--no-first-run", "--disable-quic"]  # fmt: skip
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def show(browser):
    """Open a page; whatever it complains of fails the test."""
    complaints = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))

    def show(path):
        page.goto(f"file://{Path(path).resolve()}")
        return page

    yield show
    page.close()
    assert complaints == []
