"""Errors about files. Each message is one line: the fact, and what to do."""


class FileError(ValueError):
    """A file, or the place for one, cannot be used.

    Parameters
    ----------
    fact : str
        What is wrong. It names the file and the value.
    remedy : str
        What to do, in terms of this library. The command has words of its own for some classes.
    """

    def __init__(self, fact: str, remedy: str = "") -> None:
        super().__init__(f"{fact}; {remedy}" if remedy else fact)
        self.fact = fact
        self.remedy = remedy


class ColumnTakenTwice(FileError):
    """A column is asked for twice, for example as a feature and as the weight."""


class ValueMissing(FileError):
    """A row has no finite number in a column that needs one."""


class NoWholeRow(FileError):
    """Every row lacks a value."""


class PlaceTaken(FileError):
    """The place for a result holds another file."""
