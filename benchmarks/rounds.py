"""What a round of a fit without compression costs: seconds, and bytes between workers."""

import time

import dask.array as da
import distributed
import numpy as np

from modeshift import StochasticMeanShift

CLASSES = 20


def make_points(n, d):
    rng = np.random.default_rng(0)
    centers = 4.0 * rng.standard_normal((CLASSES, d))
    return centers[rng.integers(CLASSES, size=n)] + rng.standard_normal((n, d))


def sent(client):
    """Bytes that all workers have sent so far."""
    totals = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(totals.values())


def seconds_of_tasks(stream, action):
    """What all workers together have spent computing, or waiting for data."""
    spans = [span for task in stream.data for span in task["startstops"]]
    return sum(span["stop"] - span["start"] for span in spans if span["action"] == action)


def measure_rounds(n=40_000, d=16, n_partitions=4):
    """One fit for each size of a batch, and the plain one beside it."""
    X = make_points(n, d)
    rows = []
    settings = {"bandwidth": 5.0, "random_state": 0}
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="2GiB", dashboard_address=":0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        chunked = da.from_array(X, chunks=(n // n_partitions, d)).persist()
        distributed.wait(chunked)
        StochasticMeanShift(batch_size=500, **settings).fit(chunked[: n // n_partitions])
        for batch_size in (1000, 4000, 20_000):
            estimator = StochasticMeanShift(batch_size=batch_size, **settings)
            started = time.perf_counter()
            plain = estimator.fit(X).labels_
            plain_s = time.perf_counter() - started
            before = sent(client)
            started = time.perf_counter()
            with distributed.get_task_stream() as stream:
                labels = estimator.fit(chunked).labels_.compute()
            fit_s = time.perf_counter() - started
            moved = sent(client) - before
            n_rounds = -(-estimator.n_steps_ // batch_size) + n_partitions  # the test of all points
            rows.append(
                {
                    "batch_size": batch_size,
                    "rounds": n_rounds,
                    "sweeps": estimator.n_iter_,
                    "fit_s": round(fit_s, 2),
                    "s_per_round": round(fit_s / n_rounds, 4),
                    "us_per_place": round(1e6 * fit_s / (estimator.n_steps_ + n), 2),
                    "mib_per_round": round(moved / n_rounds / 2**20, 3),
                    "bytes_per_place": round(moved / (estimator.n_steps_ + n)),
                    "computing_s": round(seconds_of_tasks(stream, "compute") / 2, 2),
                    "transfer_s": round(seconds_of_tasks(stream, "transfer") / 2, 2),
                    "plain_s": round(plain_s, 2),
                    "same_labels": bool(np.array_equal(labels, plain)),
                }
            )
    return {
        "points": n,
        "features": d,
        "partitions": n_partitions,
        "workers": 2,
        "batches": rows,
        "met": all(row["same_labels"] for row in rows),
    }
