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

from modeshift.image.hierarchy import Hierarchy
from modeshift.image.public import filter, hierarchy, segment

__all__ = ["Hierarchy", "filter", "hierarchy", "segment"]
