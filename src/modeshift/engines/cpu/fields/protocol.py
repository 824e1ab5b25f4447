"""What a field can do, as functions that compiled schedules call.

A field keeps its data in a *state*: a named tuple of arrays, which Numba passes around like a C
struct, and of the rule that it follows. The operations below are generic functions of the state.
In Python they choose by the classes of the state and of its rule; in compiled code the same choice
is made while compiling, so a schedule that is written once becomes one loop per kind of field and
rule, with nothing left to look up.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from modeshift.engines.cpu.jit import kernel
from modeshift.engines.rule import land

SCRATCH = 64
"""Numbers that ``out`` holds at least behind the d coordinates of a mean: room to work in.

A step must not make arrays, and threads that share a state must not share their scratch.
"""

_TABLE: dict[tuple[str, type, type], Any] = {}


def mean_near(state, x, radius, out):
    """Write the mean of the points near ``x``, by the rule of the state, to ``out[:d]``.

    Returns their mass, the sum of their weights. With no mass the mean is ``x``: nothing attracts
    it. ``out`` comes from :func:`make_out`.
    """
    mass = average_near(state, x, radius, out)
    land(state.rule.space, x, out)
    return mass


def mean_of(state, j, radius, out):
    """Do the same for ``x`` = point ``j``: a field may know more about its own points."""
    mass = average_of(state, j, radius, out)
    land(state.rule.space, state.points[j], out)
    return mass


def average_near(state, x, radius, out):
    """Do what ``mean_near`` does, but for putting the mean to where points may be."""
    return _chosen("average_near", *_classes(state))(state, x, radius, out)


def average_of(state, j, radius, out):
    """Do the same for point ``j``; what fields do not implement asks ``average_near``."""
    return _chosen("average_of", *_classes(state))(state, j, radius, out)


def move(state, j, x):
    """Put point ``j`` to ``x[:d]``."""
    _chosen("move", *_classes(state))(state, j, x)


def wants_care(state):
    """Return whether a schedule should let Python ``tend`` the field before the next step."""
    return _chosen("wants_care", *_classes(state))(state)


def _ask_at_point(state, j, radius, out):
    return average_near(state, state.points[j], radius, out)


def _never(state):
    return False


_DEFAULTS: dict[str, Callable] = {"average_of": _ask_at_point, "wants_care": _never}


def _classes(state: Any) -> tuple[type, type]:
    return type(state), type(getattr(state, "rule", None))


def _chosen(operation: str, state_class: type, rule_class: type) -> Callable:
    """Return what implements an operation: for this rule, for any rule, or for any state."""
    for key in ((operation, state_class, rule_class), (operation, state_class, object)):
        if key in _TABLE:
            return _TABLE[key]
    if operation not in _DEFAULTS:
        raise TypeError(
            f"{state_class.__name__} is not the state of a field that can {operation} "
            f"by the rule {rule_class.__name__}"
        )
    return _DEFAULTS[operation]


def _source(operation: str, state_type: Any) -> Callable:
    """Source that an operation compiles to for a state of the given Numba type."""
    rule_type = state_type.types[state_type.fields.index("rule")]
    chosen = _chosen(operation, state_type.instance_class, rule_type.instance_class)
    return getattr(chosen, "py_func", chosen)


@overload(mean_near, jit_options={"forceinline": True})
def _compile_mean_near(state, x, radius, out):
    return mean_near


@overload(mean_of, jit_options={"forceinline": True})
def _compile_mean_of(state, j, radius, out):
    return mean_of


@overload(average_near, jit_options={"forceinline": True})
def _compile_average_near(state, x, radius, out):
    return _source("average_near", state)


@overload(average_of, jit_options={"forceinline": True})
def _compile_average_of(state, j, radius, out):
    return _source("average_of", state)


@overload(move, jit_options={"forceinline": True})
def _compile_move(state, j, x):
    return _source("move", state)


@overload(wants_care, jit_options={"forceinline": True})
def _compile_wants_care(state):
    return _source("wants_care", state)


def make_out(d: int, extra: int = 0) -> np.ndarray:
    """Make the array that means near a place are written to, with room to work in."""
    return np.empty(d + SCRATCH + extra)


def implements(operation: Callable, state_class: type, rule_class: type = object) -> Callable:
    """Register a function as an operation on one class of states, under one rule or under any."""

    def register(function: Callable) -> Any:
        compiled = kernel(function)
        _TABLE[operation.__name__, state_class, rule_class] = compiled
        return compiled

    return register
