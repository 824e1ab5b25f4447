"""The command: its shape, its exit codes, what it says when something is wrong, progress."""

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import modeshift
from modeshift import cli
from modeshift.cli import progress as progress_module
from modeshift.cli.errors import UserError
from modeshift.cli.progress import progress
from modeshift.io.errors import FileError


def start(*arguments):
    command = [sys.executable, "-m", "modeshift", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_version():
    done = start("--version")
    assert done.returncode == 0
    assert done.stdout == f"modeshift {modeshift.__version__}\n"


def test_parser_loads_nothing_heavy():
    code = "import sys, modeshift.cli; modeshift.cli.make_parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    heavy = {"numpy", "scipy", "sklearn", "numba", "matplotlib", "rich", "polars", "pyarrow"}
    assert not heavy.intersection(done.stdout.split())


def test_help_lists_every_command():
    done = start("--help")
    assert done.returncode == 0
    for command in cli.COMMANDS:
        assert f"\n    {command.__name__.rpartition('.')[2]}" in done.stdout
    assert done.stdout.count("\n  modeshift ") == 3  # examples


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["demo", "--nonsense"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("modeshift")
    assert line.endswith("--help")


def fail_with(error, monkeypatch):
    """Let the command consist of one subcommand, ``fail``, that raises."""

    def run(options):
        raise error

    command = SimpleNamespace(add_parser=lambda parsers: parsers.add_parser("fail"), run=run)
    monkeypatch.setattr(cli, "COMMANDS", (command,))


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("--out is\na file"), 2, "modeshift: --out is a file\n"),
        (FileError("p.csv is odd", "mend it"), 2, "modeshift: p.csv is odd; mend it\n"),
        (
            ValueError("no good"),
            1,
            "modeshift: failed with ValueError: no good (--debug shows where)\n",
        ),
        (KeyboardInterrupt(), 130, "modeshift: stopped\n"),
    ],
    ids=["user", "file", "failure", "interrupt"],
)
def test_errors_are_one_line(error, code, line, monkeypatch, capsys):
    fail_with(error, monkeypatch)
    assert cli.main(["fail"]) == code
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    ("error", "code"), [(UserError("x"), 2), (FileError("x"), 2), (ValueError("x"), 1)]
)
def test_debug_shows_the_traceback(error, code, monkeypatch, capsys):
    fail_with(error, monkeypatch)
    assert cli.main(["fail", "--debug"]) == code
    assert "Traceback" in capsys.readouterr().err


def test_public_names_load_lazily_and_are_listed():
    code = "import sys, modeshift; print('sklearn' in sys.modules); modeshift.metrics.k_score"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
    assert set(modeshift.__all__) <= set(dir(modeshift))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        modeshift.nonsense  # noqa: B018


def test_progress_in_plain_lines(monkeypatch, capsys):
    """One line whenever the interval is over, and one at the end."""
    now = iter([0.0, 4.0, 11.0, 12.0, 70.0])
    monkeypatch.setattr(progress_module, "monotonic", lambda: next(now))
    assert list(progress("abcd", 4, "letters")) == list("abcd")
    assert capsys.readouterr().err.splitlines() == [
        "letters: 2 of 4, 0:11, 0:11 left",
        "letters: 4 of 4, 1:10, 0:00 left",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_progress_bar_on_a_terminal():
    import pty

    outside, inside = pty.openpty()
    code = "from modeshift.cli.progress import progress; list(progress('ab', 2, 'letters'))"
    subprocess.run([sys.executable, "-c", code], stderr=inside, check=True, timeout=60)
    os.close(inside)
    shown = os.read(outside, 100_000).decode()
    os.close(outside)
    assert "letters" in shown
    assert "2/2" in shown
    assert "left:" in shown


def test_progress_without_rich_is_lines(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress_module, "find_spec", lambda name: None)
    list(progress("ab", 2, "letters"))
    assert terminal.getvalue() == "letters: 2 of 2, 0:00, 0:00 left\n"
