"""Many lists of numbers in one array. Lists can grow without a new array."""

from typing import NamedTuple

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel


class Lists(NamedTuple):
    """Lists, one after the other in an array, each with some room to grow.

    Attributes
    ----------
    pool : (P,)
        The entries.
    starts, lengths, rooms : (A,)
        List a owns ``rooms[a]`` places of the pool from ``starts[a]`` on, and uses ``lengths[a]``.
    top : (1,)
        The first free place.
    """

    pool: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    rooms: np.ndarray
    top: np.ndarray


def make_lists(n_lists: int, n_entries: int) -> Lists:
    """Return empty lists with room for ``n_entries`` in total."""
    return Lists(
        pool=np.empty(n_entries, dtype=np.int32),
        starts=np.zeros(n_lists, dtype=np.int64),
        lengths=np.zeros(n_lists, dtype=np.int32),
        rooms=np.zeros(n_lists, dtype=np.int32),
        top=np.zeros(1, dtype=np.int64),
    )


@bare_kernel
def _with_room(length):
    return length + length // 4 + 16


@bare_kernel
def open_list(lists, a):
    """Empty list a and move it to the end, where it owns the rest of the pool until closed."""
    lists.starts[a] = lists.top[0]
    lists.lengths[a] = 0
    lists.rooms[a] = min(lists.pool.shape[0] - lists.top[0], np.iinfo(np.int32).max)


@bare_kernel
def close_list(lists, a):
    """Close an open list; it keeps room for a few more entries."""
    lists.rooms[a] = min(lists.rooms[a], _with_room(lists.lengths[a]))
    lists.top[0] += lists.rooms[a]


@bare_kernel
def append(lists, a, entry):
    """Add an entry to list a, which moves to the end if it is full; return whether it fitted."""
    if lists.lengths[a] == lists.rooms[a] and not _move_to_top(lists, a):
        return False
    lists.pool[lists.starts[a] + lists.lengths[a]] = entry
    lists.lengths[a] += 1
    return True


@bare_kernel
def _move_to_top(lists, a):
    length, top = lists.lengths[a], lists.top[0]
    room = _with_room(length)
    if top + room > lists.pool.shape[0]:
        return False
    for e in range(length):
        lists.pool[top + e] = lists.pool[lists.starts[a] + e]
    lists.starts[a], lists.rooms[a], lists.top[0] = top, room, top + room
    return True
