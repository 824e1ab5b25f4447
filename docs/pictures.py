"""Keeps the pictures and explorers of the gallery, for sphinx-gallery. ``conf.py`` names it."""

import ast
import os
import re
from pathlib import Path
from textwrap import indent
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from live import live_part, live_script
from matplotlib.figure import Figure
from PIL import Image
from sphinx_gallery.scrapers import figure_rst

from modeshift.report.widget import Explorer


def keep(block: tuple, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return what a block shows: figures of pyplot, and a last value that is one or an explorer.

    Comments ``# Picture: ...`` in the block are their alternative texts, in order. One without a
    text is an error, because somebody who does not see it would miss it.
    """
    code = block[1]
    shown: list[Any] = [plt.figure(number) for number in plt.get_fignums()]
    if isinstance(ast.parse(code).body[-1], ast.Expr):
        last = block_vars["example_globals"]["___"]
        shown += [last] if isinstance(last, Figure | Explorer) and last not in shown else []
    texts = re.findall(r"^# Picture: (.*(?:\n# .*)*)", code, re.MULTILINE)
    if len(texts) != len(shown):
        raise ValueError(f"{block_vars['src_file']}: {len(shown)} pictures, {len(texts)} texts")
    texts = [re.sub(r"\s*\n# ", " ", text) for text in texts]
    paths = block_vars["image_path_iterator"]
    page, line, sources = Path(block_vars["target_file"]), block[2], Path(gallery_conf["src_dir"])
    parts = [
        _explorer(thing, text, page.with_name(f"{page.stem}_{line}"), sources)
        if isinstance(thing, Explorer)
        else _figure(thing, text, Path(next(paths)), sources)
        for thing, text in zip(shown, texts, strict=True)
    ]
    plt.close("all")
    return "\n".join(parts)


def _figure(figure: Figure, text: str, path: Path, sources: Path) -> str:
    figure.savefig(path, dpi=100, bbox_inches="tight")
    _pack(path)
    return figure_rst([path], str(sources), text)


def _pack(path: Path) -> None:
    """Save a picture with 256 colours, a third of the bytes; photos, where one sees it, stay."""
    full = Image.open(path).convert("RGB")
    packed = full.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    if np.abs(np.subtract(full, packed.convert("RGB"), dtype=float)).mean() < 1:
        packed.save(path, optimize=True)


def _explorer(explorer: Explorer, text: str, place: Path, sources: Path) -> str:
    script = sources / "gallery" / "live" / f"{place.name}.js"
    script.write_text(live_script(place.name, explorer.content), encoding="utf-8")
    static = os.path.relpath(sources / "_static", place.parent)
    part = live_part(place.name, text, f"{static}/{script.name}")
    return f".. raw:: html\n\n{indent(part, '    ')}\n"
