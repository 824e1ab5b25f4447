"""Pictures of data, paths, modes and clusters. Needs the extra ``modeshift[plots]``.

A function named after a thing returns a figure of it; ``draw_...(ax, ...)`` draws on given axes.
"""

from modeshift.plots.choice import bandwidth_profile, cluster_tree
from modeshift.plots.paper import draw_clusters, draw_paths, paper_panels
from modeshift.plots.scatter import clusters
from modeshift.plots.style import COLOURS

__all__ = [
    "COLOURS",
    "bandwidth_profile",
    "cluster_tree",
    "clusters",
    "draw_clusters",
    "draw_paths",
    "paper_panels",
]
