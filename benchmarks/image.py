"""Images beside other programs: ``python benchmarks/image.py [quality|speed|volume|large|gpu]``.

quality   BSDS500's measures on PATH (--data, default ../shared/data/images): pictures (.jpg) and
          their segmentations by people (.mat). ODS: the best level for all pictures; OIS: the best
          for each. The constants of merging.py and descriptors.py were chosen on every other
          picture, from the first; so the pictures between them are reported first.
speed     filter beside OpenCV's pyrMeanShiftFiltering, segment beside scikit-image's quickshift.
volume    128^3 voxels, one band.
large     4,000 x 4,000 in tiles and in one piece: the same labels. --side 20000 --bands 4 for more.
gpu       2,000 x 1,500 on a GPU beside all cores; --out FILE keeps the results there.
"""

import argparse
import json
import resource
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from machine import facts, usable_cores
from modeshift import image
from modeshift.image import measures

HERE = Path(__file__).parent
LEVELS = np.geomspace(2, 40, 60)
PUBLISHED = {"EDISON (published)": (0.54, 0.58, 0.79, 0.81, 1.85, 1.64)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("quality", "speed", "volume", "large", "gpu"), nargs="?")
    parser.add_argument("--data", type=Path, default=HERE / "../../shared/data/images")
    parser.add_argument("--schedule", default="deterministic")
    parser.add_argument("--first", type=int, help="only the first pictures of each half")
    parser.add_argument("--side", type=int, default=4000)
    parser.add_argument("--bands", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "image.json", help="of gpu")
    options = parser.parse_args()
    if options.what in (None, "speed"):
        speed()
    if options.what in (None, "volume"):
        volume()
    if options.what in (None, "quality"):
        quality(options.data, options.schedule, options.first)
    if options.what == "large":
        large(options.side, options.bands)
    if options.what == "gpu":
        gpu(options.out)


def keep(name, rows, place=HERE / "image.json", **more):
    """Put results into a file, with the machine and more facts about it."""
    known = json.loads(place.read_text()) if place.exists() else {}
    known[name] = {"machine": {**facts(), **more}, "rows": rows}
    place.write_text(json.dumps(known, indent=1) + "\n")


def quality(data, schedule, first):
    pictures = sorted(data.glob("*.jpg")) if data.is_dir() else []
    if not pictures:
        print(f"quality: no pictures at {data}; pass --data PATH")
        return
    halves = {"left out": pictures[1::2][:first], "chosen on": pictures[::2][:first]}
    found = {name: [score_levels(each, schedule) for each in half] for name, half in halves.items()}
    found["all"] = found["left out"] + found["chosen on"]
    rows = {name: summarise(np.array(scores)) for name, scores in found.items()}
    print(f"{schedule:20} covering ODS/OIS   Rand index ODS/OIS   variation ODS/OIS")
    for name, row in {**rows, **PUBLISHED}.items():
        print(
            f"{name:20} {row[0]:.3f} / {row[1]:.3f}      {row[2]:.3f} / {row[3]:.3f}"
            f"        {row[4]:.3f} / {row[5]:.3f}"
        )
    print(f"at the default level, all: {rows['all'][6:]}")
    keep(f"quality, {schedule}" + (f", first {first}" if first else ""), rows)


def score_levels(picture, schedule):
    """Return (covered pixels, pixels, Rand index, variation) for each level, then the default."""
    from PIL import Image
    from scipy.io import loadmat

    truths = loadmat(picture.with_suffix(".mat"))["groundTruth"][0]
    truths = [truth["Segmentation"][0, 0].astype(int) for truth in truths]
    tree = image.hierarchy(np.asarray(Image.open(picture)), schedule=schedule, random_state=0)
    scores = []
    for level in (*LEVELS, None):
        labels = tree.cut(level=level)
        measured = measures.compare(labels, truths)
        n = len(truths)  # BSDS500 weights a picture by the number of its truths
        scores.append((measured.covering * n, n, measured.rand_index, measured.variation))
    return scores


def summarise(scores):
    """Return covering, Rand index and variation, ODS and OIS each; then at the default level."""
    levels, default = scores[:, :-1], scores[:, -1]
    covered, n = levels[..., 0], levels[..., 1]
    row = [
        (covered.sum(axis=0) / n.sum(axis=0)).max(), covered.max(axis=1).sum() / n[:, 0].sum(),
        levels[..., 2].mean(axis=0).max(), levels[..., 2].max(axis=1).mean(),
        levels[..., 3].mean(axis=0).min(), levels[..., 3].min(axis=1).mean(),
        default[:, 0].sum() / default[:, 1].sum(), default[:, 2].mean(), default[:, 3].mean(),
    ]  # fmt: skip
    return [round(float(value), 3) for value in row]


def scene(height, width, bands=3, seed=0):
    """Return a made picture: smooth shapes of many sizes, with noise."""
    from scipy.ndimage import zoom

    rng = np.random.default_rng(seed)
    total = np.zeros((height, width, bands))
    for cell in (256, 64, 16):
        coarse = rng.integers(0, 200, (height // cell + 3, width // cell + 3, bands))
        for band in range(bands):
            grown = zoom(coarse[..., band].astype(float), cell, order=1)[:height, :width]
            total[..., band] += np.round(grown / 50) * 50 * (cell / 340)
    return np.clip(total + rng.normal(scale=6, size=total.shape), 0, 255).astype(np.uint8)


def seconds(call, clock=perf_counter, runs=3):
    """Return the least time of some runs, after one to compile."""
    call()
    times = []
    for _ in range(runs):
        started = clock()
        call()
        times.append(clock() - started)
    return min(times)


def speed():
    import cv2
    from skimage.segmentation import quickshift

    cv2.setNumThreads(1)
    rows = {}
    for height, width in ((321, 481), (1500, 2000)):
        picture = scene(height, width)
        runs = 3 if height < 1000 else 1
        for spatial, colour in ((7, 20), (15, 30)):
            if runs == 1 and spatial == 15:
                continue
            stop = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 5, 1)

            def opencv(picture=picture, spatial=spatial, colour=colour, stop=stop):
                return cv2.pyrMeanShiftFiltering(
                    picture, spatial, colour, maxLevel=0, termcrit=stop
                )

            def ours(n_jobs, picture=picture, spatial=spatial, colour=colour):
                # OpenCV stops when all changes together are at most 1 in pixels and grey levels.
                return image.filter(
                    picture, spatial=spatial, range=colour, convert2lab=False, max_iter=5,
                    tol=1 / colour, n_jobs=n_jobs,
                )  # fmt: skip

            peer = seconds(opencv, runs=runs)
            one, two = (seconds(lambda n=n: ours(n), runs=runs) for n in (1, 2))
            row = {"OpenCV": peer, "1 thread": one, "2 threads": two}
            rows[f"filter {width} x {height}, radii {spatial}, {colour}"] = row
    picture = scene(321, 481)
    rows["segment 481 x 321"] = {
        "quickshift": seconds(lambda: quickshift(picture)),
        "1 thread": seconds(lambda: image.segment(picture)),
        "2 threads": seconds(lambda: image.segment(picture, n_jobs=2)),
    }
    for name, row in rows.items():
        peer, one, two = row.values()
        print(
            f"{name}: {', '.join(f'{key} {value:.3f} s' for key, value in row.items())}; "
            f"{peer / one:.2f} times the peer's speed, 2 threads {one / two:.2f} times 1 thread"
        )
    keep("speed", rows)


def gpu(out):
    """Compare a GPU with all cores of its machine, transfers and the CPU's share included."""
    import torch

    picture, rows = scene(1500, 2000), {}
    how = {"spatial": 7, "range": 20, "convert2lab": False, "max_iter": 5, "tol": 1 / 20}
    calls = {
        "filter": lambda **where: image.filter(picture, **how, **where),
        "filter to convergence": lambda **where: image.filter(picture, **where),
        "segment": lambda **where: image.segment(picture, **where),
    }
    for name, call in calls.items():
        cores = seconds(lambda call=call: call(n_jobs=usable_cores()))
        there = seconds(lambda call=call: call(device="cuda", n_jobs=usable_cores()))
        same = np.array_equal(call(n_jobs=usable_cores()), call(device="cuda"))
        rows[name] = {"cores": cores, "gpu": there, "same": same}
        print(
            f"{name}, 2,000 x 1,500: {usable_cores()} cores {cores:.3f} s, GPU {there:.3f} s, "
            f"{cores / there:.1f} times as fast; same result {same}",
            flush=True,
        )
        keep("gpu", rows, out, gpu=torch.cuda.get_device_name())


def volume():
    rng = np.random.default_rng(0)
    z, y, x = np.indices((128, 128, 128)) / 128 - 0.5
    shapes = 80 * (z**2 + y**2 + x**2 < 0.15) + 60 * (np.abs(x - y) < 0.1) + 30 * (z > 0.2)
    values = shapes + rng.normal(scale=8, size=shapes.shape)
    image.segment(values[:8, :8, :8], channel_axis=None)
    started = perf_counter()
    labels = image.segment(values, channel_axis=None, n_jobs=2)
    took = perf_counter() - started
    print(f"128^3, one band, 2 threads: {took:.1f} s, {labels.max()} regions")
    keep("volume", {"seconds": took, "regions": int(labels.max())})


def large(side, bands):
    """Segment in chunks of Dask, on two threads; compare with one piece if that is small enough."""
    import dask.array as da
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, memory_limit="2GiB", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        chunk = 1000
        blocks = da.map_blocks(
            made, chunks=((chunk,) * (side // chunk), (chunk,) * (side // chunk), (bands,)),
            bands=bands, chunk=chunk, dtype=np.uint8, meta=np.empty((0, 0, 0), np.uint8),
        )  # fmt: skip
        started, cpu = perf_counter(), process_time()
        tree = image.hierarchy(blocks, channel_axis=-1)
        labels = tree.cut(level=0)
        total = int((labels > 0).sum().compute())
        took = perf_counter() - started
        peaks = client.run(peak)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{side} x {side} x {bands}: {took:.0f} s, {tree.n_regions} regions, {total} pixels; "
        f"peak of the workers {sum(peaks.values()):.2f} GiB together, of the client {own:.2f} GiB, "
        f"client {process_time() - cpu:.0f} s CPU"
    )
    keep(
        f"large {side} x {bands}",
        {
            "seconds": took,
            "regions": tree.n_regions,
            "workers, GiB": sum(peaks.values()),
            "client, GiB": own,
        },
    )
    if side <= 4000:
        picture = blocks.compute(scheduler="threads")
        whole = image.hierarchy(picture, channel_axis=-1, n_jobs=2)
        with_tiles = image.hierarchy(
            da.from_array(picture, chunks=(chunk, chunk, bands)), channel_axis=-1
        )
        same = np.array_equal(whole.labels, with_tiles.labels.compute())
        print(
            f"in one piece: the same labels: {same}, the same heights: "
            f"{np.array_equal(whole.heights, with_tiles.heights)}"
        )


def peak():
    """Return the largest memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def made(bands, chunk, block_info=None):
    """Return a chunk of a made picture: squares of three sizes, with noise. It is soon made."""
    at = block_info[None]["chunk-location"]
    rng = np.random.default_rng(at[:2])
    total = rng.integers(0, 36, (chunk, chunk, bands), np.uint8)
    for side, height in ((250, 80), (50, 64), (10, 64)):
        n = -(-chunk // side)
        squares = rng.integers(0, height, (n, n, bands), np.uint8)
        total += squares.repeat(side, 0).repeat(side, 1)[:chunk, :chunk]
    return total


if __name__ == "__main__":
    main()
