"""Threads that share the work of one compiled loop, without returning to Python in between.

A loop whose parts take some microseconds cannot wake a thread for each of them. Here the *leader*,
the calling thread, hands out *jobs* of numbered shares; *helpers* on other threads wait inside
compiled code and take shares. The leader takes shares too, and goes on when all are done. It never
waits for a helper that has taken nothing, so a helper may come late, or not at all.
"""

import ctypes
import os
import time
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import numpy as np
from llvmlite import binding
from numba import types
from numba.extending import intrinsic, overload

from modeshift.engines.cpu.jit import bare_kernel
from modeshift.engines.cpu.parallel import with_helpers

_TICKET, _DONE = 0, 8
"""Places of both counters, on cache lines of their own."""

_COUNT = 16  # bits of the ticket for the next share, below as many for the number of shares
_MASK = 2**_COUNT - 1
_CLOSED = -1
_LOOKS = 256
"""Looks without work, some microseconds, after which a thread lets others have its core."""

_PATIENCE = 1 << 14
"""Looks without work, some milliseconds, after which a helper goes home."""


class Team(NamedTuple):
    """What the threads of a loop share.

    Attributes
    ----------
    counters : (16,)
        At ``_TICKET`` a number of three parts: the number of jobs so far, the number of shares of
        this job, and the next share. At ``_DONE`` the number of shares that are done.
    job : (1,)
        What is done now, a number that the loop chooses.
    size : int
        Number of threads.
    """

    counters: np.ndarray
    job: np.ndarray
    size: int


def make_team(size: int) -> Team:
    """Return a team of so many threads, the leader included."""
    return Team(np.zeros(16, dtype=np.int64), np.zeros(1, dtype=np.int64), size)


def run_team(team: Team, serve: Callable[[int], object]) -> None:
    """Call ``serve(0)`` on this thread, the leader, and ``serve(i)`` for i = 1, 2, ... on others.

    ``serve`` must release the GIL. The loop is closed when the leader returns.
    """
    team.counters[_TICKET] = team.counters[_DONE] = 0

    def lead() -> None:
        try:
            serve(0)
        finally:
            team.counters[_TICKET] = _CLOSED

    with_helpers(lead, serve, team.size - 1)


@bare_kernel
def open_job(team, job, n_shares):
    """Hand out a job of at most 32,767 shares. The one before must be done."""
    team.job[0] = job
    team.counters[_DONE] = 0
    jobs = (team.counters[_TICKET] >> 2 * _COUNT) + 1
    publish(team.counters, _TICKET, (jobs << 2 * _COUNT) | (n_shares << _COUNT))


@bare_kernel
def take_share(team):
    """Return the number of a share that is now the caller's; -1 if there is none to take."""
    while True:
        ticket = look(team.counters, _TICKET)
        share = ticket & _MASK
        if ticket == _CLOSED or share >= (ticket >> _COUNT) & _MASK:
            return -1
        if swap(team.counters, _TICKET, ticket, ticket + 1):
            return share


@bare_kernel
def finish_share(team):
    """Say that a share is done."""
    add(team.counters, _DONE, 1)


@bare_kernel
def wait_for_all(team):
    """Wait until all shares of the job are done."""
    n_shares = (look(team.counters, _TICKET) >> _COUNT) & _MASK
    looks = 0
    while look(team.counters, _DONE) < n_shares:
        looks += 1
        rest(looks)


@bare_kernel
def wait_for_share(team):
    """Return the number of a share that is now the caller's; -1 if the loop ends or has no work."""
    for looks in range(_PATIENCE):
        share = take_share(team)
        if share >= 0:
            return share
        if look(team.counters, _TICKET) == _CLOSED:
            return -1
        rest(looks)
    return -1


@bare_kernel
def rest(looks):
    """Wait a moment before the next look. On a busy machine the others may need this core."""
    if looks < _LOOKS:
        pause()
    else:
        give_way()


_LOCK = Lock()


def look(numbers, place):
    """Return a number that other threads change, and all that they wrote before it."""
    return numbers[place]


def publish(numbers, place, value):
    """Set a number for other threads, after all that this one wrote."""
    numbers[place] = value


def swap(numbers, place, expected, value):
    """Set a number if it is still the expected one; return whether it was."""
    with _LOCK:
        same = numbers[place] == expected
        if same:
            numbers[place] = value
        return bool(same)


def add(numbers, place, value):
    """Add to a number that other threads change, too."""
    with _LOCK:
        numbers[place] += value


def pause():
    """Do nothing for some cycles."""


def give_way():
    """Let another thread have this core, if one waits for it."""
    time.sleep(0)


@overload(look)
def _compile_look(numbers, place):
    return lambda numbers, place: _look(numbers, place)


@overload(publish)
def _compile_publish(numbers, place, value):
    return lambda numbers, place, value: _publish(numbers, place, value)


@overload(swap)
def _compile_swap(numbers, place, expected, value):
    return lambda numbers, place, expected, value: _swap(numbers, place, expected, value)


@overload(add)
def _compile_add(numbers, place, value):
    return lambda numbers, place, value: _add(numbers, place, value)


@overload(pause)
def _compile_pause():
    return lambda: _pause()


@overload(give_way)
def _compile_give_way():
    return lambda: _give_way()


def _address_of_yield() -> int | None:
    """Return where the system's function to give way is."""
    if os.name == "nt":
        function = ctypes.CDLL("kernel32").SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value


_YIELD = "modeshift_give_way"  # machine code from the cache finds the function by this name
binding.add_symbol(_YIELD, _address_of_yield())
_give_way = types.ExternalFunction(_YIELD, types.int32())

_WORD = 8  # bytes


@intrinsic
def _look(typing, numbers, place):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "seq_cst", _WORD)

    return types.int64(numbers, place), generate


@intrinsic
def _publish(typing, numbers, place, value):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], pointer, "seq_cst", _WORD)
        return context.get_dummy_value()

    return types.void(numbers, place, types.int64), generate


@intrinsic
def _swap(typing, numbers, place, expected, value):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        result = builder.cmpxchg(pointer, arguments[2], arguments[3], "seq_cst")
        return builder.extract_value(result, 1)

    return types.boolean(numbers, place, types.int64, types.int64), generate


@intrinsic
def _add(typing, numbers, place, value):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")
        return context.get_dummy_value()

    return types.void(numbers, place, types.int64), generate


@intrinsic
def _pause(typing):
    def generate(context, builder, signature, arguments):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


def _pointer(context, builder, signature, arguments):
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])
