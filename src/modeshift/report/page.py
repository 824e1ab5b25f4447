"""The page: three static files and one block of data."""

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def make_page(content: dict[str, Any], folder: Path = _HERE) -> str:
    """Return the page with the content. All text is shown as text, never run as code.

    ``folder`` holds page.html, page.css and page.js.
    """
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = _read(folder, "page.html")
    style, script = _read(folder, "page.css"), _read(folder, "page.js")
    for mark, part in [("STYLE", style), ("SCRIPT", script), ("DATA", data)]:
        page = page.replace(f"/*{mark}*/", part, 1)
    return page


def _read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")
