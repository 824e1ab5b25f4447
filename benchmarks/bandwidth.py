"""How good a bandwidth the estimators choose: ``python benchmarks/bandwidth.py --data PATH``.

Three parts: labelled sets (``PATH/benchmarks/*.npz``, keys X and y, y = 0 is noise), speaker
vectors (``PATH/speakers/*.npz``, keys X and speaker) with cosine distance, and data of one cluster,
which need no PATH. Each result is printed and kept as soon as it is there, in bandwidth.json.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from machine import facts
from modeshift import MeanShift, StochasticMeanShift, bandwidth_profile, estimate_bandwidth
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
    for part in ("sets", "null", "speakers"):
        if arguments.only in (None, part):
            known = results.setdefault(part, {})
            for name, row in PARTS[part](arguments.data, known):
                known[name] = row
                arguments.out.write_text(json.dumps(results, indent=1) + "\n")
                print(part, name, json.dumps(row), flush=True)
    print(summary(results))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder of the data")
    parser.add_argument("--only", choices=("sets", "speakers", "null"))
    out = Path(__file__).parent / "bandwidth.json"
    parser.add_argument("--out", type=Path, default=out, help="what is there is not run again")
    return parser.parse_args()


def files(data, folder, known):
    found = sorted((data / folder).glob("*.npz")) if data else []
    if not found:
        print(f"no data: give --data PATH with {folder}/*.npz", file=sys.stderr)
    fresh = [path for path in found if path.stem not in known]
    return sorted(fresh, key=lambda path: path.stat().st_size)


def rounded(value):
    return round(float(value), 4)


# Labelled sets


def sets(data, known):
    for path in files(data, "benchmarks", known):
        stored = np.load(path, allow_pickle=True)
        X, y = standardised(stored["X"].astype(float)), stored["y"]
        yield path.stem, one_set(X, y)


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def score(y, labels):
    """Adjusted Rand index without the noise of the ground truth."""
    return adjusted_rand_score(y[y != 0], labels[y != 0])


def one_set(X, y):
    row = {"n": len(X), "d": X.shape[1]}
    some = np.random.RandomState(0).permutation(len(X))[: 10_000 if len(X) > MANY else None]
    some = np.sort(some)
    wide = estimate_bandwidth(X, method="quantile")
    for name, make in ESTIMATORS.items():
        started = perf_counter()
        profile = bandwidth_profile(X, make())
        row[f"{name} choice s"] = rounded(perf_counter() - started)
        chosen = {"bandwidth": profile.bandwidth, "n_neighbors": profile.n_neighbors}
        started = perf_counter()
        fitted = make(**chosen).fit(X)
        row[f"{name} fit s"] = rounded(perf_counter() - started)
        row[name] = rounded(score(y, fitted.labels_))
        row[f"{name} clusters"] = int(fitted.labels_.max() + 1)
        row[f"{name} neighbours"] = profile.n_neighbors
        widths = profile.curves[0].bandwidths
        oracle = [score(y[some], make(bandwidth=h).fit_predict(X[some])) for h in widths]
        row[f"{name} oracle"] = rounded(max(oracle))
        row[f"{name} quantile"] = rounded(score(y, make(bandwidth=wide).fit_predict(X)))
        for method in ("normal", "neighbors"):
            h = estimate_bandwidth(X, method=method)
            row[f"{name} {method}"] = rounded(score(y, make(bandwidth=h).fit_predict(X)))
    for least in SMALLEST:
        peer = HDBSCAN(min_cluster_size=least, copy=True)
        row[f"HDBSCAN {least}"] = rounded(score(y[some], peer.fit_predict(X[some])))
    k = len(np.unique(y[y != 0]))
    row["k-means"] = rounded(score(y, KMeans(k, n_init=10, random_state=0).fit_predict(X)))
    row["mixture"] = rounded(score(y, mixture_labels(X, X[some], k)))
    return row


def mixture_labels(X, some, k):
    """Gaussian mixture with the number of components of the best BIC, up to 1.5 k + 5."""
    most = min(int(1.5 * k) + 5, len(some) // 5)
    tried = range(1, most + 1) if most <= 15 else np.unique(np.linspace(1, most, 12).astype(int))
    models = [GaussianMixture(c, reg_covar=1e-4, random_state=0).fit(some) for c in tried]
    return min(models, key=lambda model: model.bic(some)).predict(X)


# Speakers


def speakers(data, known):
    for path in files(data, "speakers", known):
        stored = np.load(path, allow_pickle=True)
        X = stored["X"].astype(float)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        y = np.unique(stored["speaker"], return_inverse=True)[1]
        yield path.stem, one_speaker_set(X, y)


def one_speaker_set(X, y):
    k = y.max() + 1
    row = {"n": len(X), "d": X.shape[1], "speakers": int(k)}
    for name, make in ESTIMATORS.items():
        estimator = make(metric="cosine")
        started = perf_counter()
        profile = bandwidth_profile(X, estimator)
        row[f"{name} choice s"] = rounded(perf_counter() - started)
        estimator.set_params(bandwidth=profile.bandwidth, n_neighbors=profile.n_neighbors)
        labels = estimator.fit_predict(X)
        row[name] = rounded(adjusted_rand_score(y, labels))
        row[f"{name} weighted K"] = rounded(k_score(y, labels, weighted=True))
        row[f"{name} clusters"] = int(labels.max() + 1)
        row[f"{name} neighbours"] = profile.n_neighbors
        row[f"{name} oracle"] = rounded(max(speaker_oracle(X, y, make, profile), key=float))
    linkage = AgglomerativeClustering(k, metric="cosine", linkage="average")
    row["average linkage, true k"] = rounded(adjusted_rand_score(y, linkage.fit_predict(X)))
    for least in (3, 5, 10):
        labels = HDBSCAN(min_cluster_size=least, copy=True).fit_predict(X)
        row[f"HDBSCAN {least}"] = rounded(adjusted_rand_score(y, labels))
    similar = np.exp(-(1.0 - X @ X.T) / 0.2)
    labels = SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(similar)
    row["spectral, true k"] = rounded(adjusted_rand_score(y, labels))
    return row


def speaker_oracle(X, y, make, profile):
    """Yield the adjusted Rand index of every second bandwidth with each number of neighbours."""
    looked_at = {curve.n_neighbors: curve for curve in profile.curves}
    whole = len(profile.rows) == len(X)
    for k in NEIGHBOURS:
        if whole and k in looked_at:
            for labels in looked_at[k].labels:
                yield adjusted_rand_score(y[profile.rows], labels)
            continue
        for h in profile.curves[0].bandwidths[::2]:
            settings = {"metric": "cosine", "bandwidth": h, "n_neighbors": k, "max_iter": 100}
            yield adjusted_rand_score(y, make(**settings).fit_predict(X))


# Data of one cluster

KINDS = {
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "heavy-tailed": lambda rng, n, d: (
        rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    ),
}
SEEDS = 10
POINTS = 400
WHOLE = 0.95
"""Share of the points that must be in the largest cluster: a few strays are allowed."""


def null(_, known):
    for d in (2, 8, 32):
        for kind, draw in KINDS.items():
            if f"{kind} {d}" in known:
                continue
            row = {}
            for name, make in ESTIMATORS.items():
                shares = []
                for seed in range(SEEDS):
                    X = draw(np.random.default_rng([seed, d]), POINTS, d)
                    labels = make().fit_predict(X)
                    shares.append(np.bincount(labels).max() / len(X))
                row[name] = int(np.sum(np.array(shares) >= WHOLE))
                row[f"{name} least share"] = rounded(min(shares))
            yield f"{kind} {d}", row


PARTS = {"sets": sets, "null": null, "speakers": speakers}


# Tables


def summary(results):
    lines = []
    if results.get("sets"):
        lines += set_table(results["sets"])
    if results.get("speakers"):
        lines += speaker_table(results["speakers"])
    if results.get("null"):
        lines += [f"\nOne cluster in so many of {SEEDS} seeds, n = {POINTS}:\n"]
        columns = ("data", "D", "S")
        rows = [{"data": name, **row} for name, row in results["null"].items()]
        lines += table(columns, rows)
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
