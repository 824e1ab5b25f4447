"""The layout of --help: text is wrapped, examples are not."""

import argparse


class HelpFormatter(argparse.HelpFormatter):
    """Formatter that wraps all text except text that begins with "example"."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("example"):
            return text
        return super()._fill_text(text, width, indent)
