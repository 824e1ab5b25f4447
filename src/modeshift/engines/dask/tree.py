"""Tasks with names for the dashboard, and reductions by a tree of tasks."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import dask

_FAN_IN = 8  # number of results that a task joins


def new_token() -> str:
    """Return a mark that is different for each fit."""
    return uuid4().hex


def task(function: Callable, *arguments: Any, name: str, token: str, index: Any) -> Any:
    """Return the call of a pure function as a delayed task with a name.

    Other tasks must be arguments themselves, not in lists, because Dask would drop the futures in a
    list.
    """
    call = dask.delayed(function, pure=True, traverse=False)
    return call(*arguments, dask_key_name=f"modeshift-{name}-{token}-{index}")


def tree_reduce(parts: Sequence[Any], join: Callable[[list], Any], *, name: str, token: str) -> Any:
    """Join the results of many tasks, some at a time, until one remains."""
    level = 0
    parts = list(parts)
    while len(parts) > 1 or level == 0:
        parts = [
            task(
                _listed, join, *parts[i : i + _FAN_IN], name=name, token=token, index=f"{level}-{i}"
            )
            for i in range(0, len(parts), _FAN_IN)
        ]
        level += 1
    return parts[0]


def _listed(function: Callable[[list], Any], *parts: Any) -> Any:
    return function(list(parts))
