"""The page: three static files and one block of data."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def make_page(
    content: dict[str, Any], folder: Path = _HERE, *, script: str = "", style: str = ""
) -> str:
    """Return the page with the content. All text is shown as text, never run as code.

    Parameters
    ----------
    content : dict
    folder : Path
        Holds page.html, page.css and page.js. The policy of a page, if it has one, allows these
        two files only.
    script, style : str
        Stand before page.js and page.css.
    """
    page = _read(folder, "page.html")
    style, script = style + _read(folder, "page.css"), script + _read(folder, "page.js")
    parts = {
        "STYLE-HASH": _hash(style),
        "SCRIPT-HASH": _hash(script),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": as_data(content),
    }
    for mark, part in parts.items():
        page = page.replace(f"/*{mark}*/", part, 1)
    return page


def as_data(content: dict[str, Any]) -> str:
    """Return a content as JSON that can stand in a page: nothing in it ends the element."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")
