"""A few faults of each kind, and faults that the program of faults must find.

``make faults`` tries as many as one likes.
"""

import random
import shutil
import sys

import pytest

from faults import clock, memory, models, places
from faults.commands import Cluster, Command
from faults.kills import Kills

pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals and limits"),
]


class ShortFit(Cluster):
    n = 10_000


def test_a_fit_that_is_killed_goes_on_to_the_same_labels(tmp_path):
    kills = Kills(ShortFit(), tmp_path, random.Random(0))
    kills.run(2)
    assert kills.n_kills == 2
    assert kills.failures == []


class Forgetful(Command):
    """Writes one letter for each run, so that a second run shows."""

    name = "forgetful"
    code = "open('out', 'a').write('x'); import time; time.sleep({seconds})"

    def command(self, inputs, folder):
        seconds = 0.3 if folder.name == "whole" else 60.0 if self.is_first(folder) else 0.0
        return [sys.executable, "-c", self.code.format(seconds=seconds)]

    def is_first(self, folder):
        return not (folder / "out").exists()

    def result(self, folder):
        return (folder / "out").read_text()


@pytest.mark.slow
def test_a_result_that_depends_on_the_kill_is_found(tmp_path):
    kills = Kills(Forgetful(), tmp_path, random.Random(0))
    kills.seconds = 5.0
    kills.run(1)
    assert kills.failures == [
        "forgetful, after 1 kills: the result differs from that of an undisturbed run"
    ]


def test_half_a_file_is_found(tmp_path):
    (tmp_path / "page.html").write_text("<html>")
    with pytest.raises(AssertionError, match=r"page\.html is damaged"):
        places.assert_whole(tmp_path)
    (tmp_path / "page.html").rename(tmp_path / ".page.html.12.part")
    with pytest.raises(AssertionError, match="was left over"):
        places.assert_whole(tmp_path)


ALL = {**places.FAULTS, **memory.FAULTS, **clock.FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_faults(name, tmp_path):
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        ALL[name](folder, random.Random(number))
        shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_models_made_by_an_attacker(tmp_path):
    assert models.run(tmp_path, 0, 5) == []
