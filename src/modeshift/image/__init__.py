"""Images, volumes and video: mean-shift in space and colour together.

    from modeshift.image import segment, filter, hierarchy

    labels = segment(photo)               # 1 is the largest region, 0 is "no data"
    tree = hierarchy(photo)               # all levels at once
    tree.cut(20)                          # 20 regions

pixels -> plan     checked parameters, units (lattice), which pixels count (layout)
plan -> block      colours in whole units, plane by plane
block -> ends      the climb of every pixel (climb, window), or another schedule (joint)
ends -> regions    pixels that touch and whose modes are close; their graph
graph -> hierarchy the order in which regions join
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeshift.image import measures
    from modeshift.image.public import filter, hierarchy, segment
    from modeshift.image.tree import Hierarchy

__all__ = ["Hierarchy", "filter", "hierarchy", "measures", "segment"]

_PUBLIC = ("filter", "hierarchy", "segment")


def __getattr__(name: str) -> Any:
    """Load on first use: the command reads files before it waits for Numba."""
    if name == "measures":
        return import_module("modeshift.image.measures")
    if name == "Hierarchy":
        return import_module("modeshift.image.tree").Hierarchy
    if name in _PUBLIC:
        return getattr(import_module("modeshift.image.public"), name)
    raise AttributeError(f"module 'modeshift.image' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
