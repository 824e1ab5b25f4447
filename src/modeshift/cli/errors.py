"""Errors of the command: one line each, in terms of its options."""

from collections.abc import Iterator
from contextlib import contextmanager

from modeshift.io.errors import (
    ColumnTakenTwice,
    FileError,
    NoPlaces,
    NoWholeRow,
    PlaceTaken,
    TooLarge,
    ValueMissing,
    WhichArray,
)


class UserError(Exception):
    """An option or a file of the user cannot be used.

    The message is one line that names the option, its value and the remedy. The command prints it
    without a traceback and exits with code 2.
    """


REMEDIES: dict[type[FileError], str] = {
    ColumnTakenTwice: "name each column only once, in --columns, --id, --label or --weight",
    ValueMissing: "correct the file, choose other --columns, or drop such rows with --missing drop "
    "(docs/missing-values.md shows more ways)",
    NoWholeRow: "choose other --columns",
    NoPlaces: "name the columns with --columns LATITUDE,LONGITUDE",
    WhichArray: "name the array of the points: --columns NAME",
    TooLarge: "name fewer --columns, or read it in batches with --stream",
    PlaceTaken: "pass --force to replace it, or name another path",
}
"""Remedy for each error of the library, in terms of the command's options."""


def message_of(error: BaseException) -> str:
    """Return the message of an error, in one line and in terms of the command's options."""
    message = str(error)
    if isinstance(error, FileError) and type(error) in REMEDIES:
        message = f"{error.fact}; {REMEDIES[type(error)]}"
    return " ".join(message.split())


@contextmanager
def about(option: str) -> Iterator[None]:
    """Put the name of an option in front of errors about its file."""
    try:
        yield
    except FileError as error:
        raise UserError(f"{option} {message_of(error)}") from error
