"""100,000,000 points in batches on one core: ``python benchmarks/streams.py [n]``.

A process of its own adds the batches with ``partial_fit`` and prints its peak of memory. The loop
that adds points to cells (``CellSums.add``, which every fit with ``resolution`` runs) gets the same
batches, in turns, as the pace to compare with. Then one fit of all points in memory checks the
centres and the labels of the stream.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from modeshift import MeanShift, load, save
from modeshift.engines.cpu.cell_sums import CellSums
from peak import peak_bytes

BATCH = 100_000
MIB = 2.0**20
_CENTERS = np.random.RandomState(0).uniform(-20.0, 20.0, size=(50, 2))


def batches(n):
    """Yield n points around 50 centres, batch by batch, always the same ones."""
    rng = np.random.default_rng(1)
    for start in range(0, n, BATCH):
        m = min(BATCH, n - start)
        yield _CENTERS[rng.integers(len(_CENTERS), size=m)] + rng.standard_normal((m, 2))


def estimator():
    return MeanShift(bandwidth=1.6, resolution=16, n_jobs=1)


def stream(n, path):
    """Add all batches and save the model; print seconds, cells and peak."""
    first = next(batches(BATCH))
    estimator().partial_fit(first).predict(first)  # compiles
    seconds = {"partial_fit": 0.0, "loop": 0.0, "clusters": 0.0, "predict": 0.0}
    model, sums, done = estimator(), CellSums(2, 0.1), 0
    for batch in batches(n):
        _timed(seconds, "partial_fit", model.partial_fit, batch)
        _timed(seconds, "loop", sums.add, batch, np.ones(len(batch)), done)
        done += len(batch)
    _timed(seconds, "clusters", getattr, model, "cluster_centers_")
    for batch in batches(n):
        _timed(seconds, "predict", model.predict, batch)
    print(*seconds.values(), len(sums), peak_bytes())
    save(model, path)


def _timed(seconds, name, call, *arguments):
    started = process_time()
    call(*arguments)
    seconds[name] += process_time() - started


def compare(n, path):
    """Return whether centres and labels of the stream are those of one fit."""
    fit = estimator().fit(np.concatenate(list(batches(n))))
    streamed = load(path)
    labels = np.concatenate([streamed.predict(batch) for batch in batches(n)])
    return (
        np.array_equal(streamed.cluster_centers_, fit.cluster_centers_),
        np.array_equal(labels, fit.labels_),
    )


def main(n):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        command = [sys.executable, __file__, str(n), str(path)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        added, loop, clusters, predicted, n_cells, peak = map(float, printed.split())
        print(f"{n:,} x 2 in batches of {BATCH:,}, {n_cells:,.0f} cells, one core")
        for what, seconds in (
            ("the loop that adds points to cells", loop),
            ("partial_fit", added),
            ("clusters of the cells", clusters),
            ("predict", predicted),
        ):
            print(f"| {what} | {seconds:.1f} s | {1e9 * seconds / n:.0f} ns |")
        print(f"speed of partial_fit: {loop / added:.2f} of the loop")
        print(f"memory of the process: {peak / MIB:.0f} MiB", flush=True)
        centers, labels = compare(n, path)
        print(f"centres equal those of one fit: {centers}; labels: {labels}")


if __name__ == "__main__":
    n_points = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    if len(sys.argv) > 2:
        stream(n_points, Path(sys.argv[2]))
    else:
        main(n_points)
