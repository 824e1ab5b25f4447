"""The progress bar of a fit: what it says, where it appears, and that it goes away."""

import io
import os
import pickle
import subprocess
import sys
import threading
from itertools import pairwise
from time import sleep

import numpy as np
import pytest
from sklearn.base import clone

from modeshift import Consensus, MeanShift, ProgressBar, StochasticMeanShift
from modeshift.watching import Progress, screen
from modeshift.watching.story import Story

X = np.random.default_rng(0).normal(size=(40, 2))


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def __call__(self):
        return self.now


def state(sweep, n_moving):
    """What a callback sees of a fit of 1,000 points after a sweep."""
    return Progress(sweep, 300, 1000 * sweep, n_moving, np.zeros((1000, 2)), lambda: 7)


# What it says


def test_a_story_from_the_beginning_to_the_last_sweep():
    clock = Clock()
    story = Story("sweep", clock=clock)
    assert story.tell() == (0.0, "preparing, 0:00")
    clock.now = 3.0
    assert story.tell(compiling=True)[1] == "compiling kernels, once on this machine, 0:03"
    story.tried(5, 20)
    assert story.tell() == (0.25, "choosing the bandwidth, 5 of 20 tried, 0:03")
    for seconds, n_moving in [(10.0, 800), (11.0, 99), (20.0, 20), (30.0, 9)]:
        clock.now = seconds
        story.swept(state(int(seconds), n_moving))
    share, text = story.tell()
    assert text.startswith("sweep 30, 9 still moving, 7 clusters so far, 0:30, 0:")
    assert text.endswith(" left")
    assert 0 < share < 1


def test_a_story_of_several_runs():
    """A run starts again from the first sweep; the time left is that of this run."""
    clock = Clock()
    story = Story("sweep", n_runs=3, clock=clock)
    for seconds, n_moving in [(0.0, 999), (5.0, 9)]:
        clock.now = seconds
        story.swept(state(1, n_moving))
    assert not story.is_at_last_run
    story.next_run()
    clock.now = 20.0
    story.swept(state(1, 999))
    text = "run 2 of 3, sweep 1, 999 still moving, 7 clusters so far, 0:20"
    assert story.tell() == (pytest.approx(1 / 3), text)
    for seconds, n_moving in [(26.0, 300), (30.5, 99)]:
        clock.now = seconds
        story.swept(state(3, n_moving))
    text = "run 2 of 3, sweep 3, 99 still moving, 7 clusters so far, 0:30, 0:18 left"
    assert story.tell()[1] == text


def test_clusters_are_not_counted_in_the_first_second():
    story = Story("step", clock=Clock())
    story.swept(state(1, 50))
    assert story.tell() == (0.0, "step 1, 50 still moving, 0:00")


# Where it appears


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    """Like the stream of a Jupyter kernel, which is no terminal."""


Notebook.__module__ = "ipykernel.iostream"


def slow(_):
    sleep(0.01)


@pytest.fixture
def bar(monkeypatch):
    monkeypatch.setattr(ProgressBar, "PATIENCE", 0.0)
    monkeypatch.setattr(ProgressBar, "_INTERVAL", 0.001)
    return ProgressBar()


@pytest.mark.parametrize("stream", [Terminal, Notebook])
def test_a_bar_in_place_that_goes_away(stream, bar, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", stream())
    StochasticMeanShift(bandwidth=0.5, random_state=0).set_callbacks(bar, slow).fit(X)
    shown = sys.stderr.getvalue().split("\r")
    assert any(line.startswith("[") and "sweep" in line for line in shown)
    assert all(len(line) < 100 for line in shown)
    assert all(line != after for line, after in pairwise(shown) if line.strip())
    assert shown[-2].strip() == shown[-1] == ""
    assert capsys.readouterr().out == ""


def test_lines_elsewhere(bar, monkeypatch, capsys):
    monkeypatch.setattr(screen, "SECONDS_BETWEEN_LINES", 0.0)
    MeanShift(bandwidth=0.5).set_callbacks(bar, slow).fit(X)
    out, err = capsys.readouterr()
    assert out == ""
    assert any(line.startswith("step ") for line in err.splitlines())


def test_the_choice_is_shown(bar, monkeypatch, capsys):
    monkeypatch.setattr(screen, "SECONDS_BETWEEN_LINES", 0.0)
    MeanShift(significance=None).set_callbacks(bar).fit(X)
    assert "choosing the bandwidth, " in capsys.readouterr().err


def test_a_short_fit_shows_nothing(capsys):
    MeanShift(bandwidth=0.5).set_callbacks(ProgressBar()).fit(X)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_on_a_real_terminal():
    import pty

    outside, inside = pty.openpty()
    code = """
import time, numpy as np
from modeshift import MeanShift, ProgressBar
ProgressBar.PATIENCE = 0.0
X = np.random.default_rng(0).normal(size=(40, 2))
slow = lambda state: time.sleep(0.3)
MeanShift(bandwidth=0.5).set_callbacks(ProgressBar(), slow).fit(X)
"""
    subprocess.run([sys.executable, "-c", code], stderr=inside, check=True, timeout=120)
    os.close(inside)
    shown = os.read(outside, 100_000).decode()
    os.close(outside)
    assert "[.........." in shown
    assert " still moving" in shown


# It goes away


def test_no_thread_is_left_after_an_error(bar):
    before = threading.active_count()

    def fail(_):
        raise RuntimeError("stopped by a callback")

    with pytest.raises(RuntimeError, match="stopped by a callback"):
        MeanShift(bandwidth=0.5).set_callbacks(bar, fail).fit(X)
    assert threading.active_count() == before


def test_clones_copies_and_several_runs(bar):
    model = StochasticMeanShift(bandwidth=0.5, random_state=0).set_callbacks(bar)
    clone(model).fit(X)
    pickle.loads(pickle.dumps(model.fit(X))).fit(X)
    assert repr(bar) == "ProgressBar()"


def test_the_runs_of_a_consensus_are_counted(monkeypatch, capsys, bar):
    monkeypatch.setattr(screen, "SECONDS_BETWEEN_LINES", 0.0)
    bar = ProgressBar(n_runs=2)
    model = StochasticMeanShift(bandwidth=0.5).set_callbacks(bar, slow)
    for _ in range(2):
        Consensus(model, n_runs=2, random_state=0).fit(X)
        err = capsys.readouterr().err
        assert "run 1 of 2, sweep" in err
        assert "run 2 of 2, sweep" in err
    assert repr(pickle.loads(pickle.dumps(bar))) == "ProgressBar(n_runs=2)"


def test_any_callback_may_hear_of_begin_and_end():
    heard = []

    class Listener:
        def on_begin(self, unit):
            heard.append(unit)

        def __call__(self, state):
            heard.append(state.sweep)

        def on_end(self):
            heard.append("end")

    MeanShift(bandwidth=0.5).set_callbacks(Listener()).fit(X)
    assert heard[:2] == ["step", 1]
    assert heard[-1] == "end"
