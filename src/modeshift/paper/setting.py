"""The parameters that the paper does not state: h, Th1, Th2 and the number of quiet steps.

``setting.json`` in this folder holds the values found by calibration (see ``calibrate.py``).
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from modeshift import BlurringMeanShift, MeanShift
from modeshift.io.write import write_text
from modeshift.paper.literal import literal_or_verified

#: "B", blurring, is not in the paper; it is added as a third schedule.
ALGORITHMS = {"D": "deterministic", "S": "stochastic", "B": "blurring"}


class Setting(NamedTuple):
    """Parameters of one algorithm. Thresholds are absolute, as in the paper.

    Attributes
    ----------
    bandwidth : float
        h.
    th1 : float
        A step of at most this length is quiet.
    th2 : float
        Ends at most this far apart are joined.
    quiet : int or None
        The stochastic run stops after this number of quiet steps in a row. None: after n of them,
        and only if the next step of every point would be quiet.
    """

    bandwidth: float
    th1: float
    th2: float
    quiet: int | None = None


def make_estimator(algorithm: str, setting: Setting, n: int, seed: int, **more: Any) -> Any:
    """Return the estimator of an algorithm for n points.

    The thresholds of the estimators are fractions of the bandwidth.
    """
    parameters = {
        "bandwidth": setting.bandwidth,
        "tol": setting.th1 / setting.bandwidth,
        "merge_radius": setting.th2 / setting.bandwidth,
        **more,
    }
    if algorithm == "D":
        return MeanShift(**parameters)
    if algorithm == "B":
        return BlurringMeanShift(**parameters)
    return literal_or_verified(setting.quiet, n, random_state=seed, **parameters)


def load_settings(path: Path | None = None) -> dict[str, Setting]:
    """Return the setting of each algorithm; without a path, the setting in modeshift."""
    source = files("modeshift.paper") / "setting.json" if path is None else path
    table = json.loads(source.read_text(encoding="utf-8"))
    return {algorithm: Setting(**table[algorithm]) for algorithm in ALGORITHMS}


def save_settings(settings: dict[str, Setting], path: Path) -> None:
    """Write the setting of each algorithm as JSON."""
    table = {algorithm: setting._asdict() for algorithm, setting in settings.items()}
    write_text(path, json.dumps(table, indent=2) + "\n")
