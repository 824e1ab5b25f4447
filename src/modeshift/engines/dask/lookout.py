"""Wait for a cluster as long as it lives.

Dask waits forever for a scheduler that is silent while its connections stay open, for workers when
all of them are lost, and for results that cannot be fetched. Here the wait ends with an error. The
limit is the time after which Dask's scheduler gives up a silent worker
(``distributed.scheduler.worker-ttl``).
"""

import asyncio
import math
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import dask
from dask.base import get_scheduler
from dask.utils import parse_timedelta

_SECONDS_BETWEEN_LOOKS = 5.0
_SECONDS_TO_END = 1.0


class Lookout:
    """Computes on the active client, or on the default scheduler, and looks after the cluster.

    A cluster that has no worker yet is waited for: workers may be in a queue. A cluster that has
    lost all its workers is not.
    """

    def __init__(self) -> None:
        self._has_seen_workers = False
        self._client_id: str | None = None

    def get(self, thing: Any) -> Any:
        """Compute a delayed object or a list of them."""
        with _lost_work_explained():
            client = self._client()
            if client is None:
                return dask.compute(thing)[0]
            futures = client.compute(thing)
            several = isinstance(futures, list)
            found = client.sync(self._gather, client, futures if several else [futures])
            return found if several else found[0]

    def persist(self, things: Sequence[Any]) -> list[Any]:
        """Start to compute delayed objects; their results stay on the workers."""
        with _lost_work_explained():
            self._client()
            return list(dask.persist(*things))

    def _client(self) -> Any:
        """Return the active client, which must be that of the work before; None: there is none.

        Without a client Dask would go on here, with results that it does not have.
        """
        client = _active_client()
        if self._client_id not in (None, client and client.id):
            raise CancelledError
        self._client_id = client and client.id
        return client

    async def _gather(self, client: Any, futures: list[Any]) -> list[Any]:
        """Fetch results, or raise an error when the cluster is lost before they are there."""
        limit = parse_timedelta(dask.config.get("distributed.scheduler.worker-ttl")) or math.inf
        results = asyncio.ensure_future(client.gather(futures, asynchronous=True))
        results.add_done_callback(_look_at_error)
        watches = [
            asyncio.ensure_future(self._lost(client, limit)),
            asyncio.ensure_future(_out_of_reach(futures, limit)),
        ]
        try:
            done, _ = await asyncio.wait([results, *watches], return_when=asyncio.FIRST_COMPLETED)
            found: list[Any] = await (results if results.done() else done.pop())
            self._has_seen_workers = True
            return found
        finally:
            for watch in watches:
                watch.cancel()
            for future in futures:
                future.release()  # what waits for it ends, but for a transfer that stalls
            asyncio.get_running_loop().call_later(_SECONDS_TO_END, results.cancel)

    async def _lost(self, client: Any, limit: float) -> None:
        """Look again and again; return never, raise when the cluster is lost."""
        alive = time.monotonic()
        while True:
            await asyncio.sleep(_between_looks(limit))
            n_workers = await _n_workers(client, limit)
            self._has_seen_workers |= bool(n_workers)
            if n_workers or (n_workers == 0 and not self._has_seen_workers):
                alive = time.monotonic()
            elif time.monotonic() - alive > limit:
                raise ConnectionError(_silence(limit) if n_workers is None else _no_worker(limit))


async def _out_of_reach(futures: list[Any], limit: float) -> None:
    """Look again and again; raise when results that are ready do not come.

    Dask tries again without end, and for a moment each time the results are not ready. When they
    have to be computed again they are not ready for long.
    """
    first = last = -math.inf
    while True:
        await asyncio.sleep(_between_looks(limit))
        if all(future.status == "finished" for future in futures):
            now = time.monotonic()
            first = first if now - last < limit / 2 else now
            last = now
            if now - first > limit:
                raise ConnectionError(
                    f"Results of the Dask workers cannot be fetched for {limit:,.0f} s "
                    "(distributed.scheduler.worker-ttl). See that the scheduler can connect to the "
                    "ports of the workers, and call again."
                )


def _between_looks(limit: float) -> float:
    return min(_SECONDS_BETWEEN_LOOKS, limit / 8)


def _look_at_error(task: asyncio.Future) -> None:
    """Look at the error of a task that nobody waits for; asyncio would print it."""
    if not task.cancelled():
        task.exception()


async def _n_workers(client: Any, limit: float) -> int | None:
    """Return the number of workers; None if the scheduler gives no answer within a time."""
    try:
        answer = await asyncio.wait_for(client.scheduler.identity(n_workers=0), limit)
    except (TimeoutError, OSError):
        return None
    return answer["n_workers"]


def _active_client() -> Any:
    """Return the client that Dask would use; None for other schedulers and within tasks."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        distributed.get_worker()
    except ValueError:
        client = getattr(get_scheduler(), "__self__", None)
        return client if isinstance(client, distributed.Client) else None
    return None


@contextmanager
def _lost_work_explained() -> Iterator[None]:
    """Turn cancelled tasks into an error that names the remedy."""
    try:
        yield
    except Exception as error:
        if not (isinstance(error, CancelledError) or _is_closed_client(error)):
            raise
        raise ConnectionError(
            "Dask cancelled the work: the connection to its scheduler was lost, or the client was "
            "closed or restarted. Connect a client to a scheduler that runs, and call again."
        ) from error


def _is_closed_client(error: Exception) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.client.ClosedClientError)


def _silence(limit: float) -> str:
    return (
        f"The Dask scheduler has not answered for {limit:,.0f} s "
        "(distributed.scheduler.worker-ttl). See that it runs and can be reached, and call again."
    )


def _no_worker(limit: float) -> str:
    return (
        f"All workers of the Dask cluster were lost, and none has come for {limit:,.0f} s "
        "(distributed.scheduler.worker-ttl). Start workers, and call again."
    )
