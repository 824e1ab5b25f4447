"""How good a bandwidth the estimators choose: ``python benchmarks/bandwidth.py --data PATH``.

Four parts: labelled sets (``PATH/benchmarks/*.npz``, keys X and y, y = 0 is noise), speaker vectors
(``PATH/speakers/*.npz``, keys X and speaker) with cosine distance, and two that need no PATH: data
of one cluster, and what the choice costs. Each result is printed and kept as soon as it is there,
in bandwidth.json; what is there is not measured again, but for the choices with ``--again``.
"""

import argparse
import json
import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from machine import facts
from modeshift import MeanShift, StochasticMeanShift, bandwidth_profile, estimate_bandwidth
from modeshift.choice.sample import draw_sample, pair_quantiles
from modeshift.metrics import k_score

SMALLEST = (5, 15, 50)
"""min_cluster_size of HDBSCAN; the best of them over all sets stands in the summary."""
MANY = 20_000
"""Points above which the oracle and the slow peers see a sample of 10,000."""
ESTIMATORS = {
    "D": lambda **settings: MeanShift(**settings),
    "S": lambda **settings: StochasticMeanShift(random_state=0, **settings),
}
NEIGHBOURS = (None, 5, 10, 20, 40)


def main():
    arguments = parse()
    warnings.simplefilter("ignore")  # runs that did not converge, and the peers' own
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    results["machine"] = facts()
    for part, measure in PARTS.items():
        if arguments.only in (None, part):
            known = results.setdefault(part, {})
            if arguments.again:
                forget_choices(known)
            for name, row in measure(arguments.data, known):
                known[name] = row
                arguments.out.write_text(json.dumps(results, indent=1) + "\n")
                print(part, name, json.dumps(row), flush=True)
    print(summary(results))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder of the data")
    parser.add_argument("--only", choices=list(PARTS))
    parser.add_argument("--again", action="store_true", help="measure the choices anew")
    out = Path(__file__).parent / "bandwidth.json"
    parser.add_argument("--out", type=Path, default=out, help="what is there is not run again")
    return parser.parse_args()


CHOICE = ("", " clusters", " neighbours", " weighted K", " choice s", " fit s", " least share")
"""Columns of an estimator that depend on how it chooses."""


def forget_choices(known):
    for row in known.values():
        for column in [name + ending for name in ESTIMATORS for ending in CHOICE]:
            row.pop(column, None)


def files(data, folder, known):
    """Yield name, content and the known columns of each set, small sets first."""
    found = sorted((data / folder).glob("*.npz")) if data else []
    if not found:
        print(f"no data: give --data PATH with {folder}/*.npz", file=sys.stderr)
    for path in sorted(found, key=lambda path: path.stat().st_size):
        yield path.stem, np.load(path, allow_pickle=True), dict(known.get(path.stem, {}))


def chosen(make, X, row, name):
    """Fit with nothing set, and note what was chosen and how long each part took."""
    make().fit(X[:100])  # compiles
    started = perf_counter()
    profile = bandwidth_profile(X, make())
    row[f"{name} choice s"] = rounded(perf_counter() - started)
    settings = {"bandwidth": profile.bandwidth, "n_neighbors": profile.n_neighbors}
    started = perf_counter()
    labels = make(**settings).fit_predict(X)
    row[f"{name} fit s"] = rounded(perf_counter() - started)
    row[f"{name} clusters"] = int(labels.max() + 1)
    row[f"{name} neighbours"] = profile.n_neighbors
    return labels


def widths(estimator, X):
    """25 bandwidths from "one neighbour" to "most points"."""
    sample = draw_sample(X, np.ones(len(X)), 1500, np.random.RandomState(0))
    ends = sample.in_user_units(pair_quantiles(sample, (1.0 / len(sample.rows), 0.6)))
    return [estimator._bandwidth_for(r, 0.0, X.shape[1]) for r in np.geomspace(*ends, 25)]


def rounded(value):
    return round(float(value), 4)


# Labelled sets


def sets(data, known):
    for name, stored, row in files(data, "benchmarks", known):
        before = dict(row)
        one_set(standardised(stored["X"].astype(float)), stored["y"], row)
        if row != before:
            yield name, row


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def score(y, labels):
    """Adjusted Rand index without the noise of the ground truth."""
    return adjusted_rand_score(y[y != 0], labels[y != 0])


def one_set(X, y, row):
    row.update({"n": len(X), "d": X.shape[1]})
    some = np.random.RandomState(0).permutation(len(X))[: 10_000 if len(X) > MANY else None]
    some = np.sort(some)
    for name, make in ESTIMATORS.items():
        if name not in row:
            row[name] = rounded(score(y, chosen(make, X, row, name)))
        if f"{name} oracle" not in row:
            fits = (make(bandwidth=h).fit_predict(X[some]) for h in widths(make(), X))
            row[f"{name} oracle"] = rounded(max(score(y[some], labels) for labels in fits))
        for method in ("quantile", "normal", "neighbors"):
            if f"{name} {method}" not in row:
                h = estimate_bandwidth(X, method=method)
                row[f"{name} {method}"] = rounded(score(y, make(bandwidth=h).fit_predict(X)))
    if "mixture" not in row:
        add_peers(X, y, some, row)


def add_peers(X, y, some, row):
    for least in SMALLEST:
        peer = HDBSCAN(min_cluster_size=least, copy=True)
        row[f"HDBSCAN {least}"] = rounded(score(y[some], peer.fit_predict(X[some])))
    k = len(np.unique(y[y != 0]))
    row["k-means"] = rounded(score(y, KMeans(k, n_init=10, random_state=0).fit_predict(X)))
    row["mixture"] = rounded(score(y, mixture_labels(X, X[some], k)))


def mixture_labels(X, some, k):
    """Gaussian mixture with the number of components of the best BIC, up to 1.5 k + 5."""
    most = min(int(1.5 * k) + 5, len(some) // 5)
    tried = range(1, most + 1) if most <= 15 else np.unique(np.linspace(1, most, 12).astype(int))
    models = [GaussianMixture(c, reg_covar=1e-4, random_state=0).fit(some) for c in tried]
    return min(models, key=lambda model: model.bic(some)).predict(X)


# Speakers


def speakers(data, known):
    for name, stored, row in files(data, "speakers", known):
        before = dict(row)
        X = stored["X"].astype(float)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        one_speaker_set(X, np.unique(stored["speaker"], return_inverse=True)[1], row)
        if row != before:
            yield name, row


def one_speaker_set(X, y, row):
    k = y.max() + 1
    row.update({"n": len(X), "d": X.shape[1], "speakers": int(k)})
    for name, make in ESTIMATORS.items():
        make_one = partial(make, metric="cosine")
        if name not in row:
            labels = chosen(make_one, X, row, name)
            row[name] = rounded(adjusted_rand_score(y, labels))
            row[f"{name} weighted K"] = rounded(k_score(y, labels, weighted=True))
        if f"{name} oracle" not in row:
            row[f"{name} oracle"] = rounded(max(speaker_oracle(X, y, make_one)))
    if "spectral, true k" not in row:
        add_speaker_peers(X, y, k, row)


def speaker_oracle(X, y, make):
    """Yield the adjusted Rand index of every second bandwidth with each number of neighbours."""
    for k in NEIGHBOURS:
        for h in widths(make(), X)[::2]:
            labels = make(bandwidth=h, n_neighbors=k, max_iter=100).fit_predict(X)
            yield adjusted_rand_score(y, labels)


def add_speaker_peers(X, y, k, row):
    linkage = AgglomerativeClustering(k, metric="cosine", linkage="average")
    row["average linkage, true k"] = rounded(adjusted_rand_score(y, linkage.fit_predict(X)))
    for least in (3, 5, 10):
        labels = HDBSCAN(min_cluster_size=least, copy=True).fit_predict(X)
        row[f"HDBSCAN {least}"] = rounded(adjusted_rand_score(y, labels))
    similar = np.exp(-(1.0 - X @ X.T) / 0.2)
    labels = SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(similar)
    row["spectral, true k"] = rounded(adjusted_rand_score(y, labels))


# Data of one cluster

KINDS = {
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "heavy-tailed": lambda rng, n, d: (
        rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    ),
}
SEEDS = 10
POINTS = (400, 200, 1000)
WHOLE = 0.95
"""Share of the points that must be in the largest cluster: a few strays are allowed."""


def null(_, known):
    for d, n, kind in product((2, 8, 32), POINTS, KINDS):
        name = f"{kind}, d = {d}, n = {n}"
        row = dict(known.get(name, {}))
        for estimator, make in ESTIMATORS.items():
            if estimator not in row:
                shares = [largest_share(make(), KINDS[kind], n, d, seed) for seed in range(SEEDS)]
                row[estimator] = int(np.sum(np.array(shares) >= WHOLE))
                row[f"{estimator} least share"] = rounded(min(shares))
        if row != known.get(name):
            yield name, row


def largest_share(estimator, draw, n, d, seed):
    labels = estimator.fit_predict(draw(np.random.default_rng([seed, d]), n, d))
    return np.bincount(labels).max() / n


# Cost


def cost(_, known):
    """Yield how long choice and fit take in the plane: 12 round crowds."""
    for n in (10_000, 100_000, 1_000_000):
        if f"{n:,}" in known and "D choice s" in known[f"{n:,}"]:
            continue
        rng = np.random.default_rng(0)
        places = rng.uniform(0.0, 20.0, size=(12, 2))
        X = places[rng.integers(12, size=n)] + rng.normal(size=(n, 2))
        row = {}
        for name, make in ESTIMATORS.items():
            tries = []
            for _ in range(5 if n <= 100_000 else 1):
                chosen(make, X, row, name)
                tries.append((row[f"{name} choice s"], row[f"{name} fit s"]))
            row[f"{name} choice s"], row[f"{name} fit s"] = map(rounded, np.median(tries, axis=0))
        yield f"{n:,}", row


PARTS = {"sets": sets, "null": null, "cost": cost, "speakers": speakers}


# Tables


def summary(results):
    lines = []
    if results.get("sets"):
        lines += set_table(results["sets"])
    if results.get("speakers"):
        lines += speaker_table(results["speakers"])
    if results.get("null"):
        lines += [f"\nOne cluster in so many of {SEEDS} seeds:\n"]
        rows = [{"data": name, **row} for name, row in results["null"].items()]
        lines += table(("data", "D", "S"), rows)
    if results.get("cost"):
        lines += ["\nSeconds in the plane:\n"]
        rows = [{"n": n, **row} for n, row in results["cost"].items()]
        lines += table(("n", "D choice s", "D fit s", "S choice s", "S fit s"), rows)
    return "\n".join(lines)


def set_table(known):
    rows = [{"set": name, **row} for name, row in known.items()]
    mean = {key: mean_of(rows, key) for key in rows[0] if isinstance(rows[0][key], float)}
    hdbscan = max(SMALLEST, key=lambda least: mean[f"HDBSCAN {least}"])
    columns = ("set", "n", "D", "D oracle", "D quantile", "S", "S oracle", "S quantile",
               "S neighbours", f"HDBSCAN {hdbscan}", "k-means", "mixture")  # fmt: skip
    rows.append({"set": f"mean of {len(known)}", **mean, "n": ""})
    shares = [f"{name} {mean[name] / mean[f'{name} oracle']:.1%}" for name in ESTIMATORS]
    others = [f"{key} {mean[key]:.3f}" for key in mean if key.endswith(("normal", "neighbors"))]
    return [*table(columns, rows), "\nshare of the oracle: " + ", ".join(shares),
            "other rules, mean ARI: " + ", ".join(others) + "\n"]  # fmt: skip


def speaker_table(known):
    rows = [{"set": name, **row} for name, row in known.items()]
    mean = {key: mean_of(rows, key) for key in rows[0] if isinstance(rows[0][key], float)}
    columns = ["set", "n", "speakers"]
    for name in ESTIMATORS:
        columns += [name, f"{name} oracle", f"{name} weighted K", f"{name} clusters"]
        columns += [f"{name} neighbours"]
    columns += ["average linkage, true k", "HDBSCAN 3", "HDBSCAN 5", "HDBSCAN 10"]
    columns += ["spectral, true k"]
    rows.append({"set": f"mean of {len(known)}", **mean})
    shares = [f"{name} {mean[name] / mean[f'{name} oracle']:.1%}" for name in ESTIMATORS]
    return [*table(columns, rows), "\nshare of the oracle: " + ", ".join(shares) + "\n"]


def mean_of(rows, key):
    return float(np.mean([row[key] for row in rows]))


def table(columns, rows):
    head = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return head + ["| " + " | ".join(cell(row.get(c, "")) for c in columns) + " |" for row in rows]


def cell(value):
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
