"""The operations of a field, as functions that compiled schedules call.

A field keeps its data in a *state*: a named tuple of arrays and of a rule, which Numba passes
around like a C struct. The operations below are generic functions of the state. In Python they
dispatch on the classes of the state and its rule; in compiled code this happens at compile time. So
a schedule is written once and becomes one loop per kind of field and rule, without dispatch at run
time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from modeshift.engines.cpu.jit import kernel
from modeshift.engines.rule import land

SCRATCH = 320
"""Least length of the scratch space in ``out``, behind the d coordinates of a mean.

A step must not make arrays, and threads that share a state must not share scratch space.
"""

WASTE = -1
"""Place in ``out`` where queries count comparisons that a new index would save."""

_TABLE: dict[tuple[str, type, type], Any] = {}


def mean_near(state, x, radius, out):
    """Write the mean of the points near ``x``, by the rule of the state, to ``out[:d]``.

    Returns their mass, the sum of their weights. Without mass the mean is ``x``. ``out`` comes from
    :func:`make_out`.
    """
    mass = average_near(state, x, radius, out)
    land(state.rule.space, x, out)
    return mass


def mean_of(state, j, radius, out):
    """Do the same for ``x`` = point ``j``, which is faster in some fields."""
    mass = average_of(state, j, radius, out)
    land(state.rule.space, state.points[j], out)
    return mass


def average_near(state, x, radius, out):
    """Do the same as ``mean_near``, without putting the mean back on the sphere."""
    return _chosen("average_near", *_classes(state))(state, x, radius, out)


def average_of(state, j, radius, out):
    """Do the same for point ``j``. By default this calls ``average_near``."""
    return _chosen("average_of", *_classes(state))(state, j, radius, out)


def move(state, j, x):
    """Move point ``j`` to ``x[:d]``."""
    _chosen("move", *_classes(state))(state, j, x)


def note_waste(state, waste):
    """Note comparisons that a new index would have saved."""
    _chosen("note_waste", *_classes(state))(state, waste)


def wants_care(state):
    """Return whether the schedule should call ``Field.tend`` before the next step."""
    return _chosen("wants_care", *_classes(state))(state)


def _ask_at_point(state, j, radius, out):
    return average_near(state, state.points[j], radius, out)


def _never(state):
    return False


def _ignore(state, waste):
    return


_DEFAULTS: dict[str, Callable] = {
    "average_of": _ask_at_point,
    "note_waste": _ignore,
    "wants_care": _never,
}


def _classes(state: Any) -> tuple[type, type]:
    return type(state), type(getattr(state, "rule", None))


def _chosen(operation: str, state_class: type, rule_class: type) -> Callable:
    """Return the implementation of an operation: for this rule, any rule, or any state."""
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
    """Return the source of an operation for a state of the given Numba type."""
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


@overload(note_waste, jit_options={"forceinline": True})
def _compile_note_waste(state, waste):
    return _source("note_waste", state)


@overload(wants_care, jit_options={"forceinline": True})
def _compile_wants_care(state):
    return _source("wants_care", state)


def make_out(d: int, extra: int = 0) -> np.ndarray:
    """Return an array for a mean, with scratch space behind it and a count at its end."""
    return np.zeros(d + SCRATCH + extra + 1)


def implements(operation: Callable, state_class: type, rule_class: type = object) -> Callable:
    """Register a function as an operation on one class of states, under one rule or under any."""

    def register(function: Callable) -> Any:
        compiled = kernel(function)
        _TABLE[operation.__name__, state_class, rule_class] = compiled
        return compiled

    return register
