"""Compute on the active scheduler, with errors that name the remedy."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from modeshift.engines.dask.rows import Rows

_SHARE = 0.1  # share of a worker's memory for the chunk of one thread


def compute(thing: Any, rows: Rows) -> Any:
    """Compute a delayed object, or a list of them."""
    with _memory_errors_explained(rows):
        return rows.lookout.get(thing)


def persist(things: Sequence[Any], rows: Rows) -> list[Any]:
    """Start to compute delayed objects; their results stay on the workers."""
    with _memory_errors_explained(rows):
        return rows.lookout.persist(things)


@contextmanager
def _memory_errors_explained(rows: Rows) -> Iterator[None]:
    """Turn workers that run out of memory into an error that recommends a chunk size."""
    try:
        yield
    except Exception as error:
        if not (isinstance(error, MemoryError) or _is_killed_worker(error)):
            raise
        raise MemoryError(_advice(rows)) from error


def _is_killed_worker(error: Exception) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.KilledWorker)


def _advice(rows: Rows) -> str:
    """Return a sentence about the chunk size in use and a chunk size that would fit."""
    row_bytes = rows.points.shape[1] * rows.points.dtype.itemsize
    largest = np.max(np.asarray(rows.points.chunks[0], dtype=float))
    memory, threads = _smallest_worker()
    fitting = None if memory is None else max(1, int(_SHARE * memory / threads / row_bytes))
    if np.isnan(largest):
        used = f"chunks of unknown size ({rows.n_chunks} of them)"
        remedy = "Make smaller partitions (repartition, or blocksize= when reading)"
        if fitting is not None:
            remedy += f", of about {fitting:,} rows"
    else:
        used = f"chunks of up to {int(largest):,} rows ({largest * row_bytes / 2**20:,.0f} MiB)"
        smaller = max(1, int(largest) // 4)
        fitting = smaller if fitting is None else min(fitting, smaller)
        remedy = f"Use chunks of about {fitting:,} rows: X.rechunk(({fitting}, -1))"
    limit = ""
    if memory is not None:
        limit = f" of {memory / 2**20:,.0f} MiB for {threads} thread(s)"
    return (
        f"A worker{limit} ran out of memory or died several times, with {used}. {remedy}, or "
        "give the workers more memory. With resolution, the occupied cells must also fit into "
        "memory; a lower resolution has fewer cells."
    )


def _smallest_worker() -> tuple[int | None, int]:
    """Return memory limit and threads of the worker with the least memory per thread."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None, 1
    try:
        workers = distributed.default_client().scheduler_info(n_workers=-1)["workers"].values()
    except (ValueError, OSError):
        return None, 1
    limits = [(w["memory_limit"], w["nthreads"]) for w in workers if w["memory_limit"]]
    return min(limits, key=lambda pair: pair[0] / pair[1], default=(None, 1))
