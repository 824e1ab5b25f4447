"""The page: three static files and one block of data."""

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def make_page(content: dict[str, Any]) -> str:
    """Return the page with the content. All text is shown as text, never run as code."""
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = _read("page.html")
    for mark, part in [("STYLE", _read("page.css")), ("SCRIPT", _read("page.js")), ("DATA", data)]:
        page = page.replace(f"/*{mark}*/", part, 1)
    return page


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
