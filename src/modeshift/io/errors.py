"""Errors about files. Each message is one line: the fact, and the remedy."""


class FileError(ValueError):
    """A file cannot be read, or cannot be written at its path.

    Parameters
    ----------
    fact : str
        What is wrong, with the file and the value.
    remedy : str
        What to do, in terms of this library. The command replaces it for some subclasses.
    """

    def __init__(self, fact: str, remedy: str = "") -> None:
        super().__init__(f"{fact}; {remedy}" if remedy else fact)
        self.fact = fact
        self.remedy = remedy


class ColumnTakenTwice(FileError):
    """A column is used twice, for example as a feature and as the weight."""


class ValueMissing(FileError):
    """A row has no finite number in a column that needs one."""


class NoPlaces(FileError):
    """A table has no columns of latitude and longitude."""


class WhichArray(FileError):
    """An NPZ file has several arrays, and it is not clear which one holds the points."""


class NoWholeRow(FileError):
    """Every row has a missing value."""


class PlaceTaken(FileError):
    """A file exists at the path of a result."""


class TooLarge(FileError):
    """A table does not fit into memory."""


class FileChanged(FileError):
    """A file was changed while it was read."""
