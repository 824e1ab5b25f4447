"""The how-to page prints what it says, with the recording that it names."""

import re
import runpy
from shutil import copy

from helpers import ROOT


def test_the_page_about_recordings_prints_what_it_says(two_voices, tmp_path):
    for path in (two_voices, two_voices.with_suffix(".rttm")):
        copy(path, tmp_path)
    run = runpy.run_path(str(ROOT / "docs" / "tutorial.py"))["run"]
    pairs = run(ROOT / "docs" / "speakers.md", tmp_path)
    assert len(pairs) == 8
    for wanted, printed in pairs:
        assert without_seconds(printed) == without_seconds(wanted)
    assert (tmp_path / "two-voices.speakers.html").exists()


def without_seconds(text):
    return re.sub(r"found in .*", "found", text)
