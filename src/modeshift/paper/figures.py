"""The figures: those of the paper, and further ones.

Each algorithm has the same colour, marker and line style in every curve, so that curves are
distinct in greyscale. Maps run from dark to light.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from modeshift.datasets import make_paper_set, paper_set
from modeshift.io.optional import require
from modeshift.io.write import write_whole
from modeshift.paper.cells import FIELDS, central, is_inside
from modeshift.paper.claims import threshold_map
from modeshift.paper.plan import MAP_SETS, SETS
from modeshift.paper.published import COLUMNS, PUBLISHED
from modeshift.paper.results import Results
from modeshift.paper.setting import ALGORITHMS, Setting, make_estimator
from modeshift.plots import paper_panels

STYLES: dict[str, dict[str, Any]] = {
    "D": {"color": "#d55e00", "marker": "^", "linestyle": "--"},
    "S": {"color": "#0072b2", "marker": "o", "linestyle": "-"},
    "B": {"color": "#7f7f7f", "marker": "s", "linestyle": ":"},
    "T": {"color": "#009e73", "marker": "D", "linestyle": "-."},
}
_HOLLOW = {"linestyle": "", "markersize": 11, "fillstyle": "none", "mew": 1.8, "zorder": 5}
LABELS = {**ALGORITHMS, "T": "stochastic, every point tested"}
PANEL_SETS = (3, 4)
PANEL_SEED = 0
_SCHEMATIC_SEED = 3
_VISIBLE, _NUMBERED = 0.03, 0.12  # shorter steps are not drawn, or drawn without number
_MANY = 1000  # from this number of points on, panels are pixels in the SVG too


def all_figures(
    results: Results, settings: dict[str, Setting]
) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Return name, caption and function of each figure, in the order of reading."""
    seeds, few = results.parameters["seeds"], results.parameters["extra_seeds"]
    yield (
        "spread",
        f"Published numbers (crosses) against our spread over {seeds} seeds: the bar is the "
        "central 95%, the dot the median. A cross in a circle lies outside.",
        lambda: spread(results),
    )
    yield (
        "schematic",
        "Deterministic against stochastic, a real run of ten points. Above: every point climbs "
        "alone, over points that stay where they are (dots). Below: one point at a time takes one "
        "step, over positions that have moved already; the numbers give the order of the first "
        "ten steps, of which some are too short to number.",
        schematic,
    )
    for index in PANEL_SETS:
        yield (
            f"set{index}",
            f"Set {index}, one draw (seed {PANEL_SEED}).",
            lambda index=index: panels(index, settings),  # type: ignore[misc]
        )
    for index in MAP_SETS:
        yield (
            f"thresholds_set{index}",
            f"Set {index}: mean G and K over Th1 and Th2 ({few} seeds, h as calibrated). The frame "
            "marks the calibrated setting.",
            lambda index=index: thresholds(results, settings, index),  # type: ignore[misc]
        )
    yield (
        "size",
        f"Three classes with covariance 0.64 I, from 25 to 15,000 points each ({few} seeds): "
        "median and range of the seeds; large hollow marks are the published numbers of Sets 3, 2 "
        "and 4. The stochastic algorithm stops after a fixed number of quiet steps, as in the "
        "paper, or when every point has been tested, as in StochasticMeanShift.",
        lambda: size(results),
    )
    yield (
        "bandwidth",
        f"Over the bandwidth h, Th1 and Th2 unchanged ({few} seeds): median and range of the "
        "seeds. The vertical line is the calibrated h.",
        lambda: bandwidth(results, settings),
    )
    yield (
        "clusters",
        f"Clusters found against the true number of classes ({seeds} seeds): median and central "
        "95%; crosses are published.",
        lambda: clusters(results),
    )
    yield (
        "steps",
        f"Left: steps to convergence, per point ({seeds} seeds, median and central 95%). Right: "
        f"the same over the number of points ({few} seeds, median and range).",
        lambda: steps(results),
    )


def save(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as PNG and as SVG, the same bytes on every run."""
    matplotlib = require("matplotlib", "plots")
    png = partial(figure.savefig, format="png", dpi=90, metadata={"Software": None})
    svg = partial(figure.savefig, format="svg", metadata={"Date": None})
    with matplotlib.rc_context({"svg.hashsalt": name}):
        write_whole(folder / f"{name}.png", png)
        write_whole(folder / f"{name}.svg", svg)


def spread(results: Results) -> Any:
    """Published cells against the spread, a panel for each column of the tables."""
    figure, axes = _figure(2, 4, (15, 7.5))
    for ax, column, field in zip(axes.flat, COLUMNS, FIELDS, strict=False):
        for index in SETS:
            for algorithm, offset in (("D", -0.15), ("S", 0.15)):
                values = results.of("paper", set=index, algorithm=algorithm).column(field)
                published = getattr(PUBLISHED[index][algorithm], field)
                _bar(ax, index + offset, values, algorithm)
                _cross(ax, index + offset, published)
                if not is_inside(np.array(published), values):
                    ax.plot(index + offset, published, "o", ms=13, mfc="none", mec="black")
        ax.set(xlabel="set", ylabel=column, xticks=SETS)
    axes.flat[-1].axis("off")
    _legend(axes.flat[-1], ("D", "S"), published=True)
    return figure


def schematic() -> Any:
    """Paths of ten points under both algorithms."""
    X = np.array(
        [
            *([0, 0], [0.5, 0.4], [0.9, -0.2], [1.5, 0.3], [2.0, -0.1], [2.4, 0.5]),
            *([3.6, 0.9], [4.0, 0.3], [4.4, 0.9], [4.1, 1.4]),
        ]
    )
    setting = Setting(bandwidth=1.1, th1=0.02, th2=0.2)
    figure, axes = _figure(2, 1, (10, 8.4), sharex=True)
    for ax, algorithm in zip(axes.flat, ("D", "S"), strict=True):
        fitted = make_estimator(algorithm, setting, len(X), seed=_SCHEMATIC_SEED, record=True)
        fitted.fit(X)
        ax.plot(*X.T, "o", color="0.35", ms=8, zorder=3, label="start")
        for path in fitted.paths_:
            _draw_path(ax, path, STYLES[algorithm]["color"])
        ax.plot(*fitted.modes_.T, "x", color="black", ms=10, mew=2, zorder=4, label="end")
        ax.set(title=ALGORITHMS[algorithm].capitalize(), ylabel="$x_2$", ylim=(-0.55, 1.75))
        ax.set_aspect("equal")
    _number_steps(axes.flat[1], fitted.paths_)
    _show_radius(axes.flat[0], setting.bandwidth)
    axes.flat[0].legend(frameon=False, loc="upper left")
    axes.flat[1].set_xlabel("$x_1$")
    return figure


def _draw_path(ax: Any, path: np.ndarray, colour: str) -> None:
    for start, end in pairwise(path):
        if np.hypot(*(end - start)) > _VISIBLE:
            arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", xy=end, xytext=start, arrowprops=arrow)


def _number_steps(ax: Any, paths: list[np.ndarray]) -> None:
    """Number the steps of the first sweep of the stochastic run, in the middle of each arrow.

    The order of the draws is part of the contract of ``StochasticMeanShift``.
    """
    order = np.random.RandomState(_SCHEMATIC_SEED).randint(len(paths), size=len(paths))
    taken = np.zeros(len(paths), dtype=int)
    for number, j in enumerate(order, start=1):
        start, end = paths[j][taken[j]], paths[j][taken[j] + 1]
        taken[j] += 1
        if np.hypot(*(end - start)) > _NUMBERED:
            middle = (start + end) / 2
            ax.annotate(str(number), middle, xytext=(5, 5), textcoords="offset points", size=12)


def _show_radius(ax: Any, h: float) -> None:
    """Draw a bar as long as the bandwidth, in the lower right corner."""
    ax.plot([3.3, 3.3 + h], [-0.35, -0.35], "|-", color="black", ms=10)
    ax.text(3.3 + h / 2, -0.3, "h", ha="center", va="bottom")


def panels(index: int, settings: dict[str, Setting]) -> Any:
    """The paper's eight panels for one set."""
    X, y = make_paper_set(index, random_state=PANEL_SEED)
    both = [
        make_estimator(algorithm, settings[algorithm], len(X), PANEL_SEED, record=True).fit(X)
        for algorithm in ("D", "S")
    ]
    figure = paper_panels(X, y, *both, title=f"Set {index}, {len(y)} points")
    if len(y) >= _MANY:
        for ax in figure.axes:
            for drawn in ax.collections:
                drawn.set_rasterized(True)
    return figure


def thresholds(results: Results, settings: dict[str, Setting], index: int) -> Any:
    """Maps of G and K over Th1 and Th2, for D and S."""
    figure, axes = _figure(2, 2, (10.5, 8.5))
    ours = results.of("thresholds", set=index)
    th1s, th2s = ours.values("th1"), ours.values("th2")
    for row, algorithm in zip(axes, ("D", "S"), strict=True):
        for ax, field in zip(row, ("g", "k"), strict=True):
            table = threshold_map(results, field, index, algorithm)
            image = ax.imshow(table, origin="lower", cmap="cividis", vmin=0.5, vmax=1.0)
            _write_values(ax, table)
            _frame(ax, th1s, th2s, settings[algorithm])
            ax.set(
                title=f"{field.upper()}, {ALGORITHMS[algorithm]}",
                xlabel="Th2",
                ylabel="Th1",
                xticks=range(len(th2s)),
                xticklabels=[f"{th2:g}" for th2 in th2s],
                yticks=range(len(th1s)),
                yticklabels=[f"{th1:g}" for th1 in th1s],
            )
    figure.colorbar(image, ax=axes, label="mean over the seeds", shrink=0.6)
    return figure


def _write_values(ax: Any, table: np.ndarray) -> None:
    for (i, j), value in np.ndenumerate(table):
        shade = "white" if value < 0.75 else "black"
        ax.text(
            j,
            i,
            f"{value:.2f}"[1:] if value < 1 else "1",
            ha="center",
            va="center",
            color=shade,
            size=8,
        )


def _frame(ax: Any, th1s: list[float], th2s: list[float], setting: Setting) -> None:
    """Mark the square of the calibrated setting, if it is on the map."""
    if setting.th1 in th1s and setting.th2 in th2s:
        corner = (th2s.index(setting.th2) - 0.5, th1s.index(setting.th1) - 0.5)
        patches = require("matplotlib.patches", "plots")
        ax.add_patch(patches.Rectangle(corner, 1, 1, fill=False, ec="red", lw=2.5, clip_on=False))


def size(results: Results) -> Any:
    """G, K, ARI and clusters over the points per class."""
    figure, axes = _figure(1, 4, (17, 4.4))
    ours = results.of("size")
    totals = ours.values("points")
    for ax, (field, name) in zip(
        axes.flat,
        [("g", "G"), ("k", "K"), ("ari", "ARI"), ("n_clusters", "clusters")],
        strict=True,
    ):
        for letter, where in _schedules(results).items():
            values = [ours.column(field, points=n, **where) for n in totals]
            _curve(ax, [n / 3 for n in totals], values, letter)
        if field in FIELDS:
            for index in (2, 3, 4):
                for algorithm, row in PUBLISHED[index].items():
                    per_class = paper_set(index).sizes[0]
                    mark = {**STYLES[algorithm], **_HOLLOW}
                    ax.plot(per_class, getattr(row, field), **mark)
        ax.set(xscale="log", xlabel="points per class", ylabel=name, title=name)
        _plain_ticks(ax.xaxis, [25, 100, 500, 1500, 5000, 15000])
    axes.flat[-1].set_yscale("log")
    _plain_ticks(axes.flat[-1].yaxis)
    axes.flat[-1].axhline(3, color="black", lw=0.8)
    _legend(axes.flat[1], _schedules(results))
    return figure


def _schedules(results: Results) -> dict[str, dict[str, Any]]:
    """Return the records of each schedule. The stochastic one has both stopping rules."""
    quiet = results.parameters["settings"]["S"]["quiet"]
    mine: dict[str, dict[str, Any]] = {
        letter: {"algorithm": letter, "quiet": quiet if letter == "S" else None}
        for letter in ALGORITHMS
    }
    if quiet is not None:
        mine["T"] = {"algorithm": "S", "quiet": None}
    return mine


def bandwidth(results: Results, settings: dict[str, Setting]) -> Any:
    """G and clusters over h, a column for each set."""
    figure, axes = _figure(3, len(SETS), (19, 8), sharex=True, sharey="row")
    ours = results.of("bandwidth")
    hs = ours.values("bandwidth")
    for row, (field, name) in zip(
        axes, [("g", "G"), ("k", "K"), ("n_clusters", "clusters")], strict=True
    ):
        for ax, index in zip(row, SETS, strict=True):
            for algorithm in ("D", "S"):
                values = [
                    ours.column(field, bandwidth=h, set=index, algorithm=algorithm) for h in hs
                ]
                _curve(ax, hs, values, algorithm)
            ax.axvline(settings["S"].bandwidth, color="black", lw=0.8)
            if field == "n_clusters":
                ax.axhline(len(paper_set(index).sizes), color="black", lw=0.8)
                ax.set(yscale="log", xlabel="h")
                _plain_ticks(ax.yaxis)
        row[0].set_ylabel(name)
    for ax, index in zip(axes[0], SETS, strict=True):
        ax.set_title(f"Set {index}")
    _legend(axes[0, 0], ("D", "S"))
    return figure


def clusters(results: Results) -> Any:
    """Clusters found on each set."""
    figure, axes = _figure(1, 1, (9, 4.6))
    ax = axes.flat[0]
    for index in SETS:
        true = len(paper_set(index).sizes)
        ax.plot([index - 0.4, index + 0.4], [true, true], color="black", lw=2)
        for algorithm, offset in (("D", -0.22), ("S", 0.0), ("B", 0.22)):
            values = results.of("paper", set=index, algorithm=algorithm).column("n_clusters")
            _bar(ax, index + offset, values, algorithm)
            if algorithm in PUBLISHED[index]:
                _cross(ax, index + offset, PUBLISHED[index][algorithm].n_clusters)
    ax.set(yscale="log", xlabel="set", ylabel="clusters (line: true classes)", xticks=SETS)
    _plain_ticks(ax.yaxis)
    _legend(ax, ALGORITHMS, published=True)
    return figure


def steps(results: Results) -> Any:
    """Steps per point, by set and over the number of points."""
    figure, axes = _figure(1, 2, (13, 4.6))
    left, right = axes.flat
    for index in SETS:
        for algorithm, offset in (("D", -0.22), ("S", 0.0), ("B", 0.22)):
            ours = results.of("paper", set=index, algorithm=algorithm)
            _bar(left, index + offset, ours.column("steps") / ours.column("points"), algorithm)
    left.set(xlabel="set", ylabel="steps per point", xticks=SETS)
    sizes = results.of("size")
    totals = sizes.values("points")
    for letter, where in _schedules(results).items():
        values = [sizes.column("steps", points=n, **where) / n for n in totals]
        _curve(right, [n / 3 for n in totals], values, letter)
    right.set(xscale="log", xlabel="points per class", ylabel="steps per point")
    _plain_ticks(right.xaxis, [25, 100, 500, 1500, 5000, 15000])
    _legend(right, _schedules(results))
    return figure


def _figure(rows: int, columns: int, inches: tuple[float, float], **shared: Any) -> Any:
    figure = require("matplotlib.figure", "plots").Figure(figsize=inches, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def _plain_ticks(axis: Any, places: Any = (1, 2, 5, 10, 20, 50, 100, 200, 500)) -> None:
    """Label a logarithmic axis with plain numbers."""
    ticker = require("matplotlib.ticker", "plots")
    axis.set_major_locator(ticker.FixedLocator(places))
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axis.set_minor_locator(ticker.NullLocator())


def _bar(ax: Any, x: float, values: np.ndarray, algorithm: str) -> None:
    """Central 95% and median."""
    low, median, high = central(values)
    style = STYLES[algorithm]
    ax.plot([x, x], [low, high], color=style["color"], lw=3, alpha=0.6, solid_capstyle="butt")
    ax.plot(x, median, style["marker"], color=style["color"], ms=5)


def _curve(ax: Any, xs: list[float], values: list[np.ndarray], algorithm: str) -> None:
    """Median of the seeds, over a band from the smallest to the largest."""
    ax.plot(xs, [np.median(v) for v in values], ms=5, lw=1.5, **STYLES[algorithm])
    band = [v.min() for v in values], [v.max() for v in values]
    ax.fill_between(xs, *band, color=STYLES[algorithm]["color"], alpha=0.15, lw=0)


def _cross(ax: Any, x: float, y: float) -> None:
    ax.plot(x, y, "x", color="black", ms=7, mew=1.8, zorder=5)


def _legend(ax: Any, algorithms: Any, published: bool = False) -> None:
    lines = require("matplotlib.lines", "plots")
    handles = [lines.Line2D([], [], label=LABELS[name], **STYLES[name]) for name in algorithms]
    if published:
        handles.append(
            lines.Line2D([], [], color="black", marker="x", ls="", mew=1.8, label="published")
        )
    ax.legend(handles=handles, frameon=False)
