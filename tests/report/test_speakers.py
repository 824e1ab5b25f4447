"""The page of ``modeshift speakers`` in a browser: hear, rename, merge, save."""

import numpy as np
import pytest
from scipy.io import wavfile

from modeshift.speech import Diarization, Segment, Speakers, Vectors, cut_windows, speaker_turns
from modeshift.speech.clusters import Trial
from modeshift.speech.page import make_content, write_page

NAME = "Übung <b>"


@pytest.fixture(scope="module")
def found():
    """Three speakers who take turns of 6 s."""
    segments = [Segment(NAME, 8.0 * k, 8.0 * k + 6.0) for k in range(6)]
    windows = cut_windows(segments)
    labels, n = windows.segment % 3, len(windows.start)
    curve = tuple(Trial(h, k, m, 0.5) for k in (3, 5) for h, m in [(0.2, 5), (0.4, 3), (0.8, 1)])
    speakers = Speakers(
        labels, np.eye(3), np.ones(n), np.ones(n), np.zeros(n, dtype=bool), 0.4, 5, curve
    )
    names = ["SPEAKER_00", "SPEAKER_01", "SPEAKER_02"]
    vectors = Vectors(segments, windows, np.eye(3)[labels], {})
    return Diarization(speaker_turns(segments, windows, labels), names, speakers, vectors)


@pytest.fixture
def page(found, tmp_path, browser):
    sound = tmp_path / "a b#.wav"
    wavfile.write(sound, 8000, np.zeros(8000 * 48, dtype=np.int16))
    write_page(tmp_path / "page.html", found, {NAME: sound})
    complaints = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"file://{tmp_path / 'page.html'}")
    yield page
    page.close()
    assert complaints == []


def saved(page, form):
    with page.expect_download() as download:
        page.click(f"[data-save={form}]")
    return download.value.path().read_text(encoding="utf-8").splitlines()


def test_content_is_plain(found, tmp_path):
    content = make_content(found, {}, tmp_path / "page.html")
    assert content["recordings"] == [{"name": NAME, "sound": None}]
    assert len(content["turns"]) == 6
    assert content["curve"][0] == [0.2, 3, 5]


def test_a_click_plays_the_turn(page):
    assert page.inner_text("#title") == NAME
    assert page.inner_text("#summary") == "3 speakers, 00:36 of speech"
    page.wait_for_function("document.getElementById('sound').readyState >= 1")
    page.wait_for_function("range[1] >= 48")
    x, y = page.evaluate("[toX(27, timeline.clientWidth), HEAD + ROW / 2]")
    page.click("#timeline", position={"x": x, "y": y})
    page.wait_for_function("!sound.paused && sound.currentTime >= 24 && sound.currentTime < 30")
    assert page.evaluate("drawTimeline(), timeline.toDataURL().length") > 2000


def test_names_and_merges_are_saved(page):
    names = page.locator("#speakers input")
    names.nth(0).fill("Zoë, A.")
    names.nth(0).press("Enter")
    page.locator("#speakers select").nth(2).select_option(label="Zoë, A.")
    assert page.inner_text("#summary").startswith("2 speakers")
    rttm = [line.split() for line in saved(page, "rttm")]
    assert {fields[7] for fields in rttm} == {"Zoë,_A.", "SPEAKER_01"}
    assert {fields[1] for fields in rttm} == {"Übung_<b>"}
    assert sum(float(fields[4]) for fields in rttm) == pytest.approx(36.0)
    assert saved(page, "csv")[1].endswith(',"Zoë, A."')
    assert saved(page, "txt")[0].split("\t") == ["0.000", "6.000", "Zoë, A."]
    page.click("#undo")
    assert page.inner_text("#summary").startswith("3 speakers")
    assert page.is_disabled("#undo")


def test_keys_and_buttons_zoom(page):
    page.wait_for_function("range[1] >= 48")
    page.click("#closer")
    assert page.evaluate("range[1] - range[0]") == pytest.approx(24.0)
    page.focus("#timeline")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("range[0]") == pytest.approx(18.0)
    page.click("#all")
    assert page.evaluate("range[0]") == 0


def test_names_can_be_read_on_a_telephone(page):
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#speakers input").first.bounding_box()["width"] >= 100


def test_a_missing_sound_is_named(found, tmp_path, browser):
    write_page(tmp_path / "page.html", found, {NAME: tmp_path / "gone.wav"})
    page = browser.new_page()
    page.goto(f"file://{tmp_path / 'page.html'}")
    page.wait_for_function("document.getElementById('message').textContent.includes('gone.wav')")
    page.close()
