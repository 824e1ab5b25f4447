"""``modeshift completion``: a script that completes the command in a shell."""

import argparse
from typing import Any

from modeshift.cli.fish import fish_script
from modeshift.cli.help import HelpFormatter
from modeshift.io.optional import require

_SHELLS = ("bash", "zsh", "tcsh", "fish")
_FILES = ("DATA", "FILE", "MODEL", "TRUTH", "PREDICTED")  # metavars that stand for a path
_EXAMPLES = """

examples:
  eval "$(modeshift completion bash)"                        # for this shell
  modeshift completion bash >> ~/.bash_completion            # for good
  modeshift completion zsh > ~/.zfunc/_modeshift             # a folder of $fpath
  modeshift completion fish > ~/.config/fish/completions/modeshift.fish
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "print a script that completes the command in a shell"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "completion",
        help=text,
        description=f"{text.capitalize()}.{_EXAMPLES}",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))
    return parser


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    from modeshift.cli import make_parser

    if options.shell == "fish":
        print(fish_script(make_parser(), _FILES))
        return
    shtab = require("shtab", "cli")
    parser = make_parser()
    for action in _all_actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE
    print(shtab.complete(parser, options.shell))


def _all_actions(parser: argparse.ArgumentParser) -> Any:
    """Yield all actions of a parser and of its subcommands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _all_actions(subparser)
