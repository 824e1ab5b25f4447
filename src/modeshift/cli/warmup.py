"""``modeshift warmup``: compile the usual kernels ahead, so that the first fits start at once."""

import argparse
import warnings
from time import perf_counter
from typing import Any

from modeshift.cli.errors import UserError
from modeshift.cli.parameters import METHODS, class_name

_KERNELS = ("flat", "gaussian")
_DIMENSIONS = "1,2,3,8,64"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "compile the usual kernels ahead"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "warmup",
        help=text,
        description=f"{text.capitalize()}, so that the first fits start at once. Kernels depend on "
        "the number of features and on options. This command compiles the three methods with the "
        "flat and the Gaussian kernel, with a given and with a chosen bandwidth, and predict. It "
        "takes some minutes, and nothing a second time. 'modeshift info' shows where kernels are "
        "kept.",
    )
    parser.add_argument(
        "--features",
        default=_DIMENSIONS,
        metavar="N,N,...",
        help=f"numbers of features (default: {_DIMENSIONS})",
    )
    return parser


def run(options: argparse.Namespace) -> None:
    """Fit small data in all usual ways; print what was compiled."""
    dimensions = _dimensions(options.features)
    from modeshift.cli.progress import progress
    from modeshift.cli.summary import aligned
    from modeshift.watching.compiling import COMPILATION

    cases = [(d, kernel) for d in dimensions for kernel in _KERNELS]
    rows = [["features", "kernel", "compiled", "seconds"]]
    before = COMPILATION.n_kernels
    with COMPILATION.silently():
        for d, kernel in progress(cases, len(cases), "compiling"):
            n_before, started = COMPILATION.n_kernels, perf_counter()
            for method in METHODS:
                _use(class_name(method), d, kernel)
            n_kernels = COMPILATION.n_kernels - n_before
            rows.append([str(d), kernel, str(n_kernels), f"{perf_counter() - started:.1f}"])
    print("\n".join(aligned(rows)))
    n_kernels = COMPILATION.n_kernels - before
    print(f"\n{n_kernels} kernels compiled" if n_kernels else "\nnothing to compile")


def _dimensions(text: str) -> list[int]:
    try:
        dimensions = [int(part) for part in text.split(",")]
    except ValueError:
        dimensions = []
    if not dimensions or min(dimensions) < 1:
        raise UserError(
            f"--features must be whole numbers of at least 1, separated by commas, got {text}"
        )
    return dimensions


def _use(name: str, d: int, kernel: str) -> None:
    """Fit two crowds with a chosen and with a given bandwidth, and label them."""
    import numpy as np

    import modeshift

    X = np.random.RandomState(0).normal(size=(80, d)) + 10.0 * (np.arange(80) % 2)[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the clusters do not matter
        for bandwidth in (None, 4.0 * d**0.5):
            estimator = getattr(modeshift, name)(bandwidth=bandwidth, kernel=kernel).fit(X)
            estimator.predict(X)
            estimator.score_samples(X)
