"""Who spoke when in recordings of meetings: ``python benchmarks/meetings.py --data PATH``.

Parts: ``errors`` (seven excerpts of AMI meetings, each alone, with speech found by the voice
detector and with the speech of the reference; other clusterings label the same windows and
vectors) and ``speed`` (the excerpts in a row, about an hour: seconds of each step). Each result is
printed, and kept in meetings.json. PATH has the folder ``meetings`` with recordings, reference.rttm
and reference.uem.
"""

import argparse
import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import soundfile
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import SpectralClustering

from machine import facts, usable_cores
from modeshift.speech import (
    Segment,
    cluster_speakers,
    errors_by_recording,
    pooled_errors,
    read_rttm,
    read_uem,
    speaker_turns,
)
from modeshift.speech.audio import Recording
from modeshift.speech.embedding import Embedder
from modeshift.speech.pipeline import Request, cut, embed, who_spoke

THRESHOLDS = np.round(np.arange(0.2, 1.0, 0.02), 2)
"""Of average linkage. The best of all is shown, chosen with the reference."""
CONVENTIONS = {
    "no collar, overlap scored": {},
    "0.25 s on each side, overlap skipped": {"collar": 0.25, "skip_overlap": True},
}
HOUR = 3600.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="folder of data")
    parser.add_argument("--only", choices=list(PARTS), nargs="+")
    out = Path(__file__).parent / "meetings.json"
    parser.add_argument("--out", type=Path, default=out, help="where results are kept")
    arguments = parser.parse_args()
    folder = arguments.data / "meetings"
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    for part in arguments.only or PARTS:
        results[part] = PARTS[part](folder)
        results["machine"] = facts()
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")
        print("\n".join(TABLES[part](results[part])), flush=True)


# Errors


def errors(folder):
    """Return the errors of each clustering, by source of the segments and convention."""
    reference, evaluated = read_rttm(folder / "reference.rttm"), read_uem(folder / "reference.uem")
    recordings = [Recording.of(path) for path in sorted(folder.glob("*.wav"))]
    embedder = Embedder("cpu", usable_cores())
    sources = {"voice detector": None, "reference": spoken(reference)}
    found = {}
    for source, segments in sources.items():
        vectors = []
        for recording in recordings:
            windows = cut(recording, Request(segments=segments))
            vectors.append(embed(recording, windows, embedder))
        for convention, options in CONVENTIONS.items():
            options = options | {"evaluated": evaluated}
            found[f"{source}; {convention}"] = {
                name: summed(reference, turns, options)
                for name, turns in answers(vectors, reference, options)
            }
    return found


def spoken(reference):
    """Return where at least one speaks."""
    segments = []
    for recording, start, end, _ in sorted(reference):
        if segments and segments[-1].recording == recording and start <= segments[-1].end:
            segments[-1] = segments[-1]._replace(end=max(end, segments[-1].end))
        else:
            segments.append(Segment(recording, start, end))
    return tuple(segments)


def answers(vectors, reference, options):
    """Yield the name of a clustering, and its turns in all recordings."""

    def turns_of(label):
        """Return the turns where ``label`` finds labels of the windows of each recording."""
        return [
            turn
            for each in vectors
            if each.segments
            for turn in speaker_turns(each.segments, each.windows, label(each))
        ]

    number = {name: len({turn.speaker for turn in reference if turn.recording == name})
              for name in {turn.recording for turn in reference}}  # fmt: skip

    def ours(method, **wishes):
        return lambda each: who_spoke(each, method=method, random_state=0, **wishes).speakers.labels

    def true_number(each):
        return min(number[each.segments[0].recording], len(each.X))

    for name, method in (("S", "stochastic"), ("D", "deterministic")):
        yield f"{name}, nothing set", turns_of(ours(method))
        yield (
            f"{name}, true number of speakers",
            turns_of(lambda each, m=method: ours(m, n_speakers=true_number(each))(each)),
        )
    trials = [turns_of(lambda each, t=t: by_linkage(each, t)) for t in THRESHOLDS]
    ders = [summed(reference, turns, options)["DER"] for turns in trials]
    best = int(np.argmin(ders))
    yield f"average linkage, best threshold ({THRESHOLDS[best]:g})", trials[best]
    yield (
        "average linkage, true number of speakers",
        turns_of(lambda each: by_linkage(each, true_number(each), "maxclust")),
    )
    yield (
        "spectral clustering, true number of speakers",
        turns_of(lambda each: by_spectrum(each, true_number(each))),
    )
    senko = clustering_of_senko()
    if senko is not None:
        yield "clustering of senko, nothing set", turns_of(lambda each: senko(each.X.copy()))


def by_linkage(vectors, limit, criterion="distance"):
    if len(vectors.X) == 1:
        return [0]
    return fcluster(linkage(vectors.X, "average", metric="cosine"), limit, criterion) - 1


def by_spectrum(vectors, n_speakers):
    if n_speakers == len(vectors.X):
        return np.arange(n_speakers)
    unit = vectors.X / np.linalg.norm(vectors.X, axis=1, keepdims=True)
    model = SpectralClustering(n_speakers, affinity="precomputed", random_state=0)
    return model.fit_predict(np.maximum(unit @ unit.T, 0.0))


def clustering_of_senko():
    """Return the clustering of the package that brings CAM++, with its settings for short sound."""
    try:
        import senko
        import yaml
        from senko.cluster.cluster_cpu import CommonClustering
    except ImportError as error:
        print(f"The clustering of senko is left out: {error}")
        return None
    settings = Path(senko.__file__).parent / "cluster" / "conf" / "spectral.yaml"
    cluster = CommonClustering(**yaml.safe_load(settings.read_text())["cluster"]["args"])
    return lambda X: np.unique(cluster(X), return_inverse=True)[1]


def summed(reference, turns, options):
    """Return the errors in percent of the speech, and the number of speakers, of all recordings."""
    total = pooled_errors(errors_by_recording(reference, turns, **options).values())
    row = {name: 100 * getattr(total, name) / total.speech
           for name in ("missed", "false_alarm", "confusion")}  # fmt: skip
    row = {"DER": 100 * total.der} | row | {"JER": 100 * total.jer, "K": total.k}
    counts = {"speakers": total.n_speakers, "found": total.n_found, "speech": total.speech}
    return {name: round(float(value), 4) for name, value in (row | counts).items()}


def error_tables(found):
    lines = []
    columns = ("DER", "missed", "false_alarm", "confusion", "JER")
    for title, rows in found.items():
        first = next(iter(rows.values()))
        lines.append(f"\n{title} ({first['speech']:.0f} s, {first['speakers']:.0f} speakers):\n")
        lines.append("| | DER % | missed | false alarm | confusion | JER % | K | speakers |")
        lines.append("|" + " --- |" * 8)
        for name, row in rows.items():
            values = " | ".join(f"{row[column]:.1f}" for column in columns)
            lines.append(f"| {name} | {values} | {row['K']:.3f} | {row['found']:.0f} |")
    return lines


# Speed


def speed(folder):
    """Return seconds of each step for the excerpts in a row, repeated to about an hour."""
    sounds = [soundfile.read(path, dtype="float32")[0] for path in sorted(folder.glob("*.wav"))]
    once = np.concatenate(sounds)
    threads = usable_cores()
    cluster_speakers(np.eye(40), random_state=0)  # compiles
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "hour.wav"
        with soundfile.SoundFile(path, "w", 16000, 1, "PCM_16") as file:
            for _ in range(round(HOUR * 16000 / len(once))):
                file.write(once)
        recording = Recording.of(path)
        row = {"seconds": recording.duration, "threads": threads}
        cuts, row["speech"] = timed(lambda: cut(recording, Request(), n_jobs=threads))
        row["seconds of speech"] = sum(each.end - each.start for each in cuts.segments)
        row["windows"] = len(cuts.windows.start)
        vectors, row["vectors"] = timed(lambda: embed(recording, cuts, Embedder("cpu", threads)))
        for name, method in (("S", "stochastic"), ("D", "deterministic")):
            _, row[f"speakers, {name}"] = timed(
                lambda m=method: who_spoke(vectors, method=m, random_state=0, n_jobs=threads)
            )
    return row


def timed(work):
    """Return the result, and the seconds on the clock and of all processors."""
    clock, processor = perf_counter(), process_time()
    result = work()
    seconds = {"clock": perf_counter() - clock, "processor": process_time() - processor}
    return result, {name: round(value, 3) for name, value in seconds.items()}


def speed_table(row):
    lines = [
        f"\n{row['seconds']:.0f} s of sound, {row['seconds of speech']:.0f} s of speech, "
        f"{row['windows']} windows, {row['threads']} threads:\n",
        "| step | seconds | processor seconds |",
        "| --- | --- | --- |",
    ]
    steps = ("speech", "vectors", "speakers, S", "speakers, D")
    lines += [f"| {s} | {row[s]['clock']:.1f} | {row[s]['processor']:.1f} |" for s in steps]
    for name in ("S", "D"):
        for kind, share in (("clock", 1), ("processor", row["threads"])):
            total = sum(row[s][kind] for s in ("speech", "vectors", f"speakers, {name}"))
            lines.append(
                f"\n{name}, by {kind} time: {share * row['seconds'] / total:.0f} times real time, "
                f"{row[f'speakers, {name}'][kind] / total:.1%} of it for clustering"
            )
    return lines


PARTS = {"errors": errors, "speed": speed}
TABLES = {"errors": error_tables, "speed": speed_table}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
