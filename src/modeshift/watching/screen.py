"""Progress on standard error: a bar in place on terminals and in notebooks, plain lines elsewhere.

Nothing here needs another package, so that the bar works wherever the library does.
"""

import os
import sys
from time import monotonic

SECONDS_BETWEEN_LINES = 10.0
_BAR = 20  # characters
_COLUMNS = 100  # where the width is unknown, as in a notebook


def can_redraw() -> bool:
    """Return whether a line on standard error can be replaced: on a terminal, in a notebook."""
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


class Screen:
    """Shows a share and a text: always the latest in place, or a line every ten seconds."""

    def __init__(self) -> None:
        self._redraws = can_redraw()
        self._line = ""
        self._last = monotonic()

    def show(self, share: float, text: str) -> None:
        """Show how far a task is."""
        if self._redraws:
            self._replace(f"[{'#' * round(_BAR * share):.<{_BAR}}] {text}"[: _columns() - 1])
        elif monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = monotonic()
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the bar; lines stay."""
        if self._line:
            self._replace("")
            print(end="\r", file=sys.stderr, flush=True)

    def _replace(self, line: str) -> None:
        """Write over the former line; spaces cover the rest of it."""
        if line != self._line:  # notebooks keep everything that is written
            print(f"\r{line:<{len(self._line)}}", end="", file=sys.stderr, flush=True)
            self._line = line


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except OSError:  # a notebook; io.UnsupportedOperation is an OSError
        return _COLUMNS
