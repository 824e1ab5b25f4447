"""``modeshift speakers``: who spoke when in recordings."""

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from modeshift.cli.errors import UserError, about, message_of
from modeshift.cli.help import HelpFormatter
from modeshift.cli.screen import shown

_EXAMPLES = """

examples:
  modeshift speakers meeting.wav --page
  modeshift speakers monday.wav tuesday.wav --out speakers --max-speakers 6
  modeshift speakers calls/*.wav --push-to-talk --csv
  modeshift speakers --vectors xvectors.npz --out speakers
"""
_EXTRAS = {
    "json": ("turns, speakers and the choice as JSON", ".speakers.json"),
    "csv": ("the turns as CSV", ".speakers.csv"),
    "labels": ("a label track for Audacity", ".speakers.txt"),
    "page": ("an .html page to see, hear, rename and merge speakers", ".speakers.html"),
}
_FROM_RECORDING = {"samples": "recording", "rate": "recording"}
_RTTM, _SPEECH, _VECTORS = ".speakers.rttm", ".speech.csv", ".vectors.npz"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the parser of this subcommand."""
    text = "find who spoke when in recordings"
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "speakers",
        help=text,
        description=f"{text.capitalize()}. The same speaker has the same name in all recordings. "
        "Each step leaves a file: NAME.speech.csv says where somebody speaks, NAME.vectors.npz has "
        f"a vector for each window, NAME.speakers.rttm is the answer.{_EXAMPLES}",
        usage="%(prog)s RECORDING [RECORDING ...] [options]",
        formatter_class=HelpFormatter,
    )
    parser.add_argument(
        "recordings",
        nargs="*",
        type=Path,
        metavar="RECORDING",
        help="WAV, FLAC, OGG, MP3 or AIFF of any rate; channels are averaged",
    )
    _add_output(parser.add_argument_group("output"))
    _add_speakers(parser.add_argument_group("speakers"))
    _add_speech(parser.add_argument_group("speech and vectors"))
    return parser


def _add_output(group: Any) -> None:
    group.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder of the results, made if needed (default: that of each recording)",
    )
    for name, (text, ending) in _EXTRAS.items():
        group.add_argument(
            f"--{name}", action="store_true", help=f"write {text}, as {ending} (default: no)"
        )
    group.add_argument("--force", action="store_true", help="replace existing files (default: no)")
    group.add_argument(
        "--resume",
        action="store_true",
        help="go on with the vectors of an earlier run (default: no)",
    )
    group.add_argument("--quiet", action="store_true", help="print only errors (default: no)")


def _add_speakers(group: Any) -> None:
    group.add_argument(
        "--speakers", type=int, metavar="N", help="number of speakers (default: found)"
    )
    group.add_argument("--min-speakers", type=int, metavar="N", help="fewest speakers (default: 1)")
    group.add_argument(
        "--max-speakers", type=int, metavar="N", help="most speakers (default: no limit)"
    )
    group.add_argument(
        "--min-speech",
        type=float,
        metavar="SECONDS",
        help="least speech of a speaker; speech of others goes to the most similar speaker "
        "(default: a twentieth of the speech of a typical speaker)",
    )
    group.add_argument(
        "--method",
        choices=("stochastic", "deterministic"),
        default="stochastic",
        help="stochastic: one random window moves at a time; deterministic: each climbs alone "
        "(default: stochastic)",
    )
    group.add_argument(
        "--plda",
        type=Path,
        metavar="FILE",
        help="score with a PLDA that TwoCovariancePLDA.save wrote (default: cosine)",
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="seed (default: 0)")
    group.add_argument(
        "--jobs", type=int, default=-1, metavar="N", help="number of threads (default: all cores)"
    )


def _add_speech(group: Any) -> None:
    group.add_argument(
        "--segments",
        type=Path,
        metavar="FILE",
        help="where somebody speaks: .rttm or .csv (default: a voice detector finds it)",
    )
    group.add_argument(
        "--push-to-talk",
        action="store_true",
        help="each recording, or each of --segments, is of one speaker (default: no)",
    )
    for name, default, text in [
        ("threshold", 0.05, "least probability of speech; 0.5 for clean recordings"),
        ("min-on", 0.25, "shorter stretches of speech are dropped, in seconds"),
        ("min-off", 0.5, "shorter pauses are filled, in seconds"),
        ("window", 1.5, "seconds of a window"),
        ("step", 0.75, "most seconds from one window to the next"),
    ]:
        group.add_argument(
            f"--{name}",
            type=float,
            default=default,
            metavar="NUMBER",
            help=f"{text} (default: {default})",
        )
    group.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="vectors of your own, with --segments if it has no times: .npz, .npy, .csv or .ark "
        "(default: CAM++)",
    )
    group.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where vectors are computed; auto: on a GPU if there is one (default: auto)",
    )


class _Places(NamedTuple):
    """Where the results go: by recording, and those of all recordings."""

    stems: dict[str, Path]
    together: Path

    def of(self, recording: str, ending: str) -> Path:
        stem = self.stems[recording]
        return stem.with_name(stem.name + ending)

    def of_all(self, ending: str) -> Path:
        return self.together.with_name(self.together.name + ending)


def run(options: argparse.Namespace) -> None:
    """Find the speakers, write, print."""
    from modeshift.speech import pipeline, vectors
    from modeshift.watching.compiling import COMPILATION

    _check(options)
    started = perf_counter()
    try:
        wishes = _wishes(options)
        if options.vectors is not None:
            together, places = _given(options)
        else:
            parts, places = _computed(options)
            together = vectors.gathered(parts)
        if not len(together.X):
            raise UserError(_no_speech(options))
        with COMPILATION.silently() if options.quiet else nullcontext():
            found = pipeline.who_spoke(together, **wishes)
    except (ValueError, TypeError) as error:
        raise UserError(_in_options(message_of(error))) from error
    _write(options, found, places)
    if not options.quiet:
        print(shown(_summary(found, perf_counter() - started)))
        print(shown("\n".join(str(path) for path in _results(options, places))))


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if not options.recordings and options.vectors is None:
        raise UserError("name a recording, or --vectors FILE")
    if options.recordings and options.vectors is not None and not options.page:
        raise UserError("--vectors needs no recordings, except for --page")
    if options.speakers is not None and (options.min_speakers or options.max_speakers):
        raise UserError("--speakers does not go together with --min-speakers or --max-speakers")
    if options.jobs == 0:
        raise UserError("--jobs must not be 0; use 1 for one thread or -1 for all cores")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise UserError(f"--out {options.out} is a file; name a folder")


def _wishes(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of ``cluster_speakers``."""
    metric: Any = "cosine"
    if options.plda is not None:
        from modeshift.speech import TwoCovariancePLDA

        try:
            metric = TwoCovariancePLDA.load(options.plda)
        except OSError as error:
            raise UserError(f"--plda {options.plda} cannot be read: {error.strerror}") from error
    return {
        "n_speakers": options.speakers,
        "min_speakers": options.min_speakers,
        "max_speakers": options.max_speakers,
        "min_speech": options.min_speech,
        "method": options.method,
        "metric": metric,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "progress": None if options.quiet else _counted("trials of a bandwidth"),
    }


def _counted(title: str) -> Callable[[int, int], None]:
    """Return a function of (done, all) that shows the progress."""
    from modeshift.cli.progress import progress

    bars: list[Any] = []

    def show(done: int, total: int) -> None:
        if not bars:
            bars.append(progress(range(total), total, title))
            next(bars[0], None)
        next(bars[0], None)

    return show


def _given(options: argparse.Namespace) -> tuple[Any, _Places]:
    """Return the vectors of the user."""
    from modeshift.speech import read_vectors

    with about("--vectors"):
        vectors = read_vectors(options.vectors, options.segments, options.vectors.stem)
    names = list(dict.fromkeys(segment.recording for segment in vectors.segments))
    folder = options.out or options.vectors.parent
    stems = {name: folder / _as_file(name) for name in names}
    if len(set(stems.values())) < len(names):
        raise UserError(f"--vectors {options.vectors}: two recordings would have the same file")
    places = _Places(stems, Path())
    places = places._replace(together=_together(places, folder))
    _check_places(options, _results(options, places))
    return vectors, places


def _computed(options: argparse.Namespace) -> tuple[list[Any], _Places]:
    """Return the vectors of each recording, computed or from an earlier run."""
    from modeshift.speech.audio import Recording
    from modeshift.speech.embedding import Embedder
    from modeshift.speech.pipeline import cut, embed, thread_count
    from modeshift.speech.vectors import Vectors

    recordings = [Recording.of(path) for path in options.recordings]
    places = _places(options, recordings)
    request = _request(options, recordings)
    threads = thread_count(options.jobs)
    show = _shown(options)
    parts = []
    embedder = None
    for recording in recordings:
        if recording.missing > 0.0:
            _note(
                options,
                f"{recording.path} was cut: its head promises {recording.missing:.1f} s more",
            )
        place = places.of(recording.name, _VECTORS)
        vectors = _earlier(options, place, request.of(recording))
        if vectors is None:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                vectors = cut(recording, request, n_jobs=threads, show=show)
            for warning in caught:
                _note(options, _in_options(str(warning.message)))
            _write_segments(places.of(recording.name, _SPEECH), vectors.segments)
            vectors.save(place)
        if not vectors.segments:
            _note(options, f"{recording.name}: no speech was found")
        elif not vectors.complete:
            embedder = embedder or Embedder(options.device, threads)
            keep = partial(Vectors.save, path=place)
            try:
                vectors = embed(recording, vectors, embedder, show=show, keep=keep)
            except KeyboardInterrupt as stop:
                raise KeyboardInterrupt("stopped; continue with --resume") from stop
        parts.append(vectors)
    return parts, places


def _places(options: argparse.Namespace, recordings: list[Any]) -> _Places:
    """Return where results go, after checks."""
    stems: dict[str, Path] = {}
    for recording in recordings:
        if recording.name in stems:
            raise UserError(f"two recordings are named {recording.name}; rename one of them")
        stems[recording.name] = (options.out or recording.path.parent) / recording.name
    places = _Places(stems, Path())
    places = places._replace(together=_together(places, next(iter(stems.values())).parent))
    steps = [places.of(name, ending) for name in stems for ending in (_SPEECH, _VECTORS)]
    _check_places(options, _results(options, places) + ([] if options.resume else steps))
    return places


def _together(places: _Places, folder: Path) -> Path:
    """Return the stem of results of all recordings: that of a single one."""
    return next(iter(places.stems.values())) if len(places.stems) == 1 else folder / "all"


def _results(options: argparse.Namespace, places: _Places) -> list[Path]:
    """Return the paths of all results."""
    wanted = [name for name in _EXTRAS if getattr(options, name)]
    paths = []
    for recording in places.stems:
        paths.append(places.of(recording, _RTTM))
        each = [name for name in wanted if name in ("csv", "labels")]
        paths += [places.of(recording, _EXTRAS[name][1]) for name in each]
    return paths + [places.of_all(_EXTRAS[n][1]) for n in wanted if n in ("json", "page")]


def _check_places(options: argparse.Namespace, paths: Iterable[Path]) -> None:
    from modeshift.io.write import check_place

    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        check_place(path, options.force)


def _request(options: argparse.Namespace, recordings: list[Any]) -> Any:
    from modeshift.speech import read_segments
    from modeshift.speech.pipeline import Request

    segments = None
    if options.segments is not None:
        only = recordings[0].name if len(recordings) == 1 else None
        with about("--segments"):
            segments = tuple(read_segments(options.segments, only))
        if not segments:
            raise UserError(f"--segments {options.segments} has no segments")
        known = {recording.name for recording in recordings}
        if not known & {segment.recording for segment in segments}:
            raise UserError(
                f"--segments {options.segments} has no segment of {recordings[0].name}; it has "
                f"those of {segments[0].recording}"
            )
    return Request(
        threshold=options.threshold,
        min_on=options.min_on,
        min_off=options.min_off,
        window=options.window,
        step=options.step,
        segments=segments,
        push_to_talk=options.push_to_talk,
    )


def _earlier(options: argparse.Namespace, place: Path, asked: dict[str, Any]) -> Any:
    """Return the vectors of an earlier run; None if there are none."""
    from modeshift.speech.vectors import Vectors

    if not options.resume or not place.exists():
        return None
    earlier = Vectors.load(place)
    if earlier.asked != asked:
        changed = next(name for name in asked if earlier.asked.get(name) != asked[name])
        other = _FROM_RECORDING.get(changed, f"--{changed.replace('_', '-')}")
        raise UserError(f"{place} was made with another {other}; pass --force without --resume")
    return earlier


def _shown(options: argparse.Namespace) -> Callable[..., Any]:
    from modeshift.cli.progress import progress
    from modeshift.speech.activity import silently

    return silently if options.quiet else progress


def _write_segments(path: Path, segments: list[Any]) -> None:
    from modeshift.speech import Turn, write_csv

    write_csv(path, [Turn(*segment, "") for segment in segments])


def _write(options: argparse.Namespace, found: Any, places: _Places) -> None:
    """Write all results."""
    from modeshift.io.write import write_whole
    from modeshift.speech import answers, rttm
    from modeshift.speech.turns import by_recording

    turns = by_recording(found.turns)
    for recording in places.stems:
        mine = turns.get(recording, [])
        rttm.write_rttm(places.of(recording, _RTTM), mine)
        if options.csv:
            answers.write_csv(places.of(recording, _EXTRAS["csv"][1]), mine)
        if options.labels:
            answers.write_labels(places.of(recording, _EXTRAS["labels"][1]), mine)
    if options.json:
        text = json.dumps(answers.plain(found), indent=1, ensure_ascii=False)
        write_whole(places.of_all(_EXTRAS["json"][1]), lambda file: file.write(text.encode()))
    if options.page:
        from modeshift.speech.page import write_page

        sounds = {path.stem: path for path in options.recordings}
        write_page(places.of_all(_EXTRAS["page"][1]), found, sounds)


def _summary(found: Any, seconds: float) -> str:
    """Return a table of the speakers."""
    from modeshift.speech.turns import speech_of
    from modeshift.watching.story import as_clock

    speech = speech_of(found.turns)
    total = sum(speech.values())
    names = {turn.recording for turn in found.turns}
    where = next(iter(names)) if len(names) == 1 else f"{len(names)} recordings"
    word = "speaker" if len(speech) == 1 else "speakers"
    lines = [
        f"{where}: {len(speech)} {word}, {as_clock(total)} of speech, found in {seconds:.1f} s"
    ]
    lines += [f"  {name}  {as_clock(s)}  {s / total:4.0%}" for name, s in speech.items()]
    return "\n".join(lines)


def _no_speech(options: argparse.Namespace) -> str:
    if options.segments is not None:
        return f"--segments {options.segments} has no segment inside of the recordings"
    return f"no speech was found; lower --threshold ({options.threshold:g}), or pass --segments"


def _note(options: argparse.Namespace, line: str) -> None:
    if not options.quiet:
        print(shown(f"modeshift: {line}"), file=sys.stderr)


def _as_file(name: str) -> str:
    """Return the name of a recording as a file name."""
    return "".join(
        "_" if letter in "/\\" or not letter.isprintable() else letter for letter in name
    )


_OPTIONS = {
    "n_speakers": "--speakers",
    "min_speakers": "--min-speakers",
    "max_speakers": "--max-speakers",
    "min_speech": "--min-speech",
    "min_on": "--min-on",
    "min_off": "--min-off",
    "length": "--window",
    "step": "--step",
    "threshold": "--threshold",
    "device": "--device",
}
_NAMES = "|".join(_OPTIONS)
_LONG_NAMES = "|".join(name for name in _OPTIONS if "_" in name)


def _in_options(message: str) -> str:
    """Return a message of the library with options in place of parameters.

    A name alone may be a common word, unless it is at the beginning or has an underscore.
    """
    message = re.sub(rf"\b({_NAMES})=", lambda match: f"{_OPTIONS[match[1]]} ", message)
    names = rf"^({_NAMES})\b|\b({_LONG_NAMES})\b"
    return re.sub(names, lambda match: _OPTIONS[match[0]], message)
