"""``modeshift predict``: label new points with a model that ``cluster --model`` saved."""

import argparse
import sys
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError
from modeshift.cli.help import HelpFormatter
from modeshift.cli.screen import shown
from modeshift.cli.stream import predict_stream
from modeshift.cli.tables import (
    DATA_HELP,
    LabelWriter,
    add_caution_options,
    add_output_options,
    add_reading_options,
    add_role_options,
    check_places,
    label_place,
    read_points,
)
from modeshift.cli.wording import user_errors

_EXAMPLES = """

example:
  modeshift cluster old.csv --model model.npz
  modeshift predict model.npz new.csv --out new_labels.csv
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "label new points with a model that cluster --model saved"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "predict",
        help=text,
        description=f"{text.capitalize()}. Each new point climbs over the fitted points. The table "
        f"needs columns with the names of the fitted features.{_EXAMPLES}",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="file written by cluster --model")
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add_role_options(parser, "id")
    add_reading_options(parser)
    add_output_options(parser, "predicted")
    add_caution_options(parser)
    parser.add_argument(
        "--stream",
        action="store_true",
        help="read the table and write the labels in batches, in memory that does not grow with "
        "the rows; standard input too (default: no)",
    )
    return parser


def run(options: argparse.Namespace) -> None:
    """Read model and data, predict, write."""
    out = label_place(options, "predicted")
    check_places({"--out": out}, options)
    estimator, preparation = _load(options.model)
    if options.stream:
        _use_any_device(estimator)
        predict_stream(options, estimator, preparation, out)
        return
    source, table = read_points(options, preparation.columns)
    writer = LabelWriter(out, source, table, options.append)
    _use_any_device(estimator)
    with user_errors():
        labels = estimator.predict(preparation.apply(table.points))
    writer.write(labels)
    if not options.quiet:
        found = len(set(labels.tolist()) - {-1})
        screen = sys.stderr if out is None else sys.stdout
        dropped = f", {table.n_dropped:,} rows dropped" if table.n_dropped else ""
        print(
            f"{len(labels):,} points in {found:,} of {len(estimator.cluster_centers_):,} "
            f"clusters{dropped}",
            *([] if out is None else [shown(f"out: {out}")]),
            sep="\n",
            file=screen,
        )


def _use_any_device(estimator: Any) -> None:
    """Let a model of a GPU predict on a machine without one."""
    labels_new = getattr(estimator, "estimator_", estimator)
    if labels_new.device == "cuda":
        labels_new.set_params(device="auto")


def _load(path: Path) -> tuple[Any, Any]:
    from modeshift.cli.model import load_model

    try:
        return load_model(path)
    except (OSError, ValueError) as error:
        fact = f"{path}: {error.strerror}" if isinstance(error, OSError) else error
        raise UserError(f"MODEL {fact}") from error
