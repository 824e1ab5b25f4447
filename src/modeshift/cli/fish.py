"""Completion for the fish shell, which shtab does not know."""

import argparse
import re
from collections.abc import Container, Iterator


def fish_script(parser: argparse.ArgumentParser, of_files: Container[str]) -> str:
    """Return a script of ``complete`` lines: the subcommands, and the options of each.

    Parameters
    ----------
    parser : ArgumentParser
        Parser of the whole command.
    of_files : container of str
        Metavars that stand for a path. Files are offered for these, and nowhere else.
    """
    return "\n".join([f"complete -c {parser.prog} -f", *_lines(parser, of_files)])


def _lines(parser: argparse.ArgumentParser, of_files: Container[str]) -> Iterator[str]:
    start = f"complete -c {parser.prog}"
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help for choice in action._choices_actions}
        for name, subparser in action.choices.items():
            yield f"{start} -n __fish_use_subcommand -a {name} -d {_quoted(helps[name] or '')}"
            for each in subparser._actions:
                yield f"{start} -n '__fish_seen_subcommand_from {name}'{_what(each, of_files)}"


def _what(action: argparse.Action, of_files: Container[str]) -> str:
    """Return the arguments of ``complete`` that describe an option or a positional argument."""
    words = [f" -{'l' if option.startswith('--') else 's'} {option.lstrip('-')}"
             for option in action.option_strings]  # fmt: skip
    if action.option_strings and action.nargs != 0:
        words.append(" -r")  # a value must follow
    if action.choices is not None:
        words.append(f" -a {_quoted(' '.join(map(str, action.choices)))}")
    if action.metavar in of_files:
        words.append(" -F")
    return "".join(words) + f" -d {_quoted(_first_sentence(action.help or ''))}"


def _first_sentence(text: str) -> str:
    """Return the beginning of a help text, without its methods; fish shows one line."""
    text = re.sub(r"^Only for [^.]*\. ", "", text)
    return text.replace("%%", "%").partition(". ")[0].partition(" (default")[0]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
