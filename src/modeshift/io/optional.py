"""Optional dependencies, imported where they are used."""

from importlib import import_module
from typing import Any


class NotInstalled(ImportError):
    """A package of an extra is not installed. The message says how to install it."""


def require(module: str, extra: str) -> Any:
    """Import a module of an extra; the error says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise NotInstalled(
            f"This needs {module.split('.')[0]}, which is not installed. Install it: "
            f"pip install 'modeshift[{extra}]'"
        ) from error
