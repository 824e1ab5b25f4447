"""Who spoke when: from recordings to speakers."""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {
    "DiarizationErrors": "modeshift.speech.scores",
    "Speakers": "modeshift.speech.clusters",
    "TwoCovariancePLDA": "modeshift.speech.plda",
    "cluster_speakers": "modeshift.speech.clusters",
    "diarization_errors": "modeshift.speech.scores",
    "pooled_errors": "modeshift.speech.scores",
}
"""Module of each public name. Names load on first use, so that the command starts fast."""

__all__: list[str] = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'modeshift.speech' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
