"""What the command says when it cannot go on: one line, in terms of its options."""

from collections.abc import Iterator
from contextlib import contextmanager

from modeshift.io.errors import ColumnTakenTwice, FileError, NoWholeRow, PlaceTaken, ValueMissing


class UserError(Exception):
    """Something that the user gave cannot be used.

    The message is one line that names the thing, its value and the remedy. The command prints it
    without a traceback and exits with code 2.
    """


REMEDIES: dict[type[FileError], str] = {
    ColumnTakenTwice: "name each column once, as a feature or as --id, --label or --weight",
    ValueMissing: "mend the file, choose other --columns, or leave such rows out with "
    "--missing drop",
    NoWholeRow: "choose other --columns",
    PlaceTaken: "pass --force to replace it, or name another place",
}
"""What to do about an error of the library, in terms of the command's options."""


def message_of(error: BaseException) -> str:
    """Return the message of an error, in one line and in terms of the command's options."""
    message = str(error)
    if isinstance(error, FileError) and type(error) in REMEDIES:
        message = f"{error.fact}; {REMEDIES[type(error)]}"
    return " ".join(message.split())


@contextmanager
def about(option: str) -> Iterator[None]:
    """Let errors about a file name the option that the file was given with."""
    try:
        yield
    except FileError as error:
        raise UserError(f"{option} {message_of(error)}") from error


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn what the library refuses into a :class:`UserError`: the user gave it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UserError(message_of(error)) from error
