"""``modeshift score``: compare clusters with known classes."""

import argparse
import json
from typing import Any

from modeshift.cli.errors import UserError
from modeshift.cli.help import HelpFormatter

_EXAMPLES = """

examples:
  modeshift score truth.csv points.labels.csv
  modeshift score points.csv points.labels.csv --truth class --id name
"""
_USUAL_NAMES = ("cluster", "label", "labels", "class", "y")


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "compare clusters with known classes"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "score",
        help=text,
        description=f"{text.capitalize()}: the paper's seven columns, K weighted by size, the "
        "adjusted Rand index and the normalised mutual information. All scores are between 0 and 1 "
        "(ARI may be negative), and 1 is best. A cluster of -1 is noise: each of its points counts "
        f"as a cluster of its own.{_EXAMPLES}",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("truth_file", metavar="TRUTH", help="table that holds the classes")
    parser.add_argument("predicted_file", metavar="PREDICTED", help="table that holds the clusters")
    for option, what in [("--truth", "classes"), ("--predicted", "clusters")]:
        parser.add_argument(
            option,
            metavar="COLUMN",
            help=f"column of the {what} (default: the only column, or the first that is named "
            f"{', '.join(_USUAL_NAMES)})",
        )
    parser.add_argument(
        "--id",
        metavar="COLUMN",
        help="column in both tables by which rows are matched (default: by their order)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (default: a table)")
    return parser


def run(options: argparse.Namespace) -> None:
    """Read both columns, compare, print."""
    from modeshift.cli.scores import score_labels, spelled_out

    truth = _read(options.truth_file, "--truth", options.truth, options.id)
    predicted = _read(options.predicted_file, "--predicted", options.predicted, options.id)
    scores = score_labels(*_paired(options, truth, predicted))
    if options.json:
        print(json.dumps(scores, indent=2))
    else:
        print("\n".join(spelled_out(scores)))


def _read(path: str, option: str, column: str | None, key: str | None) -> Any:
    """Return the column of labels, and the column of ids if there is one."""
    from modeshift.io.source import open_source, reading

    source = open_source(path)
    with reading(source.name, source.kind):
        names = source.frame.collect_schema().names()
    for name in (column, key):
        if name is not None and name not in names:
            raise UserError(f"{path} has no column {name!r}; it has {', '.join(names[:12])}")
    column = column or _usual_column(path, option, [name for name in names if name != key])
    with reading(source.name, source.kind):
        frame = source.frame.select([column, *([key] if key else [])]).collect()
    _check_classes(path, option, frame[column])
    return frame


def _check_classes(path: str, option: str, column: Any) -> None:
    """Refuse measurements: with a class for each value the scores would mean nothing."""
    numbers = column.cast(float, strict=False)
    fractions = numbers.filter(numbers.is_finite() & (numbers != numbers.round()))
    if len(fractions):
        raise UserError(
            f"column {column.name!r} of {path} holds {fractions[0]!r}, a measurement and no class; "
            f"choose a column of words or whole numbers with {option} COLUMN"
        )


def _usual_column(path: str, option: str, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    usual = [name for name in _USUAL_NAMES if name in names]
    if not usual:
        raise UserError(
            f"{path} has several columns ({', '.join(names[:12])}); choose one with {option} COLUMN"
        )
    return usual[0]


def _paired(options: argparse.Namespace, truth: Any, predicted: Any) -> tuple[Any, Any]:
    """Return class and cluster of each point."""
    import polars as pl

    if options.id is None:
        if truth.height != predicted.height:
            raise UserError(
                f"TRUTH {options.truth_file} has {truth.height:,} rows and PREDICTED "
                f"{options.predicted_file} has {predicted.height:,}; both must have the same "
                "points in the same order, or a common column --id COLUMN"
            )
        return truth.to_series(0), predicted.to_series(0)
    for name, frame in [(options.truth_file, truth), (options.predicted_file, predicted)]:
        doubled = frame[options.id].is_duplicated()
        if doubled.any():
            value = frame[options.id].filter(doubled)[0]
            raise UserError(
                f"{name}: column --id {options.id} has {value!r} twice; ids must be unique"
            )
    pairs = predicted.select(
        pl.col(options.id).cast(pl.String), pl.nth(0).alias("modeshift predicted")
    ).join(
        truth.select(pl.col(options.id).cast(pl.String), pl.nth(0).alias("modeshift truth")),
        on=options.id,
        how="left",
        maintain_order="left",
    )
    lonely = pairs["modeshift truth"].is_null()
    if lonely.any():
        raise UserError(
            f"{options.truth_file} has no class for {options.id} = "
            f"{pairs[options.id].filter(lonely)[0]!r} ({lonely.sum():,} such rows); give every "
            "point a class, or drop it"
        )
    return pairs["modeshift truth"], pairs["modeshift predicted"]
