"""The data of the page, and the page as a file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from modeshift.io.write import write_whole
from modeshift.report.page import make_page
from modeshift.speech.answers import plain
from modeshift.speech.pipeline import Diarization

_HERE = Path(__file__).parent


def make_content(found: Diarization, sounds: Mapping[str, Path], place: Path) -> dict[str, Any]:
    """Return what the page shows.

    Parameters
    ----------
    found : Diarization
    sounds : dict of str to Path
        The sound file of each recording; a recording without one cannot be heard.
    place : Path
        Where the page will be. Links to sound files are relative to it.
    """
    content = plain(found)
    numbers = {name: k for k, name in enumerate(content["recordings"])}
    speakers = {speaker["name"]: k for k, speaker in enumerate(content["speakers"])}
    return {
        "recordings": [
            {"name": name, "sound": _link(sounds[name], place) if name in sounds else None}
            for name in content["recordings"]
        ],
        "speakers": list(speakers),
        "turns": [
            [numbers[turn["recording"]], turn["start"], turn["end"], speakers[turn["speaker"]]]
            for turn in content["turns"]
        ],
        "bandwidth": content["bandwidth"],
        "neighbors": content["n_neighbors"],
        "curve": [[t["bandwidth"], t["n_neighbors"], t["n_speakers"]] for t in content["curve"]],
    }


def _link(sound: Path, place: Path) -> str:
    return quote(Path(os.path.relpath(sound.resolve(), place.resolve().parent)).as_posix())


def write_page(path: Path, found: Diarization, sounds: Mapping[str, Path]) -> None:
    """Write the page."""
    page = make_page(make_content(found, sounds, path), _HERE)
    write_whole(path, lambda file: file.write(page.encode()))
