"""The report: one HTML page that works offline, with a map and an animation of the climb.

fitted estimator, points, frames of the climb -> a described fit (fits.py, summary.py) ->
the explorer (explorer/) -> page.html, .css and .js (page.py), or a widget in a notebook (widget.py)
"""

from modeshift.report.climb import Camera
from modeshift.report.exploring import explore
from modeshift.report.writing import write

__all__ = ["Camera", "explore", "write"]
