"""The data of the page, and the page as a file."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np

from modeshift.image.drawing import as_rgb, mean_colours
from modeshift.image.files import encoded
from modeshift.image.layout import Layout
from modeshift.image.tree import LEVEL, Hierarchy
from modeshift.io.write import write_whole
from modeshift.report.page import make_page

_LARGEST = 1600
"""Longest side of the picture on the page, in pixels. A larger one is thinned out."""

_HERE = Path(__file__).parent


def make_content(
    name: str, image: np.ndarray, layout: Layout, tree: Hierarchy, n_shown: int | None = None
) -> dict[str, Any]:
    """Return what the page shows of a picture.

    Parameters
    ----------
    name : str
        Title of the page.
    image : ndarray
    layout : Layout
    tree : Hierarchy
        Its labels must be in memory and have two axes.
    n_shown : int, default=None
        Number of regions at first. None: those of the default level.
    """
    step = max(1, -(-max(layout.shape) // _LARGEST))
    rgb, labels = as_rgb(image, layout)[::step, ::step], tree.labels[::step, ::step]
    if n_shown is None:
        n_shown = tree.n_regions - int(np.searchsorted(tree.heights, LEVEL, side="right"))
    numbers, lengths = runs(labels)
    colours = mean_colours(as_rgb(image, layout), tree.labels)
    form = "JPEG" if image.size > 1 << 18 else "PNG"
    return {
        "name": name,
        "shape": list(labels.shape),
        "thinned": step,
        "picture": f"data:image/{form.lower()};base64,{_text(encoded(rgb, form))}",
        "numbers": _text(numbers.astype("<u4").tobytes()),
        "lengths": _text(lengths.astype("<u4").tobytes()),
        "sizes": tree.sizes.tolist(),
        "colours": np.rint(colours).astype(int).tolist(),
        "merges": tree.merges.tolist(),
        "heights": [round(float(height), 4) for height in tree.heights],
        "shown": int(n_shown),
    }


def runs(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label of each run of equal ones, row after row, and its length."""
    flat = labels.ravel()
    starts = np.flatnonzero(np.append(True, flat[1:] != flat[:-1]))
    return flat[starts], np.diff(np.append(starts, len(flat)))


def _text(content: bytes) -> str:
    return b64encode(content).decode("ascii")


def write_page(path: Path, content: dict[str, Any]) -> None:
    """Write the page."""
    page = make_page(content, _HERE)
    write_whole(path, lambda file: file.write(page.encode()))
