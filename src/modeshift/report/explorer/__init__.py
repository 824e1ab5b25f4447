"""The explorer: the points of a fit, and a slider for the bandwidth.

It is one component with three homes: the page of ``report.write``, the widget of
``report.explore``, and the site. A script (explorer.js and the files it imports) draws a content:

    content.py   the points, their axes, the climb and the clusters of the fit
    levels.py    the bandwidths of the profile, with the labels and the tree of clusters at each
    bundle.py    the script and the style as two texts
"""

from modeshift.report.explorer.bundle import script, style
from modeshift.report.explorer.content import make_explorer
from modeshift.report.explorer.levels import level_parameters, levels_of

__all__ = ["level_parameters", "levels_of", "make_explorer", "script", "style"]
