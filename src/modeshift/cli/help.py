"""How --help looks: text is wrapped, examples stay as they are."""

import argparse


class HelpFormatter(argparse.HelpFormatter):
    """Wraps paragraphs, and leaves alone what begins with "example"."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("example"):
            return text
        return super()._fill_text(text, width, indent)
