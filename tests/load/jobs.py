"""Small jobs of all kinds, and what each must give: the bits that it gives alone."""

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import modeshift
from modeshift import BlurringMeanShift, Consensus, MeanShift, StochasticMeanShift

Job = Callable[[], Any]

ESTIMATORS = (
    MeanShift(bandwidth=1.0),
    MeanShift(bandwidth=1.0, n_jobs=2),
    MeanShift(bandwidth=1.0, kernel="gaussian"),
    MeanShift(bandwidth=1.0, seeding="bins"),
    MeanShift(),
    StochasticMeanShift(bandwidth=1.0, random_state=0),
    StochasticMeanShift(bandwidth=1.0, random_state=0, batch_size=16, n_jobs=2),
    StochasticMeanShift(bandwidth=1.0, random_state=0, n_neighbors=9),
    BlurringMeanShift(bandwidth=1.0),
    BlurringMeanShift(bandwidth=1.0, resolution=2.0),
    Consensus(StochasticMeanShift(bandwidth=1.0), n_runs=3, random_state=0),
)


def points(n: int = 300, d: int = 2, seed: int = 0) -> np.ndarray:
    """Return four blobs."""
    rng = np.random.default_rng([seed, d])
    return rng.normal(size=(n, d)) + 5 * rng.integers(2, size=(n, d))


def make_jobs() -> list[Job]:
    """Return jobs with own estimators, and with estimators that all threads share."""
    jobs: list[Job] = []
    for estimator in ESTIMATORS:
        for d in (2, 7):
            X, new = points(d=d), points(50, d=d, seed=1)
            shared = clone(estimator).fit(X)
            jobs += [
                lambda estimator=estimator, X=X: clone(estimator).fit(X).labels_,
                lambda shared=shared, new=new: shared.predict(new),
                lambda shared=shared, new=new: shared.predict(new, outliers=-1),
            ]
            if not isinstance(estimator, Consensus):
                jobs += [
                    lambda shared=shared, new=new: shared.membership(new),
                    lambda shared=shared, new=new: shared.score_samples(new),
                ]
            jobs.append(lambda shared=shared, new=new: saved_and_loaded(shared).predict(new))
    return jobs


def be_quiet() -> None:
    """Ignore warnings in the whole process: threads cannot have filters of their own."""
    warnings.simplefilter("ignore")


def saved_and_loaded(estimator: Any) -> Any:
    """Return an estimator as a file keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        modeshift.save(estimator, path)
        return modeshift.load(path)
