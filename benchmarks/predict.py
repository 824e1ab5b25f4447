"""How well new points are labelled: ``python benchmarks/predict.py --data PATH``.

Prints mean adjusted Rand indices with the true classes, for new draws of the paper's sets and for
the second halves of labelled sets (``PATH/benchmarks/*.npz``, keys X and y).
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set

ESTIMATORS = {
    "MeanShift": lambda **settings: MeanShift(**settings),
    "StochasticMeanShift": lambda **settings: StochasticMeanShift(random_state=0, **settings),
    "BlurringMeanShift": lambda **settings: BlurringMeanShift(**settings),
}
DRAWS, POINTS = 6, 1500


def nearest(k):
    return lambda model, X, new: KNeighborsClassifier(k).fit(X, model.labels_).predict(new)


def within_the_bandwidth(model, X, new):
    """Vote of all points within the bandwidth; the nearest point where there is none."""
    alone = -2
    voters = RadiusNeighborsClassifier(model.bandwidth_, outlier_label=alone)
    labels = voters.fit(X, model.labels_).predict(new)
    return np.where(labels == alone, nearest(1)(model, X, new), labels)


RULES = {
    "predict": lambda model, X, new: model.predict(new),
    "nearest": nearest(1),
    "5 nearest": nearest(5),
    "10 nearest": nearest(10),
    "20 nearest": nearest(20),
    "within h": within_the_bandwidth,
}


def some(X, y, seed):
    rows = np.random.RandomState(seed).permutation(len(X))[:POINTS]
    return X[rows], y[rows]


def paper_sets():
    for number in range(1, 8):
        for seed in range(DRAWS):
            fitted = some(*make_paper_set(number, random_state=seed), 0)
            new = some(*make_paper_set(number, random_state=seed + 1000), 1)
            yield str(number), fitted, new, {"bandwidth": 0.85}


def labelled_sets(data):
    for path in sorted((data / "benchmarks").glob("*.npz")):
        stored = np.load(path, allow_pickle=True)
        X, y = stored["X"].astype(float), stored["y"]
        if not (X.shape[1] <= 20 and len(X) >= 200):
            continue
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        rows = np.random.RandomState(0).permutation(len(X))[:2400]
        first, second = np.array_split(rows, 2)
        yield path.stem, (X[first], y[first]), (X[second], y[second]), {"significance": None}


def measure(cases):
    """Return the mean over the sets of the index of each rule and estimator, and of the fit."""
    scores = {}
    for name, (X, y), (new, truth), settings in cases:
        for kind, make in ESTIMATORS.items():
            model = make(**settings).fit(X)
            assert (model.predict(X) == model.labels_).mean() > 0.999
            row = {"fit": adjusted_rand_score(y, model.labels_)}
            for rule, label in RULES.items():
                row[rule] = adjusted_rand_score(truth, label(model, X, new))
            scores.setdefault(kind, {}).setdefault(name, []).append(list(row.values()))
    return {
        kind: np.mean([np.mean(rows, axis=0) for rows in by_set.values()], axis=0)
        for kind, by_set in scores.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder of the labelled sets")
    data = parser.parse_args().data
    warnings.simplefilter("ignore")  # runs that did not converge
    print("| data | estimator | fit |", " | ".join(RULES), "|")
    print("| --- | --- |" + " --- |" * (len(RULES) + 1))
    parts = {"paper's sets": paper_sets()} | (
        {"labelled sets": labelled_sets(data)} if data else {}
    )
    for part, cases in parts.items():
        for kind, row in measure(cases).items():
            print(f"| {part} | `{kind}` |", " | ".join(f"{value:.3f}" for value in row), "|")


if __name__ == "__main__":
    main()
