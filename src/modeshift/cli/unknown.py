"""Options that do not exist: the error names the nearest one that does."""

import argparse
from difflib import get_close_matches

from modeshift.cli.parameters import RENAMED, option_of


def about_unknown(unknown: list[str], parser: argparse.ArgumentParser) -> str:
    """Return an error about arguments that a parser does not know."""
    given = unknown[0].partition("=")[0]
    if not given.startswith("--"):
        return f"unknown argument {given!r}"
    nearest = _nearest(given, [option for action in parser._actions
                               for option in action.option_strings])  # fmt: skip
    return f"there is no option {given}" + (f"; the nearest is {nearest}" if nearest else "")


def _nearest(given: str, options: list[str]) -> str | None:
    """Return the option that was probably meant; None if no option is similar."""
    name = given.removeprefix("--").replace("-", "_")
    if name in RENAMED and option_of(name) in options:
        return option_of(name)
    return next(iter(get_close_matches(given.replace("_", "-"), options, n=1)), None)
