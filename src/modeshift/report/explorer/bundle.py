"""The script and the style of the explorer, each as one text.

A page without network and a widget cannot import files. So the modules of the script are put one
after another, without their lines of import and export.
"""

import re
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function|class)", re.MULTILINE)


@cache
def script() -> str:
    """Return the script. It defines the function ``render({ model, el })``."""
    names: list[str] = []
    _follow("explorer", names)
    parts = [_EXPORT.sub("", _IMPORT.sub("", _source(name))) for name in names]
    return '"use strict";\n' + "".join(parts)


@cache
def style() -> str:
    """Return the style. It touches nothing outside of the explorer."""
    return (_HERE / "explorer.css").read_text(encoding="utf-8")


def _follow(name: str, names: list[str]) -> None:
    """Add a module after those that it imports."""
    for other in _IMPORT.findall(_source(name)):
        if other not in names:
            _follow(other, names)
    names.append(name)


def _source(name: str) -> str:
    return (_HERE / f"{name}.js").read_text(encoding="utf-8")
