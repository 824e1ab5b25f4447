"""``modeshift paper``: rerun the experiments of the paper and compare with its numbers."""

import argparse
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError, about

FEW = 40  # with fewer seeds a single one is more than 2.5%, the tail of the central 95%


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "paper",
        help="rerun the experiments of the stochastic mean-shift paper",
        description="Rerun every experiment of I. Lapidot, 'Stochastic mean-shift clustering' "
        "(arXiv 2312.15684), with many seeds, and compare the results with the published numbers. "
        "Writes results.json, tables.md, figures/ and report.html. The same command continues a "
        "run that was interrupted.",
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("paper"), metavar="DIR", help="folder (default: paper)")
    add("--seeds", type=_positive, metavar="N", help="number of seeds (default: 100; quick: 3)")
    add("--quick", action="store_true", help="a small run, under a minute (default: no)")
    add(
        "--calibrate",
        action="store_true",
        help="only search for h, Th1 and Th2, which the paper does not state; "
        "writes calibration.csv and setting.json (default: no)",
    )
    add(
        "--setting",
        type=Path,
        metavar="FILE",
        help="use this setting.json (default: the one in modeshift)",
    )
    add("--jobs", type=int, default=-1, metavar="N", help="processes (default: one for each core)")
    add("--force", action="store_true", help="replace a different run in DIR (default: no)")
    return parser


def run(options: argparse.Namespace) -> None:
    """Reproduce the paper, or calibrate."""
    if options.jobs == 0:
        raise UserError("--jobs must not be 0; give 1 or more, or -1 for all cores")
    if options.calibrate:
        _calibrate(options)
    else:
        _reproduce(options)


def _reproduce(options: argparse.Namespace) -> None:
    from modeshift.cli.progress import progress
    from modeshift.paper.cells import compare
    from modeshift.paper.claims import judge_claims
    from modeshift.paper.plan import FULL, QUICK
    from modeshift.paper.reproduce import reproduce

    plan = QUICK if options.quick else FULL
    if options.seeds is not None:
        plan = plan.with_seeds(options.seeds)
    settings = _read_settings(options.setting)
    with about("--out"):
        results = reproduce(
            options.out, plan, settings, watch=progress, jobs=options.jobs, force=options.force
        )
    cells = list(compare(results))
    inside = sum(cell.inside for cell in cells)
    print(f"{inside} of {len(cells)} published cells are in the central 95% of {plan.seeds} seeds")
    if plan.seeds < FEW:
        print(f"(fewer than {FEW} seeds are too few to judge by)")
    for verdict in judge_claims(results):
        print(f"{verdict.word:>14}: {verdict.claim}")
    print(f"report: {options.out / 'report.html'}")


def _calibrate(options: argparse.Namespace) -> None:
    from modeshift.cli.progress import progress
    from modeshift.paper.calibrate import FULL_SEARCH, QUICK_SEARCH, calibrate, describe

    search = QUICK_SEARCH if options.quick else FULL_SEARCH
    if options.seeds is not None:
        search = search._replace(seeds=options.seeds)
    with about("--out"):
        best, judged = calibrate(
            options.out, search, watch=progress, jobs=options.jobs, force=options.force
        )
    print(describe(best, judged))
    print(f"table: {options.out / 'calibration.csv'}\nsetting: {options.out / 'setting.json'}")


def _read_settings(path: Path | None) -> Any:
    from modeshift.paper.setting import load_settings

    try:
        return load_settings(path)
    except FileNotFoundError:
        raise UserError(
            f"--setting {path} does not exist; give a file that --calibrate wrote"
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise UserError(
            f"--setting {path} cannot be read ({error}); give a file that --calibrate wrote"
        ) from None


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number
