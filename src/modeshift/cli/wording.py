"""Messages of the library in the words of the command: options instead of parameters."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from modeshift.cli.errors import UserError, message_of
from modeshift.cli.parameters import option_of
from modeshift.parameters import names_where

_OPTIONS = {
    **{name: option_of(name) for name in names_where(in_command=True, in_signature=True)},
    "sample_weight": "--weight",
    "n_runs": "--runs",
    "half_life": "--half-life",
}
_NAMES = "|".join(sorted(_OPTIONS, key=len, reverse=True))
_LONG_NAMES = "|".join(name for name in _OPTIONS if "_" in name)
_VALUE = r"'[^']*'|\([^)]*\)|\[[^\]]*\]|[-+\w]+(?:\.\d+)?(?:e[-+]\d+)?"


def in_options(message: str) -> str:
    """Return a message of the library with options in place of parameters.

    ``name=value`` becomes ``--name value``. A name alone may be a common word (the bandwidth, the
    metric), so it is replaced only where it must be the parameter: at the beginning, after "leave"
    or another option, or if it has an underscore.
    """
    message = re.sub(rf"\b({_NAMES})=({_VALUE})", _setting, message)
    for before, names in (("^", _NAMES), ("[Ll]eave ", _NAMES), (r"(?<![-\w'])", _LONG_NAMES)):
        message = re.sub(rf"({before})({names})\b", _option, message)
    message = re.sub(rf"(--[-\w]+ or )({_NAMES})\b", _option, message)
    return re.sub(r"\bNone\b", "none", message)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn a TypeError or ValueError of the library into a :class:`UserError` about options."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UserError(in_options(message_of(error))) from error


def _option(match: re.Match[str]) -> str:
    return match[1] + _OPTIONS[match[2]]


def _setting(match: re.Match[str]) -> str:
    value = match[2].strip("'[]")
    if value.startswith("("):  # a pair
        value = value.strip("()").replace(", ", ":")
    return f"{_OPTIONS[match[1]]} {value.replace(', ', ',')}"
