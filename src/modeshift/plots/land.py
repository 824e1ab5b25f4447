"""The map below the points of a picture: land, and a grid of degrees."""

from typing import Any

import numpy as np

from modeshift.plots.maps import LEAST_SPAN_OF_LAND, Map, parallels_and_meridians, window

_LAND = {"facecolors": "#f1efe8", "edgecolors": "#c9c5b8", "linewidths": 0.6, "zorder": 0}
_GRID = {"color": "#e4e4e4", "linewidth": 0.6, "zorder": 0.5}


def draw_map(ax: Any, on_map: Map, places: np.ndarray) -> None:
    """Draw the land under places, and degrees at the axes; set the window and the aspect."""
    from matplotlib.collections import PolyCollection

    ends = window(on_map, places)
    if np.ptp(ends, axis=1).max() >= LEAST_SPAN_OF_LAND:
        turns = (-1, 0, 1) if on_map.period else (0,)
        rings = [ring + [turn * on_map.period, 0.0] for turn in turns for ring in on_map.land()]
        ax.add_collection(PolyCollection(rings, **_LAND), autolim=False)
    if on_map.pole:
        _draw_lines(ax, on_map, ends)
    else:
        ax.xaxis.set_major_locator(_locator(on_map.stretch))
        ax.xaxis.set_major_formatter(lambda x, _: degrees(x / on_map.stretch, "EW"))
        ax.yaxis.set_major_formatter(lambda y, _: degrees(y, "NS"))
        ax.grid(**_GRID)
    ax.set_xlim(*ends[0])
    ax.set_ylim(*ends[1])
    ax.set_aspect("equal", adjustable="box")


def degrees(value: float, sides: str) -> str:
    """Return degrees in words: 12.5° E."""
    turned = (value + 180.0) % 360.0 - 180.0 if sides == "EW" else value
    size = f"{abs(round(turned, 6)):g}°"
    if float(size[:-1]) in ((0.0, 180.0) if sides == "EW" else (0.0,)):
        return size
    return f"{size} {sides[turned < 0]}"


def _locator(stretch: float) -> Any:
    """Return round degrees of longitude, on an axis whose unit is a degree of latitude."""
    from matplotlib.ticker import Locator, MaxNLocator

    class Degrees(Locator):
        def __call__(self) -> Any:
            low, high = self.axis.get_view_interval()
            steps = [1, 1.5, 2, 3, 4.5, 5, 6, 9, 10] if high - low > 30 else None
            inner = MaxNLocator(7, **({} if steps is None else {"steps": steps}))
            return inner.tick_values(low / stretch, high / stretch) * stretch

    return Degrees()


def _draw_lines(ax: Any, on_map: Map, ends: np.ndarray) -> None:
    """Draw the lines of a map around a pole, with their names."""
    ax.set_xticks([])
    ax.set_yticks([])
    for name, line in parallels_and_meridians(on_map, ends):
        ax.plot(*line.T, **_GRID)
        place = line[len(line) // 2] if len(line) > 2 else line[1] * 0.6
        ax.annotate(name, place, fontsize=8, color="0.45", ha="center", va="center",
                    annotation_clip=True)  # fmt: skip
