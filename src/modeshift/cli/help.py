"""The layout of --help: the examples follow the description, and are not wrapped."""

import argparse
import re

_EXAMPLES = re.compile(r"\n\n(examples?:\n.*)", re.DOTALL)


class HelpFormatter(argparse.HelpFormatter):
    """Formatter that wraps a description, except for the examples at its end."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        text, examples = split_examples(text)
        filled = super()._fill_text(text, width, indent)
        return f"{filled}\n\n{examples}" if examples else filled


def split_examples(description: str) -> tuple[str, str]:
    """Return a description without its examples, and the examples ("" if there are none)."""
    text, *rest = _EXAMPLES.split(description, maxsplit=1)
    return text, rest[0].rstrip() if rest else ""
