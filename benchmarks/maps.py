"""Maps: distances, turned longitudes, Fiji, and the cost: ``python benchmarks/maps.py [--data P]``.

``P`` is a folder with ``geonames_cities500.npz`` (234,908 places: longitude, latitude).
"""

import argparse
from pathlib import Path
from time import process_time

import numpy as np

from modeshift import MeanShift, StochasticMeanShift
from modeshift.globe import RADIUS, distances

DATA = Path("shared/data/scale")
KILOMETRES = 500.0
DEGREES = KILOMETRES / (2 * np.pi * RADIUS / 360.0)
RUNS = 3
TURNS = (0.1, 90.0, 180.0, -123.456)


def vincenty(a, b):
    """Distances by Vincenty's formula, which has no unit vectors."""
    (p, s), (q, t) = np.radians(a).T, np.radians(b).T
    turn = t - s
    opposite = np.hypot(
        np.cos(q) * np.sin(turn), np.cos(p) * np.sin(q) - np.sin(p) * np.cos(q) * np.cos(turn)
    )
    adjacent = np.sin(p) * np.sin(q) + np.cos(p) * np.cos(q) * np.cos(turn)
    return RADIUS * np.arctan2(opposite, adjacent)


def worst_distance(n=1_000_000):
    """Return the largest difference in metres: random, close and opposite places."""
    rng = np.random.default_rng(0)
    a = np.column_stack([np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)])
    b = a[rng.permutation(n)]
    close = np.column_stack([np.clip(a[:, 0] + rng.normal(0, 1e-4, n), -90, 90), a[:, 1] + 1e-4])
    opposite = np.column_stack([-close[:, 0], close[:, 1] + 180.0])
    return max(1e3 * np.abs(distances(a, c) - vincenty(a, c)).max() for c in (b, close, opposite))


def make(estimator, bandwidth, metric):
    model = estimator(bandwidth=bandwidth, metric=metric)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def cost(estimator, places):
    """Return the CPU seconds of both metrics, in turns, and the fitted models."""
    models = make(estimator, DEGREES, "euclidean"), make(estimator, KILOMETRES, "haversine")
    seconds = [[_seconds(model, places) for model in models] for _ in range(RUNS + 1)]
    return np.median(seconds[1:], axis=0), models  # the first run compiles


def _seconds(model, places):
    started = process_time()
    model.fit(places)
    return process_time() - started


def main(folder):
    print(f"distances of 3,000,000 pairs: at most {worst_distance():.1g} m from Vincenty's formula")
    with np.load(folder / "geonames_cities500.npz") as file:
        places, country = file["X"][:, ::-1].astype(np.float64), file["country"]
    fiji = places[country == "FJ"]
    for metric, bandwidth in (("haversine", KILOMETRES), ("euclidean", DEGREES)):
        labels = make(MeanShift, bandwidth, metric).fit_predict(fiji)
        print(f"Fiji alone, {metric}: {np.bincount(labels).tolist()} places")
    for estimator in (MeanShift, StochasticMeanShift):
        (plain, globe), models = cost(estimator, places)
        n_plain, n_globe = (len(model.cluster_centers_) for model in models)
        print(
            f"| {estimator.__name__} | {plain:.1f} s, {n_plain} clusters | {globe:.1f} s, {n_globe}"
            f" clusters | {globe / plain:.2f} |",
            flush=True,
        )
        labels = models[1].labels_[country == "FJ"]
        print(f"Fiji among all: {np.unique(labels, return_counts=True)[1].tolist()} places")
        for turn in TURNS:
            turned = make(estimator, KILOMETRES, "haversine").fit_predict(
                places + np.array([0.0, turn])
            )
            n_changed = int((turned != models[1].labels_).sum())
            print(f"turned by {turn} degrees: {n_changed} labels change", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    main(parser.parse_args().data)
