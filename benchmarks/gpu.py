"""The GPU side by side with what users have: one table, and gpu.json with the device named.

    python benchmarks/gpu.py [--only sweep middle million speakers cores quality peers nearest cells
        wide]

Medians after a warm-up. ``make bench-gpu`` runs all of it. Every row is written as soon as it is
there.
"""

import argparse
import json
import statistics
import sys
import warnings
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from triton.testing import do_bench

from machine import facts
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, datasets, metrics
from modeshift.engines.cuda.many_field import ManyField
from modeshift.engines.cuda.tiles import locality_order
from modeshift.engines.rule import Flat, Gaussian

OUT = Path(__file__).with_name("gpu.json")


def milliseconds(call, rep=300):
    return do_bench(call, warmup=50, rep=rep, return_mode="median")


def milliseconds_of_few(call):
    """Median of three runs, for a call that takes long and is no kernel of ours."""
    return 1e3 * seconds(call)[0]


def seconds(call, runs=3):
    """Median time of a call that ends on the host, after one that compiles."""
    times = []
    for _ in range(runs + 1):
        torch.cuda.synchronize()
        started = perf_counter()
        result = call()
        torch.cuda.synchronize()
        times.append(perf_counter() - started)
    return statistics.median(times[1:]), result


def matrix_rate():
    """TFLOP/s of a large product in bfloat16, by PyTorch."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return 2 * 8192**3 / milliseconds(lambda: a @ b) / 1e9


def chunked_means(x, radius, size=4096):
    """One sweep as PyTorch users write it: products in chunks, then a mask."""
    squares = (x * x).sum(1)
    means, counts = [], []
    for q in x.split(size):
        near = ((q * q).sum(1)[:, None] + squares - 2 * q @ x.T <= radius**2).float()
        counts.append(near.sum(1))
        means.append(near @ x / counts[-1][:, None])
    return torch.cat(means), torch.cat(counts)


def isotropic(n, d):
    """Unit vectors without clusters: pairs are at all distances, many next to the radius."""
    x = torch.randn(n, d, device="cuda")
    return x / x.norm(dim=1, keepdim=True), 1.38


def grouped(n, d, n_groups=64, noise=0.48):
    """Unit vectors in groups, no pair near the radius."""
    centres = torch.randn(n_groups, d, device="cuda")
    centres /= centres.norm(dim=1, keepdim=True)
    x = centres[torch.randint(n_groups, (n,), device="cuda")]
    x = x + noise / d**0.5 * torch.randn(n, d, device="cuda")
    x /= x.norm(dim=1, keepdim=True)
    return x[locality_order(x)], 0.9


def kernel_milliseconds(call, name):
    """Time on the device of the kernels of a name, median of 3 calls."""
    times = []
    for _ in range(3):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            call()
            torch.cuda.synchronize()
        times.append(sum(e.device_time_total for e in profile.key_averages() if name in e.key))
    return statistics.median(times) / 1e3


def sweep():
    """All points against all, one sweep."""
    rate = matrix_rate()
    yield {"what": "matrix product 8192, bfloat16", "tflops": rate}
    n = 131_072
    for d in (256, 64):
        for make in (isotropic, grouped):
            torch.manual_seed(0)
            x, radius = make(n, d)
            weights = torch.ones(n, dtype=torch.float64, device="cuda")
            plain = milliseconds_of_few(lambda x=x, radius=radius: chunked_means(x, radius))
            torch.backends.cuda.matmul.allow_tf32 = True
            tf32 = milliseconds_of_few(lambda x=x, radius=radius: chunked_means(x, radius))
            torch.backends.cuda.matmul.allow_tf32 = False
            _, counts = chunked_means(x, radius)
            for precision in ("fast", "exact"):
                field = ManyField(x, weights, radius, Flat(), precision)
                ask = partial(field.means_near, x)
                ours = milliseconds(ask)
                kernel = kernel_milliseconds(ask, "sweep_many")
                differ = int((ask().masses != counts).sum())
                row = {
                    "what": f"sweep, {make.__name__}, {precision}",
                    "n": n, "d": d, "ours_ms": ours, "kernel_ms": kernel,
                    "tflops": 4 * n * n * d / ours / 1e9,
                    "kernel_tflops": 4 * n * n * d / kernel / 1e9,
                    "peer": "PyTorch in chunks, float32", "peer_ms": plain,
                    "tf32_ms": tf32, "ratio": plain / ours, "rows_with_other_counts": differ,
                }  # fmt: skip
                if d == 256 and precision == "fast":
                    share = row["tflops"] / rate
                    row |= {"bar": f"85% of the matrix rate: {share:.1%}", "met": share >= 0.85}
                if d == 256 and precision == "exact":
                    row |= {"bar": "6x", "met": row["ratio"] >= 6}
                yield row


def crowd(n):
    """Draw n points in the plane in 20 crowds, and an h with 1% of the points within it."""
    rng = np.random.RandomState(0)
    centres = rng.rand(20, 2) * 10
    y = rng.randint(20, size=n)
    X = centres[y] + 0.6 * rng.randn(n, 2)
    some = X[rng.choice(n, 2000, replace=False)]
    gaps = np.sqrt(((some[:, None] - some) ** 2).sum(-1))
    return X, y, float(np.quantile(gaps, 0.01))


def middle():
    """Sizes at which a step is mostly launches: tensors of float32, to convergence."""
    for n in (5_000, 20_000, 50_000):
        X, y, h = crowd(n)
        yield from _middle_rows(X, y, bandwidth=h)
        if n == 5_000:
            yield from _middle_rows(X, y, bandwidth=h, kernel="gaussian")
        X, y = voices(n, 64, 50, 0.5)
        yield from _middle_rows(X, y, bandwidth=5.6)


def _middle_rows(X, y, **options):
    x = torch.from_numpy(X.astype(np.float32)).cuda()
    for kind in (MeanShift, BlurringMeanShift, StochasticMeanShift):
        seed = {"random_state": 0} if kind is StochasticMeanShift else {}
        model = kind(**options, **seed, device="cuda")
        spent, fitted = seconds(lambda model=model: model.fit(x))
        yield {
            "what": f"{kind.__name__}, {options.get('kernel', 'flat')}", "n": len(X),
            "d": X.shape[1], "ours_ms": 1e3 * spent, "sweeps": fitted.n_iter_,
            "clusters": len(fitted.cluster_centers_),
            "ari": adjusted_rand_score(y, fitted.labels_.cpu().numpy()),
        }  # fmt: skip


def million():
    """One million points in the plane, to convergence."""
    X, y, h = crowd(1_000_000)
    for name, data in _as_arrays_and_tensors(X).items():
        for kind in (MeanShift, BlurringMeanShift):
            model = kind(bandwidth=h, device="cuda")
            spent, fitted = seconds(lambda model=model, data=data: model.fit(data))
            yield {
                "what": f"{kind.__name__}, {name}", "n": len(X), "d": 2, "ours_ms": 1e3 * spent,
                "sweeps": fitted.n_iter_, "clusters": len(fitted.cluster_centers_),
                "ari": adjusted_rand_score(y, torch.as_tensor(fitted.labels_).cpu().numpy()),
            }  # fmt: skip


def _as_arrays_and_tensors(X):
    return {
        "float64 array": X,
        "float64 tensor": torch.from_numpy(X).cuda(),
        "float32 tensor": torch.from_numpy(X.astype(np.float32)).cuda(),
    }


def cores():
    """The same million, against this library on all cores."""
    X, _, h = crowd(1_000_000)
    n_cores = facts()["cores"]
    for kind in (MeanShift, BlurringMeanShift):
        kind(bandwidth=h, n_jobs=-1).fit(X[:2000])
        cpu, there = _once(lambda kind=kind: kind(bandwidth=h, n_jobs=-1).fit(X))
        for name, data in _as_arrays_and_tensors(X).items():
            gpu, here = seconds(
                lambda kind=kind, data=data: kind(bandwidth=h, device="cuda").fit(data)
            )
            labels = torch.as_tensor(here.labels_).cpu().numpy()
            yield {
                "what": f"{kind.__name__}, {name}", "n": len(X), "d": 2,
                "ours_ms": 1e3 * gpu, "peer": f"this library, {n_cores} cores",
                "peer_ms": 1e3 * cpu, "ratio": cpu / gpu,
                "ari_with_peer": adjusted_rand_score(there.labels_, labels),
                "sweeps": here.n_iter_, "bar": "20x", "met": cpu / gpu >= 20,
            }  # fmt: skip


def _once(call):
    started = perf_counter()
    result = call()
    return perf_counter() - started, result


def voices(n, d, n_speakers, noise, seed=0):
    rng = np.random.RandomState(seed)
    centres = rng.randn(n_speakers, d)
    y = rng.randint(n_speakers, size=n)
    return (centres[y] + noise * rng.randn(n, d)).astype(np.float32), y


def speakers():
    """One hundred thousand vectors, cosine distance, default batch."""
    X, y = voices(100_000, 256, 300, 0.8)
    for precision in ("exact", "fast"):
        for kind in (StochasticMeanShift, BlurringMeanShift, MeanShift):
            way = "fast" if precision == "fast" else "auto"
            model = kind(bandwidth=0.6, metric="cosine", device="cuda", algorithm=way)
            spent, fitted = seconds(lambda model=model: model.fit(X), runs=2)
            yield {
                "what": f"{kind.__name__}, cosine, {precision}", "n": len(X), "d": 256,
                "ours_ms": 1e3 * spent, "clusters": len(fitted.cluster_centers_),
                "ari": adjusted_rand_score(y, fitted.labels_), "sweeps": fitted.n_iter_,
                "bar": "seconds", "met": spent < 10,
            }  # fmt: skip


def quality():
    """What the default batch does to the result: the GPU against one point at a time."""
    sets = {f"paper's Set {k}": partial(_paper_set, k) for k in (3, 4, 6)}
    sets["60 voices, 256-D, cosine"] = lambda seed: (
        *voices(3000, 256, 60, 1.3, seed), {"bandwidth": 0.62, "metric": "cosine"},
    )  # fmt: skip
    for name, make in sets.items():
        scores = []
        n_seeds = 20 if name.startswith("paper") else 5
        for seed in range(n_seeds):
            X, y, options = make(seed)
            pair = [
                StochasticMeanShift(random_state=seed, **options, **more).fit(X).labels_
                for more in ({}, {"device": "cuda"})
            ]
            scores.append([(metrics.k_score(y, z), adjusted_rand_score(y, z)) for z in pair])
        (k1, a1), (k2, a2) = np.mean(scores, axis=0)
        yield {
            "what": f"{name}, {n_seeds} seeds", "n": len(X), "d": X.shape[1],
            "k_one_at_a_time": k1, "k_gpu": k2, "ari_one_at_a_time": a1, "ari_gpu": a2,
            "bar": "K and ARI within 0.01 (or better)", "met": k2 > k1 - 0.01 and a2 > a1 - 0.01,
        }  # fmt: skip


def _paper_set(number, seed):
    X, y = datasets.make_paper_set(number, random_state=seed)
    return X, y, {"bandwidth": 0.85}


def peers():
    """Mean-shift to convergence with what else runs on a GPU, on data that it can hold."""
    X, y, h = crowd(20_000)
    x = torch.from_numpy(X.astype(np.float32)).cuda()
    model = MeanShift(bandwidth=h, device="cuda", max_iter=100)
    ours, fitted = seconds(lambda: model.fit(x))

    def chunked():
        q = x.clone()
        for _ in range(100):
            means = []
            for part in q.split(4096):
                near = (torch.cdist(part, x) <= h).float()
                means.append(near @ x / near.sum(1, keepdim=True))
            new = torch.cat(means)
            if (new - q).norm(dim=1).max() <= 1e-3 * h:
                break
            q = new
        return q

    theirs, _ = seconds(chunked)
    yield {
        "what": "MeanShift, flat", "n": len(X), "d": 2, "ours_ms": 1e3 * ours,
        "peer": "PyTorch in chunks, float32 (no labels)", "peer_ms": 1e3 * theirs,
        "ratio": theirs / ours, "clusters": len(fitted.cluster_centers_),
    }  # fmt: skip
    try:
        from torchclust.centroid.meanshift import MeanShift as Other
    except ImportError as error:
        yield {"what": "torchclust", "peer": f"could not be imported: {error}"}
        return
    small, y = x[:5000], y[:5000]
    model = MeanShift(bandwidth=h, kernel="gaussian", device="cuda")
    ours, fitted = seconds(lambda: model.fit(small))
    theirs, other = seconds(lambda: Other(h, device="cuda").fit_predict(small))
    yield {
        "what": "MeanShift, Gaussian", "n": len(small), "d": 2, "ours_ms": 1e3 * ours,
        "peer": "torchclust 1.0.0", "peer_ms": 1e3 * theirs, "ratio": theirs / ours,
        "ari": adjusted_rand_score(y, fitted.labels_.cpu().numpy()),
        "peer_ari": adjusted_rand_score(y, other.cpu().numpy()),
    }  # fmt: skip


def nearest():
    """Only the nearest neighbours count: whole fits, against this library on all cores."""
    workloads = (
        (crowd(100_000)[0], {"bandwidth": np.inf, "n_neighbors": 50}),
        (voices(20_000, 64, 50, 0.5)[0], {"bandwidth": np.inf, "n_neighbors": 20}),
        (
            voices(20_000, 256, 100, 1.3)[0],
            {"bandwidth": 0.6, "metric": "cosine", "n_neighbors": 10},
        ),
    )
    for kind in (MeanShift, BlurringMeanShift, StochasticMeanShift):
        for X, options in workloads:
            more = {}
            if kind is StochasticMeanShift:
                more = {"random_state": 0, "batch_size": len(X) // 16}
            name = f"{options['n_neighbors']} nearest"
            yield _beside_the_cores(kind, name, X, **options, **more, max_iter=20)


def cells():
    """The means of cells in place of the points."""
    X, _, h = crowd(1_000_000)
    for kind in (MeanShift, BlurringMeanShift):
        yield _beside_the_cores(kind, "resolution=8", X, bandwidth=h, resolution=8)
        yield _beside_the_cores(kind, "resolution=64", X, bandwidth=h, resolution=64)


def _beside_the_cores(kind, name, X, **options):
    """Time a fit on the GPU and the same fit on all cores."""
    kind(**{**options, "max_iter": 1}, n_jobs=-1).fit(X)  # compiles
    cpu, there = _once(lambda: kind(**options, n_jobs=-1).fit(X))
    gpu, here = seconds(lambda: kind(**options, device="cuda").fit(X), runs=1)
    return {
        "what": f"{kind.__name__}, {name}", "n": len(X), "d": X.shape[1], "ours_ms": 1e3 * gpu,
        "peer": f"this library, {facts()['cores']} cores", "peer_ms": 1e3 * cpu,
        "ratio": cpu / gpu, "sweeps": here.n_iter_, "sweeps_of_peer": there.n_iter_,
        "other_labels": int((here.labels_ != there.labels_).sum()),
        "largest_gap_of_modes": float(np.abs(here.modes_ - there.modes_).max()),
    }  # fmt: skip


def wide():
    """One Gaussian sweep over groups that lie many bandwidths apart."""
    for n, d, n_groups in ((100_000, 64, 100), (100_000, 256, 100)):
        for spacing in (3.0, 1000.0):
            torch.manual_seed(0)
            centres = spacing * torch.randn(n_groups, d, device="cuda")
            x = centres[torch.randint(n_groups, (n,), device="cuda")]
            x = x + torch.randn(n, d, device="cuda")
            x = x[locality_order(x)]
            weights = torch.ones(n, dtype=torch.float64, device="cuda")
            row = {"what": f"Gaussian sweep, groups {spacing:g} apart", "n": n, "d": d}
            for name in ("ours", "peer"):
                field = _FIELDS[name](x, weights, 0.5 * d**0.5, Gaussian(), "exact")
                row[f"{name}_ms"] = milliseconds_of_few(partial(field.means_near, x))
                row[f"{name}_masses"] = float(field.means_near(x).masses.double().sum())
            yield row | {
                "peer": "one origin for all blocks", "ratio": row["peer_ms"] / row["ours_ms"],
            }  # fmt: skip


class _OneOrigin(ManyField):
    def _is_wide(self):
        return False


_FIELDS = {"ours": ManyField, "peer": _OneOrigin}
PARTS = (sweep, middle, million, speakers, cores, quality, peers, nearest, cells, wide)
SUBJECTS = {part.__name__: part for part in PARTS}


def line(row):
    numbers = {
        key: f"{value:.4g}" if isinstance(value, float) else f"{value}"
        for key, value in row.items()
        if key not in ("what", "bar", "met")
    }
    verdict = {True: "met", False: "MISSED", None: ""}[row.get("met")]
    told = " ".join(f"{key}={value}" for key, value in numbers.items())
    return f"{row['what']:<42} {told}  {row.get('bar', '')} {verdict}".rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no GPU here: torch.cuda.is_available() is False")
    warnings.simplefilter("ignore")  # runs that are cut short by max_iter
    rows = json.loads(chosen.out.read_text())["rows"] if chosen.out.exists() else {}
    machine = facts() | {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }
    for name in chosen.only:
        rows[name] = []
        for row in SUBJECTS[name]():
            print(line(row), flush=True)
            rows[name].append(row)
            report = {"machine": machine, "rows": rows}
            written = json.dumps(report, indent=1, default=lambda value: value.item())
            chosen.out.write_text(written + "\n")


if __name__ == "__main__":
    main()
