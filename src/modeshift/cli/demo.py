"""``modeshift demo``: a two-minute tour."""

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "cluster the paper's Sets 3 and 4, print the tables, draw the pictures"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        help=text,
        description="Cluster the paper's Sets 3 and 4, print the tables and draw the pictures.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("demo"),
        metavar="DIR",
        help="folder for the pictures (default: demo)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed for the data and the steps (default: 0)"
    )
    return parser


def run(options: argparse.Namespace) -> None:
    """Print the tables and write the pictures."""
    from modeshift.paper.demo import show

    show(options.out, options.seed)
