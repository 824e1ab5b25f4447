"""The line that says that kernels are compiled."""

import logging
import os
import subprocess
import sys
from time import sleep

import pytest

from modeshift.watching.compiling import Compilation

LINE = "modeshift is compiling its kernels"


@pytest.fixture
def compilation(monkeypatch):
    monkeypatch.setattr(Compilation, "PATIENCE", 0.1)
    return Compilation()


def compile_for(compilation, seconds, kept=True):
    compilation.begin(kept)
    sleep(seconds)
    compilation.end()


def test_short_compilation_is_silent(compilation, caplog):
    compile_for(compilation, 0.0)
    sleep(0.2)
    assert caplog.messages == []


def test_long_compilation_is_told_once(compilation, caplog):
    compile_for(compilation, 0.3)
    compile_for(compilation, 0.3)
    (line,) = caplog.messages
    assert line.startswith(LINE)
    assert "modeshift warmup" in line


def test_several_short_ones_add_up(compilation, caplog):
    for _ in range(6):
        compile_for(compilation, 0.05)
    assert len(caplog.messages) == 1


def test_a_kernel_that_compiles_others_counts_once(compilation, caplog):
    compilation.begin(kept=True)
    for _ in range(3):
        compile_for(compilation, 0.1)
    assert compilation.goes_on
    compilation.end()
    assert not compilation.goes_on
    assert len(caplog.messages) == 1


def test_after_a_pause_it_is_news_again(compilation, caplog, monkeypatch):
    compile_for(compilation, 0.3)
    monkeypatch.setattr(Compilation, "_PAUSE", 0.0)
    compile_for(compilation, 0.3)
    assert len(caplog.messages) == 2


def test_silently(compilation, caplog):
    with compilation.silently():
        compile_for(compilation, 0.3)
    assert caplog.messages == []


def test_kernels_that_cannot_be_kept(compilation, caplog):
    compile_for(compilation, 0.3, kept=False)
    assert "NUMBA_CACHE_DIR" in caplog.text
    assert "once" not in caplog.text


def test_a_level_of_logging_silences_the_line(compilation, caplog):
    caplog.set_level(logging.ERROR, logger="modeshift")
    compile_for(compilation, 0.3)
    assert caplog.messages == []


COMPILE = """
import numpy as np
from modeshift.watching.compiling import COMPILATION
from modeshift.engines.cpu.distance import squared_distance
COMPILATION.PATIENCE = 0.0
import numba
foreign = numba.njit(lambda x: x + 1)
foreign(1)  # another program's kernel
print(squared_distance(np.zeros(2), np.ones(2)))
"""


@pytest.mark.jit
def test_numba_is_heard_and_standard_output_stays_clean(tmp_path):
    def run():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True,
            timeout=120, check=True,
        )  # fmt: skip

    first, second = run(), run()
    assert first.stdout == second.stdout == "2.0\n"
    (line,) = first.stderr.splitlines()
    assert line.startswith(LINE)
    assert second.stderr == ""  # nothing was compiled
