"""What a field can do, as functions that compiled schedules call.

A field keeps its data in a *state*: a named tuple of arrays, which Numba passes around like a C
struct. The operations below are generic functions of the state. In Python they dispatch on
its class; in compiled code the same choice is made while compiling, so a schedule that is written
once becomes one loop per kind of field, with nothing left to look up.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from numba.extending import overload

from modeshift._jit import kernel

SCRATCH = 64
"""Numbers that ``out`` holds behind the d coordinates of a mean: room for a field to work in.

A step must not make arrays, and threads that share a state must not share their scratch.
"""


@singledispatch
def mean_near(state, x, radius, out):
    """Write the weighted mean of the points within ``radius`` of ``x`` to ``out[:d]``.

    Returns their mass, the sum of their weights. With no mass the mean is ``x``: nothing attracts
    it. ``out`` has ``d + SCRATCH`` entries.
    """
    raise TypeError(f"{type(state).__name__} is not the state of a field")


@singledispatch
def mean_of(state, j, radius, out):
    """Do the same for ``x`` = point ``j``: a field may know more about its own points."""
    return mean_near(state, state.points[j], radius, out)


@singledispatch
def move(state, j, x):
    """Put point ``j`` to ``x[:d]``."""
    raise TypeError(f"{type(state).__name__} is not the state of a field")


@singledispatch
def wants_care(state):
    """Return whether a schedule should let Python ``tend`` the field before the next step."""
    return False


def _implementation(operation: Any, state_type: Any) -> Callable:
    """Source that an operation compiles to for a state of the given Numba type."""
    state_class = getattr(state_type, "instance_class", object)
    chosen = operation.dispatch(state_class)
    return getattr(chosen, "py_func", chosen)


@overload(mean_near, jit_options={"forceinline": True})
def _mean_near(state, x, radius, out):
    return _implementation(mean_near, state)


@overload(mean_of, jit_options={"forceinline": True})
def _mean_of(state, j, radius, out):
    return _implementation(mean_of, state)


@overload(move, jit_options={"forceinline": True})
def _move(state, j, x):
    return _implementation(move, state)


@overload(wants_care, jit_options={"forceinline": True})
def _wants_care(state):
    return _implementation(wants_care, state)


def make_out(d: int) -> np.ndarray:
    """Make the array that means near a place are written to."""
    return np.empty(d + SCRATCH)


def implements(operation: Any, state_class: type) -> Callable:
    """Register a function as an operation on one class of states."""

    def register(function: Callable) -> Any:
        compiled = kernel(function)
        operation.register(state_class, compiled)
        return compiled

    return register
