"""Find equal rows of numbers, by a hash of their bits."""

import numpy as np

from modeshift.engines.cpu.jit import bare_kernel, kernel


@bare_kernel
def hash_row(row):
    """Mix the bits of the numbers in a row."""
    mixed = np.uint64(14695981039346656037)
    bits = row.view(np.uint64)
    for k in range(row.shape[0]):
        mixed = (mixed ^ bits[k]) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


@kernel
def number_rows(rows):
    """Number the distinct rows by first appearance; return numbers and first appearances.

    A hash table with open addressing: the entry of a row is its number.
    """
    n = rows.shape[0]
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    numbers = np.empty(n, dtype=np.int64)
    firsts = np.empty(n, dtype=np.int64)
    n_distinct = 0
    for i in range(n):
        entry = np.int64(hash_row(rows[i]) & np.uint64(size - 1))
        while table[entry] >= 0 and not _same(rows, firsts[table[entry]], rows, i):
            entry = (entry + 1) & (size - 1)
        if table[entry] < 0:
            table[entry] = n_distinct
            firsts[n_distinct] = i
            n_distinct += 1
        numbers[i] = table[entry]
    return numbers, firsts[:n_distinct].copy()


class RowTable:
    """Distinct rows, ready to be found. The hash table is built once."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        self._table = _enter(rows)

    def find(self, wanted: np.ndarray) -> np.ndarray:
        """Return the number of the equal row for each wanted row; -1 if there is none."""
        return _find(self._rows, self._table, wanted)


@kernel
def _enter(rows):
    n = rows.shape[0]
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    for i in range(n):
        entry = np.int64(hash_row(rows[i]) & np.uint64(size - 1))
        while table[entry] >= 0:
            entry = (entry + 1) & (size - 1)
        table[entry] = i
    return table


@kernel
def _find(rows, table, wanted):
    size = table.shape[0]
    found = np.empty(wanted.shape[0], dtype=np.int64)
    for i in range(wanted.shape[0]):
        entry = np.int64(hash_row(wanted[i]) & np.uint64(size - 1))
        while table[entry] >= 0 and not _same(rows, table[entry], wanted, i):
            entry = (entry + 1) & (size - 1)
        found[i] = table[entry]
    return found


@bare_kernel
def _same(rows, i, others, j):
    same = True
    for k in range(rows.shape[1]):
        same &= rows[i, k] == others[j, k]
    return same
