"""Text for a terminal: names of the user's files and columns may hold anything."""

from unicodedata import category


def shown(text: str) -> str:
    r"""Return text without characters that a terminal obeys; they become escapes such as ``\x1b``.

    Line ends stay. Bytes of file names that are no UTF-8 become escapes too: they cannot be
    printed.
    """
    return "".join(
        _escaped(letter) if category(letter)[0] == "C" and letter != "\n" else letter
        for letter in text
    )


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
