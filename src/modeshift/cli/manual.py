"""The manual, made from the parsers: ``python -m modeshift.cli.manual`` prints docs/command.md."""

import argparse

from modeshift.cli import make_parser
from modeshift.cli.help import split_examples

_HEAD = """# The command `modeshift`

`make manual` writes this page from the help texts in the code. Change the texts there.
"""
_EXIT_CODES = """Exit codes: 0 done, 1 failed, 2 an argument or a file cannot be used, 130 stopped
with Ctrl-C. An error is one line on standard error; `--debug` shows its traceback."""


def manual() -> str:
    """Return the whole page in Markdown."""
    parser = make_parser()
    parts = [_HEAD, *_described(parser), _EXIT_CODES]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, subparser in action.choices.items():
                parts += _section(name, subparser)
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _section(name: str, parser: argparse.ArgumentParser) -> list[str]:
    parts = [f"## modeshift {name}", *_described(parser)]
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.dest != "help"]
        if actions:
            rows = ["| " + " | ".join(_row(parser, action)) + " |" for action in actions]
            title = group.title or ""
            parts += [f"### {name}: {title}", group.description or ""]
            parts += ["\n".join(["| option | meaning |", "| --- | --- |", *rows])]
    return parts


def _described(parser: argparse.ArgumentParser) -> tuple[str, str]:
    text, examples = split_examples(parser.description or "")
    return text, _code(examples)


def _row(parser: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str]:
    value = ""
    if action.nargs != 0:
        value = action.metavar if isinstance(action.metavar, str) else ""
        if action.choices and not value:
            value = "{" + ",".join(map(str, action.choices)) + "}"
        value = value or action.dest.upper()
    name = " ".join([*action.option_strings[:1], value]).strip()
    meaning = (action.help or "") % {"prog": parser.prog, "default": action.default}
    return f"`{name}`".replace("|", "\\|"), meaning.replace("|", "\\|")


def _code(text: str) -> str:
    """Return the examples as a code block."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("  ")]
    return "\n".join(["```sh", *lines, "```"]) if lines else ""


if __name__ == "__main__":
    print(manual(), end="")
