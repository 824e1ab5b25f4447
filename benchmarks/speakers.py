"""How well speakers are found from vectors: ``python benchmarks/speakers.py --data PATH``.

Parts: ``cells`` (what is found with nothing set among 2 to 20 speakers of MiniVox, cuts of 1 s and
2 s, CAM++ vectors), ``peers`` (oracles and average linkage on the same cells), ``defaults`` (the
estimators with nothing set but the metric, on the same cells), ``plda`` (trained on other
speakers), ``meeting`` (x-vectors of an AMI meeting) and ``long`` (100,000 simulated windows; needs
no PATH). Each result is printed and kept as soon as it is there, in speakers.json. What is there is
not measured again. PATH has the folder ``speakers`` with NPZ files of X and speaker.
"""

import argparse
import json
import resource
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from machine import facts
from modeshift import MeanShift, StochasticMeanShift
from modeshift.metrics import k_score
from modeshift.speech import TwoCovariancePLDA, cluster_speakers

METHODS = {"S": "stochastic", "D": "deterministic"}
CUTS = {"1 s": "minivox_dev_1s_campplus", "2 s": "minivox_dev_2s_campplus"}
CELLS = list(product(CUTS, (2, 5, 10, 20), (5, 20, 60)))
"""Length of the cuts, speakers, and largest number of cuts of a speaker."""

ORACLE = list(product((0.3, 0.4, 0.5, 0.6, 0.7), (3, 5, 10, 20, 40)))
"""Cosine distances and numbers of neighbours."""
THRESHOLDS = np.round(np.arange(0.3, 0.9, 0.02), 2)
"""Of average linkage."""
OVERLAPS = (3, 6)
"""Windows of 1.44 s every 0.24 s: every third shares half its sound, every sixth one nothing."""
SEEDS = {"S": range(10), "D": range(1)}
"""On the meeting. The deterministic method draws nothing there."""
FIRST_DRAW = 100
"""Constants were chosen on draws below this number."""
FIRST_HALF = 10
"""Of the speakers of MiniVox, in the order of their names."""


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
            print(part, name, json.dumps({k: v for k, v in row.items() if k != "linkage"}),
                  flush=True)  # fmt: skip
    print(summary(results))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder of the data")
    parser.add_argument("--only", choices=list(PARTS), nargs="+")
    parser.add_argument("--draws", type=int, default=10, help="of each cell")
    out = Path(__file__).parent / "speakers.json"
    parser.add_argument("--out", type=Path, default=out, help="what is there is not run again")
    return parser.parse_args()


def vectors_of(data, name):
    path = data / "speakers" / f"{name}.npz"
    stored = np.load(path)
    return stored["X"].astype(float), np.unique(stored["speaker"], return_inverse=True)[1]


def drawn(X, y, speakers, n_speakers, most, seed):
    """Return some cuts of some of the speakers."""
    rng = np.random.RandomState([seed, n_speakers, most])
    chosen = rng.choice(speakers, n_speakers, replace=False)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == s))[:most] for s in chosen])
    return X[rows], y[rows]


def draws(arguments):
    return range(FIRST_DRAW, FIRST_DRAW + arguments.draws)


def rounded(value):
    return round(float(value), 4)


# Cells: 2 to 20 speakers of MiniVox


def draws_of_cells(arguments, known):
    """Yield name, vectors and speakers of each draw that is not known."""
    if arguments.data is None:
        raise SystemExit("Give --data PATH, a folder with speakers/*.npz.")
    stored = {cut: vectors_of(arguments.data, name) for cut, name in CUTS.items()}
    for seed in draws(arguments):
        for cut, n_speakers, most in CELLS:
            name = f"{cut}, {n_speakers} x {most}, {seed}"
            if name not in known:
                X, y = stored[cut]
                yield name, *drawn(X, y, np.arange(y.max() + 1), n_speakers, most, seed)


def cells(arguments, known):
    """Yield what is found with nothing set."""
    for name, X, y in draws_of_cells(arguments, known):
        row = {}
        for short, method in METHODS.items():
            found = cluster_speakers(X, method=method, random_state=0)
            row[short] = rounded(adjusted_rand_score(y, found.labels))
            row[f"{short} K"] = rounded(k_score(y, found.labels))
            row[f"{short} speakers"] = found.n_speakers
        yield name, row


def peers(arguments, known):
    """Yield oracles, and average linkage at all thresholds and with the true number."""
    for name, X, y in draws_of_cells(arguments, known):
        row = {f"{short} oracle": rounded(max(oracle(X, y, short))) for short in METHODS}
        tree = linkage(X, "average", metric="cosine")
        row["linkage"] = [
            rounded(adjusted_rand_score(y, fcluster(tree, t, "distance"))) for t in THRESHOLDS
        ]
        known_number = fcluster(tree, len(set(y.tolist())), "maxclust")
        row["linkage, true number"] = rounded(adjusted_rand_score(y, known_number))
        yield name, row


def estimator(short, **settings):
    if short == "D":
        return MeanShift(metric="cosine", **settings)
    return StochasticMeanShift(metric="cosine", random_state=0, **settings)


def oracle(X, y, short):
    """Yield the adjusted Rand index of the estimator at each bandwidth and number of neighbours."""
    for h, k in ORACLE:
        labels = estimator(short, bandwidth=h, n_neighbors=k, max_iter=100).fit_predict(X)
        yield adjusted_rand_score(y, labels)


def defaults(arguments, known):
    """Yield what the estimators find with nothing set but the metric."""
    for name, X, y in draws_of_cells(arguments, known):
        row = {}
        for short in METHODS:
            labels = estimator(short).fit_predict(X)
            row[short] = rounded(adjusted_rand_score(y, labels))
            row[f"{short} speakers"] = int(labels.max()) + 1
        yield name, row


# PLDA that is trained on other speakers


def plda(arguments, known):
    """Yield K with the cosine and with PLDA, on speakers that the PLDA has not seen."""
    X, y = vectors_of(arguments.data, CUTS["1 s"])
    halves = np.arange(FIRST_HALF), np.arange(FIRST_HALF, y.max() + 1)
    jobs = [("MiniVox, 1 s", X, y, *halves, n, most)
            for n, most in product((2, 5, 10), (5, 20, 60))]  # fmt: skip
    X, y = vectors_of(arguments.data, "librispeech_train_clean100_1s_dvectors")
    names = np.flatnonzero(np.bincount(y) >= 2)
    jobs += [("LibriSpeech, 1 s", X, y, names[:150], names[150:], n, 12) for n in (5, 20, 60)]
    for (title, X, y, others, own, n, most), seed in product(jobs, draws(arguments)):
        name = f"{title}, {n} x {most}, {seed}"
        if name in known:
            continue
        trained = np.isin(y, others)
        model = TwoCovariancePLDA().fit(X[trained], y[trained])
        cuts, speakers = drawn(X, y, own, n, most, seed)
        row = {}
        for metric, (short, method) in product(("cosine", model), METHODS.items()):
            found = cluster_speakers(cuts, metric=metric, method=method, random_state=0)
            kind = f"{short} {metric if metric == 'cosine' else 'PLDA'}"
            row[f"{kind} K"] = rounded(k_score(speakers, found.labels))
            row[f"{kind} ARI"] = rounded(adjusted_rand_score(speakers, found.labels))
        yield name, row


# A meeting


def meeting(arguments, known):
    """Yield the confusion on x-vectors of a meeting: the share of windows with a wrong speaker.

    Of the stochastic method the mean and the worst of ten seeds.
    """
    if "ES2005a" in known:
        return
    stored = np.load(arguments.data / "speakers" / "ami_ES2005a_xvectors.npz")
    clear = stored["dominant_frac"] > 0.5
    X, y = stored["X"][clear].astype(float), stored["speaker"][clear]
    llr = stored["plda_llr"][np.ix_(clear, clear)].astype(float)
    row = {"windows": len(X), "speakers": len(set(y.tolist()))}
    for (short, method), overlap in product(METHODS.items(), OVERLAPS):
        for title, number in (("", None), (", true number", row["speakers"])):
            settings = {"overlap": overlap, "method": method, "n_speakers": number}
            found = [cluster_speakers(X, random_state=seed, **settings) for seed in SEEDS[short]]
            errors = [confusion(y, each.labels) for each in found]
            name = f"{short}, overlap={overlap}{title}"
            row[name] = rounded(np.mean(errors))
            if len(found) > 1:
                row[f"{name}: worst"] = rounded(max(errors))
            if number is None:
                row[f"{name}: speakers"] = rounded(np.mean([each.n_speakers for each in found]))
    for title, tree in (
        ("linkage, cosine", linkage(X, "average", metric="cosine")),
        ("linkage, its PLDA", linkage(squareform(llr.max() - llr, checks=False), "average")),
    ):
        heights = np.quantile(tree[:, 2], np.linspace(0.5, 1.0, 200))
        best = min(confusion(y, fcluster(tree, t, "distance")) for t in heights)
        row[f"{title}, best threshold"] = rounded(best)
        row[f"{title}, true number"] = rounded(
            confusion(y, fcluster(tree, row["speakers"], "maxclust"))
        )
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    spectral = SpectralClustering(row["speakers"], affinity="precomputed", random_state=0)
    labels = spectral.fit_predict(np.maximum(unit @ unit.T, 0.0))
    row["spectral, true number"] = rounded(confusion(y, labels))
    yield "ES2005a", row


def confusion(y, labels):
    """Return the share of windows outside of the best pairs of speakers and clusters."""
    classes, clusters = (np.unique(v, return_inverse=True)[1] for v in (y, labels))
    table = np.zeros((classes.max() + 1, clusters.max() + 1))
    np.add.at(table, (classes, clusters), 1)
    return 1.0 - table[linear_sum_assignment(-table)].sum() / len(y)


# Many windows


def long(arguments, known):
    """Yield time and memory of 100,000 windows of 30 speakers."""
    if "100,000 windows" in known:
        return
    X, y = conversation(100_000, 30, np.random.RandomState(0))
    cluster_speakers(X[:100], random_state=0)  # compiles
    row = {}
    for short, method in METHODS.items():
        started = perf_counter()
        found = cluster_speakers(X, method=method, random_state=0)
        row[f"{short} s"] = rounded(perf_counter() - started)
        row[f"{short} ARI"] = rounded(adjusted_rand_score(y, found.labels))
        row[f"{short} speakers"] = found.n_speakers
    row["peak GiB"] = rounded(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
    yield "100,000 windows", row


def conversation(n, n_speakers, rng, d=192):
    """Return windows whose cosines are about 0.6 for the same speaker, and 0 for two.

    Turns have 2 to 40 windows, and some speakers speak much more than others.
    """
    turns = rng.randint(2, 41, size=n)
    weights = rng.dirichlet(np.full(n_speakers, 1.0))
    y = rng.choice(n_speakers, size=n, p=weights).repeat(turns)[:n]
    voices = rng.standard_normal((n_speakers, d)) / np.sqrt(d)
    X = np.sqrt(0.6) * voices[y] + np.sqrt(0.4 / d) * rng.standard_normal((n, d))
    return X.astype(np.float32), y


PARTS = {
    "cells": cells,
    "peers": peers,
    "defaults": defaults,
    "plda": plda,
    "meeting": meeting,
    "long": long,
}


# Tables


def summary(results):
    lines = []
    if results.get("cells"):
        lines += cell_table(*(results.get(part, {}) for part in ("cells", "peers", "defaults")))
    if results.get("plda"):
        lines += plda_table(results["plda"])
    for part in ("meeting", "long"):
        for name, row in results.get(part, {}).items():
            lines += [f"\n{name}:\n", *table(("", "value"), list(row.items()))]
    return "\n".join(lines)


def by_cell(known):
    """Return the rows of each cell: the name without the draw."""
    groups = {}
    for name, row in known.items():
        groups.setdefault(name.rpartition(", ")[0], []).append(row)
    return groups


def cell_table(found, peers, plain):
    """Return the means of each cell over the draws that all but ``plain`` have."""
    both = {name: found[name] | peers[name] for name in found if name in peers}
    groups, others = by_cell(both), by_cell(plain)
    if not groups:
        return []
    single = np.mean([np.mean([r["linkage"] for r in rows], axis=0) for rows in groups.values()], 0)
    threshold = int(single.argmax())
    columns = ("S", "S oracle", "D", "D oracle", "linkage, true number")
    heads = ["cuts, speakers x cuts", "draws", *columns,
             f"linkage at {THRESHOLDS[threshold]:g}", "S default", "D default"]  # fmt: skip
    body = []
    for name, rows in groups.items():
        values = [np.mean([row[c] for row in rows]) for c in columns]
        values.append(np.mean([row["linkage"][threshold] for row in rows]))
        values += [mean_or_none(others.get(name, []), short) for short in METHODS]
        body.append([name, len(rows), *values])
    means = [None if None in column else np.mean(column)
             for column in zip(*(row[2:] for row in body), strict=True)]  # fmt: skip
    lines = [*table(heads, [*body, ["mean of cells", len(both), *means]])]
    of = dict(zip(heads[2:], means, strict=True))
    for short in METHODS:
        lines += [f"\n{short}: {of[short] / of[f'{short} oracle']:.3f} of the oracle, "
                  f"{of[short] / single[threshold]:.3f} of linkage at its best threshold; "
                  "number of speakers within 10%:", *numbers_right(both, short)]  # fmt: skip
    return lines


def numbers_right(rows, short):
    """Return a line for each length and number of cuts."""
    lines = []
    for cut, most in product(CUTS, (5, 20, 60)):
        right = [
            abs(row[f"{short} speakers"] - n) <= 0.1 * n
            for name, row in rows.items()
            for n in [int(name.split(", ")[1].split(" x ")[0])]
            if name.startswith(cut) and f" x {most}," in name
        ]
        if right:
            lines.append(f"  {cut}, up to {most}: {np.mean(right):.0%} of {len(right)}")
    return lines


def mean_or_none(rows, key):
    return np.mean([row[key] for row in rows]) if rows else None


def plda_table(known):
    groups = by_cell(known)
    columns = [f"{s} {m} {v}" for v in ("K", "ARI") for s in METHODS for m in ("cosine", "PLDA")]
    body = [[name, len(rows), *(np.mean([r[c] for r in rows]) for c in columns)]
            for name, rows in groups.items()]  # fmt: skip
    return ["\nPLDA trained on other speakers:\n", *table(["", "draws", *columns], body)]


def table(columns, rows):
    head = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return head + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def cell(value):
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
