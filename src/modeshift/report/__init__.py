"""The report: one HTML page that works offline, with a map and an animation of the climb.

fitted estimator, points, frames of the climb -> summary (summary.py) and content (content.py) ->
page.html, .css and .js (page.py)
"""

from modeshift.report.climb import Camera
from modeshift.report.writing import write

__all__ = ["Camera", "write"]
