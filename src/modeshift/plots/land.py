"""The map below the points of a picture: land, and a grid of degrees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modeshift.plots.maps import Map, MapAxis, has_land, parallels_and_meridians, window

_LAND: dict[str, Any] = {
    "facecolors": "#f1efe8",
    "edgecolors": "#c9c5b8",
    "linewidths": 0.6,
    "zorder": 0,
}
_GRID: dict[str, Any] = {"color": "#e4e4e4", "linewidth": 0.6, "zorder": 0.5}


def draw_map(ax: Any, axes: Sequence[MapAxis], points: np.ndarray) -> None:
    """Draw the land under points, and degrees at the axes; set the window and the aspect."""
    from matplotlib.collections import PolyCollection

    on_map, places = axes[0].map, points / np.array(axes[0].feature_scale)
    ends = window(on_map, places)
    if has_land(ends):
        turns = (-1, 0, 1) if on_map.period else (0,)
        shifts = [np.array([turn * on_map.period, 0.0]) for turn in turns]
        rings = [ring + shift for shift in shifts for ring in on_map.land()]
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
    return f"{size} {sides[int(turned < 0)]}"


def _locator(stretch: float) -> Any:
    """Return round degrees of longitude, on an axis whose unit is a degree of latitude."""
    from matplotlib.ticker import Locator, MaxNLocator

    class Degrees(Locator):
        def __call__(self) -> Any:
            axis: Any = self.axis
            low, high = (each / stretch for each in axis.get_view_interval())
            steps = [1, 1.5, 2, 3, 4.5, 6, 9, 10] if high - low > 30 else [1, 2, 2.5, 5, 10]
            return np.array(MaxNLocator(7, steps=steps).tick_values(low, high)) * stretch

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
