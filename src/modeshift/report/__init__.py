"""The report: one page that needs no network, with pictures to zoom and a climb to play.

table, fitted estimator, frames of the climb -> content (content.py) -> page.html, .css and .js
"""

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def make_page(content: dict[str, Any]) -> str:
    """Fill the page. All text in the content is shown as text: nothing in it is code."""
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = _read("page.html")
    for mark, part in [("STYLE", _read("page.css")), ("SCRIPT", _read("page.js")), ("DATA", data)]:
        page = page.replace(f"/*{mark}*/", part, 1)
    return page


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
