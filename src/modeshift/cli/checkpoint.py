"""Where the checkpoint of a fit goes, if the options allow one."""

import argparse
from pathlib import Path
from typing import Any

from modeshift.cli.errors import UserError
from modeshift.cli.wording import in_options, user_errors
from modeshift.parameters import check_together


def checkpoint_place(
    options: argparse.Namespace, values: dict[str, Any], out: Path | None
) -> Path | None:
    """Return the path of the checkpoint, beside the labels; None if there is none.

    Parameters
    ----------
    options : Namespace
        Options of ``modeshift cluster``.
    values : dict
        All parameters of the estimator that are options.
    out : path or None
        Path of the labels; None: standard output.
    """
    wanted = _wanting_option(options)
    if out is None:
        if wanted is not None:
            raise UserError(
                f"{wanted} needs --out FILE, because the checkpoint is next to the labels"
            )
        return None
    place = out.with_suffix(".checkpoint")
    obstacle = _obstacle(values, place, options.runs)
    if obstacle is not None:
        if wanted is not None:
            raise UserError(f"{wanted} cannot be used here: {obstacle}; leave {wanted} out")
        return None
    _check_earlier_fit(options, place)
    return place


def _wanting_option(options: argparse.Namespace) -> str | None:
    """Return the option that asks for a checkpoint; None if there is none."""
    if options.resume:
        return "--resume"
    return None if options.checkpoint_every is None else "--checkpoint-every"


def _obstacle(values: dict[str, Any], place: Path, n_runs: int) -> str | None:
    """Return why these options do not go with a checkpoint; None if they do."""
    if n_runs > 1:
        return f"--runs {n_runs} makes several fits, and a checkpoint holds one"
    with user_errors():
        check_together(values)  # any later error is about the checkpoint
    checkpoint = {"checkpoint": place}
    try:
        check_together(values | checkpoint)
    except ValueError as error:
        reason, _, _remedy = str(error).partition(". ")  # the remedy names parameters, not options
        return in_options(reason)
    return None


def _check_earlier_fit(options: argparse.Namespace, place: Path) -> None:
    """Refuse to resume without a checkpoint, and to overwrite one of an earlier fit."""
    if options.resume:
        if not place.exists():
            raise UserError(
                f"--resume: there is no file {place}; leave --resume out to start from the data"
            )
    elif place.exists():
        if not options.force:
            raise UserError(
                f"{place} holds an earlier fit; continue it with --resume, or start again with "
                "--force"
            )
        place.unlink()
