"""Keeps the pictures of the gallery, for sphinx-gallery. ``conf.py`` names it."""

import ast
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def keep(block: tuple, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of a block: those of pyplot, and a last value that is a figure.

    Comments ``# Picture: ...`` in the block are their alternative texts, in order. A figure without
    one is an error, because somebody who does not see it would miss it.
    """
    code = block[1]
    figures = [plt.figure(number) for number in plt.get_fignums()]
    if isinstance(ast.parse(code).body[-1], ast.Expr):
        last = block_vars["example_globals"]["___"]
        figures += [last] if isinstance(last, Figure) and last not in figures else []
    texts = re.findall(r"^# Picture: (.*(?:\n# .*)*)", code, re.MULTILINE)
    if len(texts) != len(figures):
        raise ValueError(f"{block_vars['src_file']}: {len(figures)} figures, {len(texts)} texts")
    drawn = []
    for figure, text, path in zip(figures, texts, block_vars["image_path_iterator"], strict=False):
        figure.savefig(path, dpi=100)
        words = re.sub(r"\s*\n# ", " ", text)
        drawn.append(figure_rst([Path(path)], gallery_conf["src_dir"], words))
    plt.close("all")
    return "\n".join(drawn)
