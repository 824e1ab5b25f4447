"""A program that fits on a Dask cluster: ``python distributed_fit.py KIND OUT ADDRESS``.

It writes labels and predictions to a file. If the cluster is lost it prints the error of the fit
and ends with 1; if only the labels can no longer be fetched, it ends with 2.
"""

import os
import sys
from concurrent.futures import CancelledError

import dask.array as da
import distributed
import numpy as np

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

KINDS = {
    "cells": StochasticMeanShift(resolution=4, random_state=0),
    "wander": StochasticMeanShift(bandwidth=3.0, batch_size=300, random_state=0),
    "blur": BlurringMeanShift(bandwidth=3.0),
    "climb": MeanShift(bandwidth=3.0),
}

SECONDS_TO_FETCH = 40.0


def points() -> np.ndarray:
    """Return four blobs."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(900, 2)) + 10 * rng.integers(2, size=(900, 2))


def main(kind: str, out: str, address: str) -> int:
    """Fit, fetch the labels, predict."""
    client = distributed.Client(address, timeout=60)
    client.wait_for_workers(2, timeout=60)
    X = points()
    try:
        fitted = KINDS[kind].fit(da.from_array(X, chunks=(300, 2)))
        predicted = fitted.predict(X[:50])
    except (ConnectionError, MemoryError) as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    try:  # by Dask alone, which may wait forever
        labels = client.compute(fitted.labels_).result(timeout=SECONDS_TO_FETCH)
    except (TimeoutError, CancelledError) as error:
        print(f"{type(error).__name__}: {error}")
        return 2
    np.savez(out, labels=labels, predicted=predicted)
    return 0


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # a client whose scheduler is silent takes long to close
