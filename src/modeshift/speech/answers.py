"""Turns as CSV, labels of Audacity and plain data for JSON. RTTM is in a module of its own."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeshift.io.write import write_whole
from modeshift.speech.turns import Turn, as_milliseconds, speech_of

if TYPE_CHECKING:
    from modeshift.speech.pipeline import Diarization

COLUMNS = ("recording", "start", "end", "speaker")


def write_csv(path: Any, turns: Iterable[Turn]) -> None:
    """Write turns as CSV with a head line, in seconds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift.speech import Turn, write_csv
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "talk.csv"
    ...     write_csv(place, [Turn("talk", 0.5, 2.5, "Zoë")])
    ...     print(place.read_text(encoding="utf-8"), end="")
    recording,start,end,speaker
    talk,0.500,2.500,Zoë
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((turn.recording, *_seconds(turn), turn.speaker) for turn in turns)
    _write(path, text.getvalue())


def write_labels(path: Any, turns: Iterable[Turn]) -> None:
    """Write turns as a label track of Audacity: start, end and name, separated by tabs.

    The file has no names of recordings, so the turns should be of one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modeshift.speech import Turn, write_labels
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "talk.txt"
    ...     write_labels(place, [Turn("talk", 0.5, 2.5, "Zoë")])
    ...     place.read_text(encoding="utf-8").split()
    ['0.500', '2.500', 'Zoë']
    """
    rows = (("\t".join((*_seconds(turn), " ".join(turn.speaker.split())))) for turn in turns)
    _write(path, "".join(f"{row}\n" for row in rows))


def plain(found: "Diarization") -> dict[str, Any]:
    """Return the answer as plain data: speakers, turns, and how the speakers were chosen."""
    speakers = found.speakers
    return {
        "recordings": list(dict.fromkeys(segment.recording for segment in found.vectors.segments)),
        "speakers": [
            {"name": name, "speech": round(seconds, 3)}
            for name, seconds in speech_of(found.turns).items()
        ],
        "turns": [
            {
                "recording": turn.recording,
                "start": round(turn.start, 3),
                "end": round(turn.end, 3),
                "speaker": turn.speaker,
            }
            for turn in found.turns
        ],
        "windows": len(speakers.labels),
        "reassigned": int(speakers.reassigned.sum()),
        "bandwidth": speakers.bandwidth,
        "n_neighbors": speakers.n_neighbors,
        "curve": [trial._asdict() for trial in speakers.curve],
    }


def _seconds(turn: Turn) -> tuple[str, str]:
    start, end = as_milliseconds(turn)
    return f"{start / 1000:.3f}", f"{end / 1000:.3f}"


def _write(path: Any, text: str) -> None:
    write_whole(Path(path), lambda file: file.write(text.encode()))
