"""Colours, markers and the figure that all pictures share."""

import io
from functools import partial
from typing import Any

import numpy as np

from modeshift.io.optional import require

# Okabe & Ito's colours: distinct for any colour vision, and by lightness in greyscale.
# Each colour has its own marker.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000", "#f0e442"]
MARKERS = ["o", "^", "s", "D", "v", "P", "X", "*"]
GREY = "0.55"


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of this size in inches, which notebooks show.

    Notebooks show figures of pyplot only. Pyplot keeps every figure alive until it is closed, so
    these figures are made without it, and carry their own picture.
    """
    module = require("matplotlib.figure", "plots")
    figure = module.Figure(figsize=(width, height), layout="constrained")
    vars(figure).update(_repr_png_=partial(as_file, figure, "png"))
    return figure


def as_file(figure: Any, ending: str) -> bytes:
    """Return a figure as the content of a file: "png", "svg" or "pdf"."""
    file = io.BytesIO()
    figure.savefig(file, format=ending, dpi=110)
    return file.getvalue()


def short(number: float) -> str:
    """Return three digits of a number, without an exponent below a million: 2258 is "2260"."""
    return f"{float(f'{number:.3g}'):g}"


def marker_size(X: np.ndarray) -> float:
    """Return a marker area that keeps dense sets legible."""
    return float(np.clip(4000 / len(X), 3, 26))
