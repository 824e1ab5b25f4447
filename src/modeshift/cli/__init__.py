"""The command ``modeshift``: a parser, and a module for each subcommand.

A subcommand is a module with two functions, listed in ``COMMANDS``::

    add_parser(subparsers)    adds its parser, with the texts of --help, and returns it
    run(options)              does the work; returns the exit code, or None for 0

Such a module imports heavy packages inside ``run``, so that ``modeshift --version`` is fast.
"""

import argparse
import os
import sys
import traceback
from types import ModuleType
from typing import NoReturn

from modeshift import __version__
from modeshift.cli import (
    bandwidth,
    bench,
    cluster,
    completion,
    demo,
    image,
    info,
    paper,
    predict,
    score,
    speakers,
    warmup,
)
from modeshift.cli.errors import UserError, message_of
from modeshift.cli.help import HelpFormatter
from modeshift.cli.screen import shown
from modeshift.cli.unknown import about_unknown
from modeshift.io.errors import FileError
from modeshift.io.optional import NotInstalled

COMMANDS: tuple[ModuleType, ...] = (
    cluster,
    bandwidth,
    predict,
    score,
    image,
    speakers,
    demo,
    paper,
    bench,
    info,
    warmup,
    completion,
)

_EXAMPLES = """

examples:
  modeshift cluster points.csv --bandwidth 0.8 --model model.npz
  modeshift score truth.csv points.labels.csv
  modeshift predict model.npz new_points.csv
"""

SUCCESS, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130
_OF_THE_USER = (UserError, FileError, NotInstalled)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code.

    0: done. 1: failed. 2: an argument or a file cannot be used. 130: stopped with Ctrl-C.
    """
    options, unknown = make_parser().parse_known_args(arguments)
    if unknown:
        options.parser.error(about_unknown(unknown, options.parser))
    options.arguments = sys.argv[1:] if arguments is None else arguments
    try:
        return options.run(options) or SUCCESS
    except BrokenPipeError:  # the reader, such as head, has enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # Python flushes it at the end
        return SUCCESS
    except KeyboardInterrupt as stop:
        print(shown(f"modeshift: {str(stop) or 'stopped'}"), file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if options.debug:
            traceback.print_exc()
            return USAGE if isinstance(error, _OF_THE_USER) else FAILURE
        return _complain(error)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and how to get help; exit with code 2."""
        self.exit(USAGE, f"{self.prog}: {shown(message)}; see {self.prog} --help\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command."""
    parser = _Parser(
        prog="modeshift",
        description="Mean-shift clustering from the command line: every point climbs to a mode of "
        f"the density, and points that reach the same mode are one cluster.{_EXAMPLES}",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"modeshift {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = command.add_parser(subparsers)
        subparser.set_defaults(run=command.run, parser=subparser)
        subparser.add_argument(
            "--debug",
            action="store_true",
            help="show the traceback of an error (default: no)",
        )
    return parser


def _complain(error: Exception) -> int:
    """Print the error in one line; return the exit code."""
    message = shown(message_of(error))
    if isinstance(error, _OF_THE_USER):
        print(f"modeshift: {message}", file=sys.stderr)
        return USAGE
    kind = type(error).__name__
    print(f"modeshift: failed with {kind}: {message} (--debug shows where)", file=sys.stderr)
    return FAILURE
