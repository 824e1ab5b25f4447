"""A two-minute tour: both algorithms on the paper's Sets 3 and 4, with the published numbers.

Run it with ``modeshift demo`` or ``make demo``.
"""

from functools import partial
from pathlib import Path
from typing import Any

from modeshift import plots
from modeshift.datasets import make_paper_set
from modeshift.io.write import write_whole
from modeshift.metrics import MEANINGS, PurityReport, purity_report
from modeshift.paper.published import ALGORITHMS, COLUMNS, PUBLISHED
from modeshift.paper.setting import load_settings, make_estimator


def fit_both(X: Any, seed: int) -> dict[str, Any]:
    """Fit the deterministic and the stochastic algorithm with the calibrated setting."""
    settings = load_settings()
    return {
        letter: make_estimator(letter, settings[letter], len(X), seed, record=True).fit(X)
        for letter in ALGORITHMS
    }


def table(index: int, y: Any, fitted: dict[str, Any]) -> str:
    """Return a table of our seven columns and the published ones, for both algorithms."""
    lines = [f"Set {index}: {len(y)} points", f"{'':24s}" + "".join(f"{c:>9s}" for c in COLUMNS)]
    for letter, name in ALGORITHMS.items():
        lines.append(_row(f"{name}, ours", purity_report(y, fitted[letter].labels_)))
        lines.append(_row(f"{name}, published", PUBLISHED[index][letter]))
    return "\n".join(lines)


def _row(name: str, report: PurityReport) -> str:
    *shares, clusters = report
    return f"{name:24s}" + "".join(f"{share:9.2f}" for share in shares) + f"{clusters:9d}"


def show(folder: Path, seed: int) -> None:
    """Print the tables and write the pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    h, th1, th2, _ = load_settings()["S"]
    print(
        "Stochastic mean-shift clustering (I. Lapidot, arXiv 2312.15684): one run, one seed.\n"
        f"bandwidth {h:g}, Th1 {th1:g}, Th2 {th2:g} (calibrated: the paper does not state them)\n"
    )
    for index in (3, 4):
        X, y = make_paper_set(index, random_state=seed)
        fitted = fit_both(X, seed)
        print(table(index, y, fitted))
        picture = folder / f"set{index}.png"
        figure = plots.paper_panels(
            X, y, fitted["D"], fitted["S"], title=f"Set {index}, {len(y)} points"
        )
        write_whole(picture, partial(figure.savefig, format="png", dpi=110))
        print(f"picture: {picture}\n")
    print("\n".join(f"{column:8s}  {meaning}" for column, meaning in MEANINGS.items()))
