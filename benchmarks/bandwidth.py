"""How good a bandwidth the estimators choose: ``python benchmarks/bandwidth.py --data PATH``.

Parts: labelled sets (``PATH/benchmarks/*.npz``, keys X and y, y = 0 is noise), speaker vectors
(``PATH/speakers/*.npz``, keys X and speaker) with cosine distance, and parts that need no PATH: the
paper's sets, data without clusters, rounded data, blobs, and what the choice costs. Each result is
printed and kept as soon as it is there, in bandwidth.json. What is there is not measured again.
"""

import argparse
import json
import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from machine import facts
from modeshift import MeanShift, StochasticMeanShift, bandwidth_profile
from modeshift.datasets import make_paper_set
from modeshift.metrics import k_score

ESTIMATORS = {
    "D": lambda **settings: MeanShift(**settings),
    "S": lambda **settings: StochasticMeanShift(random_state=0, **settings),
}
SAMPLE = 1500
"""Points that an oracle sees at most."""
SPEAKERS = ("fsdd_seg5_dvectors", "librispeech_train_clean100_3s_dvectors", "fsdd_seg3_dvectors",
            "ami_ES2005a_xvectors", "librispeech_train_clean100_2s_dvectors",
            "librispeech_train_clean100_1s_dvectors")  # fmt: skip


def main():
    arguments = parse()
    warnings.simplefilter("ignore")  # runs that did not converge
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    for part in arguments.only or PARTS:
        known = results.setdefault(part, {})
        for name, row in PARTS[part](arguments, known):
            known[name] = row
            results["machine"] = facts()
            arguments.out.write_text(json.dumps(results, indent=1) + "\n")
            print(part, name, json.dumps({k: v for k, v in row.items() if "curve" not in k}),
                  flush=True)  # fmt: skip
    print(summary(results))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder of the data")
    parser.add_argument("--only", choices=list(PARTS), nargs="+")
    parser.add_argument("--draws", type=int, default=100, help="of each cell without clusters")
    out = Path(__file__).parent / "bandwidth.json"
    parser.add_argument("--out", type=Path, default=out, help="what is there is not run again")
    return parser.parse_args()


def files(data, folder, known):
    """Yield name and content of each set that is not known, small sets first."""
    found = sorted((data / folder).glob("*.npz")) if data else []
    if not found:
        print(f"no data: give --data PATH with {folder}/*.npz", file=sys.stderr)
    for path in sorted(found, key=lambda path: path.stat().st_size):
        if "S" not in known.get(path.stem, {}):
            yield path.stem, np.load(path, allow_pickle=True), dict(known.get(path.stem, {}))


def chosen(make, X, row, name):
    """Choose and fit, and note what was chosen and how long each part took."""
    make(bandwidth=1.0).fit(X[:100])  # compiles
    started = perf_counter()
    profile = bandwidth_profile(X, make())
    row[f"{name} choice s"] = rounded(perf_counter() - started)
    best = {"bandwidth": profile.best_bandwidth, "n_neighbors": profile.chosen.n_neighbors}
    started = perf_counter()
    labels = make(**best).fit_predict(X)
    row[f"{name} fit s"] = rounded(perf_counter() - started)
    row[f"{name} clusters"] = profile.n_clusters
    row[f"{name} neighbours"] = profile.chosen.n_neighbors
    row[f"{name} p"] = float(f"{profile.p_value:.2g}")
    return profile, labels


def widths(X, metric="euclidean"):
    """25 bandwidths from "one neighbour" to "most points"."""
    lengths = np.quantile(pdist(X), (1.0 / len(X), 0.6))
    radii = np.geomspace(max(lengths[0], 1e-9), lengths[1], 25)
    return 0.5 * radii**2 if metric == "cosine" else radii


def some_of(X, y):
    rows = np.sort(np.random.RandomState(0).permutation(len(X))[:SAMPLE])
    return X[rows], y[rows]


def rounded(value):
    return round(float(value), 4)


def standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def score(y, labels):
    """Adjusted Rand index without the noise of the ground truth."""
    return adjusted_rand_score(y[y != 0], labels[y != 0])


# Labelled sets


def sets(arguments, known):
    for name, stored, row in files(arguments.data, "benchmarks", known):
        X, y = standardised(stored["X"].astype(float)), stored["y"].astype(int)
        row.update({"n": len(X), "d": X.shape[1]})
        for estimator, make in ESTIMATORS.items():
            profile, labels = chosen(make, X, row, estimator)
            row[estimator] = rounded(score(y, labels))
            row[f"{estimator} curve"] = curve_of(profile, y)
            if f"{estimator} oracle" not in row:
                part, truth = some_of(X, y)
                fits = (make(bandwidth=h).fit_predict(part) for h in widths(part))
                row[f"{estimator} oracle"] = rounded(max(score(truth, labels) for labels in fits))
        yield name, row


def curve_of(profile, y):
    """Persistence, depth, effective number and ARI at each bandwidth; ARI only in many-D."""
    curve, rows = profile.chosen, []
    truth = np.repeat(y[profile.rows], profile.weights.astype(int))
    for i, labels in enumerate(curve.labels):
        shares = np.bincount(labels, weights=profile.weights) / profile.weights.sum()
        effective = np.exp(-(shares * np.log(shares)).sum())
        ari = score(truth, np.repeat(labels, profile.weights.astype(int)))
        rows.append([rounded(v) for v in (curve.persistence[i], curve.quality[i], effective, ari)])
    return rows if profile.dimension <= 4 else [rows[curve.best]]


def left_out(known, n_left, n_splits=400):
    """Share of the oracle on sets whose exponent and floor were chosen on the other sets."""
    pairs = list(product((0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5), (0.02, 0.05, 0.1, 0.2)))
    names = list(known)
    gained = {e: np.array([[picked(known[n][f"{e} curve"], *p) for n in names] for p in pairs])
              for e in ESTIMATORS}  # fmt: skip
    best = {e: np.array([known[n][f"{e} oracle"] for n in names]) for e in ESTIMATORS}
    rng = np.random.default_rng(1)
    totals = {e: np.zeros(2) for e in ESTIMATORS}
    for _ in range(n_splits):
        order = rng.permutation(len(names))
        out, rest = order[:n_left], order[n_left:]
        shares = sum(gained[e][:, rest].mean(axis=1) / best[e][rest].mean() for e in ESTIMATORS)
        i = int(np.argmax(shares))
        for e in ESTIMATORS:
            totals[e] += gained[e][i, out].sum(), best[e][out].sum()
    return {e: totals[e][0] / totals[e][1] for e in ESTIMATORS}


def picked(curve, exponent, floor):
    persistence, depth, effective, ari = np.array(curve).T
    return ari[np.argmax(persistence * (floor + depth) * effective**-exponent)]


# Speakers


def speakers(arguments, known):
    for name, stored, row in files(arguments.data, "speakers", known):
        if name not in SPEAKERS:
            continue
        X = stored["X"].astype(float)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        y = np.unique(stored["speaker"], return_inverse=True)[1]
        row.update({"n": len(X), "d": X.shape[1], "speakers": int(y.max() + 1)})
        for estimator, make in ESTIMATORS.items():
            make_one = partial(make, metric="cosine")
            _, labels = chosen(make_one, X, row, estimator)
            row[estimator] = rounded(adjusted_rand_score(y, labels))
            row[f"{estimator} weighted K"] = rounded(k_score(y, labels, weighted=True))
            if f"{estimator} oracle" not in row:
                row[f"{estimator} oracle"] = rounded(max(speaker_oracle(X, y, make_one)))
        yield name, row


def speaker_oracle(X, y, make):
    """Yield the adjusted Rand index of every second bandwidth with each number of neighbours."""
    for k, h in product((None, 5, 10, 20, 40), widths(X, "cosine")[::2]):
        yield adjusted_rand_score(y, make(bandwidth=h, n_neighbors=k, max_iter=100).fit_predict(X))


# The paper's sets

PAPER_DRAWS = range(700, 720)
"""Seeds that no constant was chosen on."""


def paper(_, known):
    for number in range(1, 8):
        if str(number) in known:
            continue
        draws = [make_paper_set(number, random_state=seed) for seed in PAPER_DRAWS]
        row = {}
        for estimator, make in ESTIMATORS.items():
            got, decided = [], []
            for X, y in draws:
                profile, labels = chosen(make, X, {}, estimator)
                got.append(adjusted_rand_score(y, labels))
                decided.append(not profile.one_cluster)
            fixed = max(
                np.mean([adjusted_rand_score(y, make(bandwidth=h).fit_predict(X))
                         for X, y in draws])
                for h in np.geomspace(0.4, 2.4, 9)
            )  # fmt: skip
            row[f"{estimator} more than one"] = rounded(np.mean(decided))
            row[f"{estimator} ARI"] = rounded(np.mean(np.where(decided, got, 0.0)))
            row[f"{estimator} ARI, decision off"] = rounded(np.mean(got))
            row[f"{estimator} best fixed h"] = rounded(fixed)
        yield str(number), row


# Data without clusters

KINDS = {
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "t3": lambda rng, n, d: rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
}


def null(arguments, known):
    """Yield how often there is more than one cluster; the decision of D is that of S."""
    for d, n, kind in product((1, 2, 3, 8, 32), (100, 500, 2000), KINDS):
        name = f"{kind}, d = {d}, n = {n}"
        row = dict(known.get(name, {"draws": 0, "wrong": 0}))
        if row["draws"] >= arguments.draws:
            continue
        for seed in range(row["draws"], arguments.draws):
            X = KINDS[kind](np.random.default_rng([seed, d, n, 16]), n, d)
            row["wrong"] += not bandwidth_profile(X, MeanShift()).one_cluster
        row["draws"] = arguments.draws
        yield name, row


# Rounded data, and blobs


def blobs(k, d, n, gap, seed):
    """k Gaussians of n points; each centre is ``gap`` to 1.3 ``gap`` from another one."""
    rng = np.random.default_rng([seed, k, d])
    centers = [np.zeros(d)]
    while len(centers) < k:
        way = rng.normal(size=d)
        way *= gap * rng.uniform(1.0, 1.3) / np.linalg.norm(way)
        center = centers[rng.integers(len(centers))] + way
        if min(np.linalg.norm(center - other) for other in centers) >= 0.999 * gap:
            centers.append(center)
    y = np.repeat(np.arange(k), n)
    return np.array(centers)[y] + rng.normal(size=(k * n, d)), y


def quantised(_, known):
    for step in (0.05, 0.1, 0.2, 0.5, 1.0):
        if str(step) in known:
            continue
        row = {}
        for estimator, make in ESTIMATORS.items():
            losses, found = [], []
            for k, d, gap, seed in product((2, 4), (1, 2, 3), (6.0, 9.0), (10, 11)):
                X, y = blobs(k, d, 200, gap, seed)
                exact = adjusted_rand_score(y, chosen(make, X, {}, estimator)[1])
                profile, labels = chosen(make, np.rint(X / step) * step, {}, estimator)
                losses.append(exact - adjusted_rand_score(y, labels))
                found.append(not profile.one_cluster)
            row[f"{estimator} within 0.05"] = rounded(np.mean(np.abs(losses) <= 0.05))
            row[f"{estimator} found"] = rounded(np.mean(found))
            row["sets"] = len(losses)
        yield str(step), row


def round_blobs(_, known):
    for n, gap in ((1000, 4.0), (200, 4.0), (100, 5.0), (50, 6.0)):
        name = f"{n} points, {gap:g} apart"
        if name in known:
            continue
        row = {}
        for estimator, make in ESTIMATORS.items():
            off, components = [], []
            for k, seed in product((2, 3, 5, 7, 10), (20, 21, 22, 23)):
                X, _ = blobs(k, 2, n, gap, seed)
                profile, labels = chosen(make, X, {}, estimator)
                beyond_dust = (np.bincount(labels) >= profile.smallest_cluster).sum()
                off.append((1 if profile.one_cluster else beyond_dust) - k)
                components.append(labels.max() + 1 - k)
            row[f"{estimator} within 1"] = rounded(np.mean(np.abs(off) <= 1))
            row[f"{estimator} every component, within 1"] = rounded(
                np.mean(np.abs(components) <= 1)
            )
            row["draws"] = len(off)
        yield name, row


# Cost


def cost(arguments, known):
    """Yield how long the choice takes: seconds of the clock and of the processor, best of 5."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0.0, 20.0, size=(12, 2))
    cases = {
        "10,000 points in 2-D": (places[rng.integers(12, size=10_000)]
                                 + rng.normal(size=(10_000, 2)), {}),
        "digits, 1,797 in 64-D": (load_digits().data, {}),
    }  # fmt: skip
    path = arguments.data / "speakers" / f"{SPEAKERS[-1]}.npz" if arguments.data else None
    if path is not None and path.exists():
        X = np.load(path, allow_pickle=True)["X"].astype(float)[:1500]
        cases["1,500 vectors in 256-D, cosine"] = (X, {"metric": "cosine"})
    for name, (X, settings) in cases.items():
        if name in known:
            continue
        row = {}
        for estimator, make in ESTIMATORS.items():
            times = []
            for _ in range(6):  # the first one compiles
                started, worked = perf_counter(), process_time()
                bandwidth_profile(X, make(**settings))
                times.append((perf_counter() - started, process_time() - worked))
            row[f"{estimator} s"], row[f"{estimator} processor s"] = map(
                rounded, np.min(times[1:], axis=0)
            )
        yield name, row


PARTS = {"sets": sets, "speakers": speakers, "paper": paper, "null": null,
         "quantised": quantised, "blobs": round_blobs, "cost": cost}  # fmt: skip


# Tables


def summary(results):
    lines = []
    if results.get("sets"):
        lines += set_table({n: row for n, row in results["sets"].items() if "S curve" in row})
    if results.get("speakers"):
        lines += ["\nSpeakers:\n", *means_table(results["speakers"], "speakers")]
    for part, title in (("paper", "The paper's sets, 20 draws"), ("quantised", "Rounded data"),
                        ("blobs", "Number of clusters beyond dust"),
                        ("cost", "Seconds of the choice")):  # fmt: skip
        if results.get(part):
            rows = [{"": name, **row} for name, row in results[part].items()]
            lines += [f"\n{title}:\n", *table(tuple(rows[0]), rows)]
    if results.get("null"):
        lines += null_table(results["null"])
    return "\n".join(lines)


def set_table(known):
    if not known:
        return []
    shares = [(left, left_out(known, left)) for left in (5, 10, 25) if left < len(known)]
    lines = [f"{len(known)} sets; left out, share of the oracle on the sample:"]
    lines += [f"{n} left out: D {share['D']:.3f}, S {share['S']:.3f}" for n, share in shares]
    for name in ESTIMATORS:
        alone = [row[name] * (row[f"{name} p"] <= 0.05) for row in known.values()]
        oracle = mean_of(known.values(), f"{name} oracle")
        lines.append(f"{name} decision on: share {np.mean(alone) / oracle:.3f}, "
                     f"off: {mean_of(known.values(), name) / oracle:.3f}")  # fmt: skip
    return [*lines, "", *means_table(known, "d")]


def means_table(known, third):
    columns = ["set", "n", third]
    for name in ESTIMATORS:
        columns += [name, f"{name} oracle", f"{name} clusters", f"{name} neighbours", f"{name} p"]
    rows = [{"set": name, **row} for name, row in known.items()]
    mean = {key: mean_of(rows, key) for e in ESTIMATORS for key in (e, f"{e} oracle")}
    shares = [f"{name} {mean[name] / mean[f'{name} oracle']:.1%}" for name in ESTIMATORS]
    rows.append({"set": f"mean of {len(known)}", **mean})
    return [*table(columns, rows), "\nshare of the oracle: " + ", ".join(shares)]


def null_table(known):
    rates = {name: row["wrong"] / row["draws"] for name, row in known.items()}
    lines = ["\nMore than one cluster, though there is one:\n"]
    columns = ("data", *KINDS, "draws")
    rows = []
    for d, n in product((1, 2, 3, 8, 32), (100, 500, 2000)):
        cells = {kind: f"{kind}, d = {d}, n = {n}" for kind in KINDS}
        if all(name in known for name in cells.values()):
            rows.append({"data": f"{d}-D, n = {n:,}", "draws": known[cells["t3"]]["draws"],
                         **{kind: rates[name] for kind, name in cells.items()}})  # fmt: skip
    worst = max(rates, key=lambda name: rates[name])
    lines += table(columns, rows)
    return [*lines, f"\nmean of cells {np.mean(list(rates.values())):.3f}, "
            f"worst {rates[worst]:.3f} ({worst})"]  # fmt: skip


def mean_of(rows, key):
    return float(np.mean([row[key] for row in rows]))


def table(columns, rows):
    head = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return head + ["| " + " | ".join(cell(row.get(c, "")) for c in columns) + " |" for row in rows]


def cell(value):
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if value == 0 or value >= 0.001 else f"{value:.0e}"
    return str(value)


if __name__ == "__main__":
    main()
