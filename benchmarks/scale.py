"""Fits on Dask, measured: throughput, data beyond memory, numbers of workers, overhead, rounds.

    python benchmarks/scale.py [throughput parquet workers overhead rounds]

Prints a table and writes scale.json beside this file; parts that are not run keep their numbers.
"""

import argparse
import json
import resource
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np

from machine import facts
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.compress import join, tally
from modeshift.engines.cpu.units import to_units
from rounds import measure_rounds

RESULTS = Path(__file__).with_name("scale.json")
CENTERS = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
BANDWIDTH, RESOLUTION = 0.8, 8.0


def make_chunk(n, seed):
    """Three Gaussians, as in Set 4 of the paper."""
    rng = np.random.default_rng(seed)
    return CENTERS[rng.integers(3, size=n)] + 0.8 * rng.standard_normal((n, 2))


def generated(n, size):
    """The same chunks as a lazy array that is never stored."""
    return da.zeros((n, 2), chunks=(size, 2)).map_blocks(
        lambda block, block_id: make_chunk(len(block), block_id[0]),
        dtype=float,
        meta=np.empty((0, 2)),
    )


def estimator(estimator_class=StochasticMeanShift, **parameters):
    chance = {"random_state": 0} if estimator_class is StochasticMeanShift else {}
    return estimator_class(bandwidth=BANDWIDTH, resolution=RESOLUTION, **chance, **parameters)


def cluster(n_workers=2, memory_limit="1GiB"):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, memory_limit=memory_limit, dashboard_address=":0"
    )


def warm(n_workers):
    """Load the kernels in every worker."""
    X = generated(400_000, 400_000 // (4 * n_workers))
    estimator().fit(X).labels_.compute()


def peak_memory(client):
    """Most memory that a worker process has had, in MiB."""
    peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return round(max(peaks.values()) / 2**10)


def plain_loop(size, chunks, results):
    """Make chunks and compress them, one after the other, in one process."""
    side = BANDWIDTH * 2 / RESOLUTION  # in units of 1/2, in which the bandwidth is 1.6
    tally(make_chunk(1000, 0), np.ones(1000), side, 0)
    results.put("ready")
    total = None
    started = time.perf_counter()
    for chunk in chunks:
        points = to_units(make_chunk(size, chunk), -1)
        part = tally(points, np.ones(size), side, chunk * size)
        total = part if total is None else join([total, part])
    results.put((time.perf_counter() - started, len(total.keys)))


def time_plain_loop(n, size):
    """Seconds of two processes side by side, each with every second chunk."""
    context = get_context("spawn")
    results = context.Queue()
    n_chunks = n // size
    loops = [
        context.Process(target=plain_loop, args=(size, range(i, n_chunks, 2), results))
        for i in range(2)
    ]
    for loop in loops:
        loop.start()
    times = [answer[0] for answer in (results.get() for _ in range(4)) if answer != "ready"]
    for loop in loops:
        loop.join()
    return max(times)


def fit_and_label(X):
    """Return the fitted estimator and its seconds; size of its largest cluster and theirs."""
    started = time.perf_counter()
    fitted = estimator().fit(X)
    fit_s = time.perf_counter() - started
    started = time.perf_counter()
    largest = int((fitted.labels_ == 0).sum().compute())
    return fitted, fit_s, largest, time.perf_counter() - started


def throughput(n=200_000_000, size=2_000_000):
    """Compress and cluster chunks that are made on the way; the bar is 60% of the plain loop."""
    loops = [time_plain_loop(n, size)]
    with cluster() as workers, distributed.Client(workers) as client:
        warm(2)
        fitted, fit_s, largest, labels_s = fit_and_label(generated(n, size))
        peak = peak_memory(client)
    loops.append(time_plain_loop(n, size))
    loop_s = float(np.mean(loops))
    return {
        "points": n,
        "chunk_rows": size,
        "plain_loop_s": [round(x, 2) for x in loops],
        "fit_s": round(fit_s, 2),
        "labels_s": round(labels_s, 2),
        "throughput_of_plain_loop": round(loop_s / fit_s, 3),
        "points_per_second": round(n / fit_s),
        "clusters": len(fitted.cluster_centers_),
        "share_of_largest": round(largest / n, 4),
        "peak_worker_mib": peak,
        "worker_limit_mib": 1024,
        "met": loop_s / fit_s >= 0.6,
    }


def parquet(n=100_000_000, size=500_000, limit=600):
    """Fit a Parquet data set that is larger than the memory of all workers together."""
    with tempfile.TemporaryDirectory() as folder:
        frame = dd.from_dask_array(generated(n, size), columns=["x", "y"])
        with dask.config.set(scheduler="processes", num_workers=2):
            frame.to_parquet(folder, compression=None, write_index=False)
        stored = sum(file.stat().st_size for file in Path(folder).rglob("*.parquet"))
        with cluster(2, f"{limit}MiB") as workers, distributed.Client(workers) as client:
            warm(2)
            _, fit_s, largest, labels_s = fit_and_label(dd.read_parquet(folder))
            peak = peak_memory(client)
    return {
        "points": n,
        "stored_mib": round(stored / 2**20),
        "all_workers_limit_mib": 2 * limit,
        "peak_worker_mib": peak,
        "fit_s": round(fit_s, 2),
        "labels_s": round(labels_s, 2),
        "share_of_largest": round(largest / n, 4),
        "met": stored > 2 * limit * 2**20 and largest > 0,
    }


def workers(n=1_000_000, size=70_000):
    """Labels by 4 workers, by 1, by none, and of the plain fit, of all estimators."""
    classes = (MeanShift, StochasticMeanShift, BlurringMeanShift)
    X = generated(n, size)
    labels = {"plain": [estimator(each).fit(X.compute()).labels_ for each in classes]}
    labels["none"] = [estimator(each).fit(X).labels_.compute() for each in classes]
    for n_workers in (4, 1):
        with cluster(n_workers) as processes, distributed.Client(processes):
            labels[n_workers] = [estimator(each).fit(X).labels_.compute() for each in classes]
    same = {
        str(name): all(map(np.array_equal, found, labels["plain"]))
        for name, found in labels.items()
    }
    return {"points": n, "same_labels_as_plain": same, "met": all(same.values())}


def overhead(n=1_000_000, size=100_000):
    """Seconds that the Dask fit with all labels takes more than the plain one."""
    X = generated(n, size).compute()
    estimator().fit(X[:1000])
    with cluster() as processes, distributed.Client(processes):
        warm(2)
        chunked = generated(n, size).persist()
        distributed.wait(chunked)
        plain, ours = [], []
        for _ in range(5):
            started = time.perf_counter()
            estimator().fit(X)
            plain.append(time.perf_counter() - started)
            started = time.perf_counter()
            estimator().fit(chunked).labels_.compute()
            ours.append(time.perf_counter() - started)
    more = float(np.median(ours) - np.median(plain))
    return {
        "points": n,
        "plain_s": round(float(np.median(plain)), 3),
        "dask_s": round(float(np.median(ours)), 3),
        "overhead_s": round(more, 3),
        "met": more <= 3.0,
    }


PARTS = {
    "throughput": throughput,
    "parquet": parquet,
    "workers": workers,
    "overhead": overhead,
    "rounds": measure_rounds,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    chosen = parser.parse_args().parts
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in chosen:
        results[name] = {"machine": facts(), **PARTS[name]()}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(f"\n{name}")
        for key, value in results[name].items():
            if key != "machine":
                print(f"  {key:28} {value}")


if __name__ == "__main__":
    main()
