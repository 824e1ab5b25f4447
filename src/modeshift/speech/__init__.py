"""Who spoke when: from recordings to speakers."""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {
    "Diarization": "modeshift.speech.pipeline",
    "DiarizationErrors": "modeshift.speech.scores",
    "Segment": "modeshift.speech.turns",
    "Speakers": "modeshift.speech.clusters",
    "Turn": "modeshift.speech.turns",
    "TwoCovariancePLDA": "modeshift.speech.plda",
    "Vectors": "modeshift.speech.vectors",
    "Windows": "modeshift.speech.turns",
    "cluster_speakers": "modeshift.speech.clusters",
    "cut_windows": "modeshift.speech.segments",
    "diarization_errors": "modeshift.speech.scores",
    "diarize": "modeshift.speech.pipeline",
    "errors_by_recording": "modeshift.speech.scores",
    "pooled_errors": "modeshift.speech.scores",
    "read_rttm": "modeshift.speech.rttm",
    "read_segments": "modeshift.speech.segments",
    "read_uem": "modeshift.speech.rttm",
    "read_vectors": "modeshift.speech.given",
    "speaker_turns": "modeshift.speech.timeline",
    "write_csv": "modeshift.speech.answers",
    "write_labels": "modeshift.speech.answers",
    "write_rttm": "modeshift.speech.rttm",
}
"""Module of each public name. Names load on first use, so that the command starts fast."""

__all__: list[str] = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'modeshift.speech' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
