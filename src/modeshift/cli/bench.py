"""``modeshift bench``: time the estimators on this machine, in half a minute."""

import argparse
import json
from time import perf_counter
from typing import Any

from modeshift.cli.errors import UserError
from modeshift.cli.parameters import METHODS, class_name
from modeshift.cli.wording import user_errors

_BANDWIDTH = 0.8
_CLASS_SIZE = 1500  # points of each of the three classes of Set 4


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "time the estimators on this machine"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench",
        help=text,
        description=f"{text.capitalize()}: three Gaussian classes in the plane (Set 4 of the "
        f"paper), bandwidth {_BANDWIDTH:g}. Compiling the kernels is not timed. The full "
        "benchmark, against other programs, is 'make bench' in the source.",
    )
    parser.add_argument(
        "--sizes",
        default="1500,4500,15000,45000",
        metavar="N,N,...",
        help="numbers of points (default: 1500,4500,15000,45000)",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="threads, -1 for all cores (default: 1)"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, help="fits of each case; the fastest counts (default: 3)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON (default: a table)")
    return parser


def run(options: argparse.Namespace) -> None:
    """Time every estimator at every size, and print."""
    from modeshift.cli.progress import progress
    from modeshift.cli.summary import aligned
    from modeshift.report.summary import versions

    sizes = _sizes(options.sizes)
    if options.repeat < 1:
        raise UserError(f"--repeat must be at least 1, got {options.repeat}")
    cases = [(method, n) for n in sizes for method in METHODS]
    seconds: dict[str, dict[int, float]] = {method: {} for method in METHODS}
    for method, n in progress(cases, len(cases), "timing"):
        seconds[method][n] = _best(method, n, options.jobs, options.repeat)
    if options.json:
        print(json.dumps({"versions": versions(), "seconds": seconds}, indent=2))
        return
    head = ["points", *(f"{method}, s" for method in METHODS)]
    rows = [[f"{n:,}", *(f"{seconds[method][n]:.4f}" for method in METHODS)] for n in sizes]
    print("\n".join(aligned([head, *rows])))


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(size) for size in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 3:
        raise UserError(
            f"--sizes must be whole numbers of at least 3, separated by commas, got {text}"
        )
    return sizes


def _best(method: str, n: int, n_jobs: int, repeat: int) -> float:
    """Return the seconds of the fastest fit."""
    import modeshift
    from modeshift.datasets import make_paper_set

    X, _ = make_paper_set(4, scale=n / (3 * _CLASS_SIZE), random_state=0)
    estimator = getattr(modeshift, class_name(method))(bandwidth=_BANDWIDTH, n_jobs=n_jobs)
    if method == "stochastic":
        estimator.set_params(random_state=0)
    seconds = []
    with user_errors():
        estimator.fit(X[:: len(X) // 3])  # compiles
        for _ in range(repeat):
            started = perf_counter()
            estimator.fit(X)
            seconds.append(perf_counter() - started)
    return min(seconds)
