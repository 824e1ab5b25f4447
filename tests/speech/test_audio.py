"""Recordings: any rate and channels in, 16 kHz and one channel out, and files that are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.signal import resample_poly

from modeshift.io.errors import FileError
from modeshift.speech.audio import RATE, Recording

soundfile = pytest.importorskip("soundfile", reason="no soundfile here (make kernels)")


def written(path, rate, shape, seed=0, **options):
    samples = np.random.default_rng(seed).uniform(-0.5, 0.5, shape)
    soundfile.write(path, samples, rate, subtype="FLOAT", **options)
    return samples.astype(np.float32)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 44100, 48000])
def test_pieces_are_those_of_the_resampled_whole(tmp_path, rate):
    samples = written(tmp_path / "a.wav", rate, (rate * 2, 2)).mean(axis=1)
    whole = resample_poly(samples, RATE, rate) if rate != RATE else samples
    recording = Recording.of(tmp_path / "a.wav")
    assert recording.duration == 2.0
    with recording.opened() as sound:
        for start, end in [(0.0, 0.5), (0.3, 0.31), (0.7001, 1.9), (1.5, 2.0), (0.0, 2.0)]:
            first, last = round(start * RATE), round(end * RATE)
            assert_allclose(sound.read(start, end), whole[first:last], atol=2e-6)


def test_beyond_the_end_there_is_silence(tmp_path):
    for rate in (RATE, 48000):
        written(tmp_path / "a.wav", rate, rate)
        with Recording.of(tmp_path / "a.wav").opened() as sound:
            samples = sound.read(0.9, 1.4)
            assert len(samples) == 8000
            assert not samples[1700:].any()
            assert len(sound.read(3.0, 3.1)) == 1600


def test_a_wav_that_was_cut_says_how_much_is_missing(tmp_path):
    written(tmp_path / "a.wav", 8000, 8000 * 3)
    content = (tmp_path / "a.wav").read_bytes()
    (tmp_path / "b.wav").write_bytes(content[: len(content) // 2])
    assert Recording.of(tmp_path / "a.wav").missing == 0.0
    cut = Recording.of(tmp_path / "b.wav")
    assert cut.duration + cut.missing == pytest.approx(3.0, abs=0.001)
    assert cut.missing == pytest.approx(1.5, abs=0.01)
    with cut.opened() as sound:
        assert len(sound.read(0.0, cut.duration)) == round(cut.duration * RATE)


@pytest.mark.parametrize("ending", ["flac", "ogg", "mp3", "aiff"])
def test_other_formats_promise_nothing(tmp_path, ending):
    path = tmp_path / f"Übung.{ending}"
    samples = np.sin(np.arange(48000) * 0.05)
    try:
        soundfile.write(path, samples, RATE)
    except (soundfile.LibsndfileError, ValueError, TypeError):
        pytest.skip(f"this libsndfile writes no {ending}")
    recording = Recording.of(path)
    assert (recording.name, recording.missing) == ("Übung", 0.0)
    with recording.opened() as sound:
        assert_allclose(sound.read(1.7, 1.9), sound.read(0.0, 3.0)[27200:30400], atol=0.01)


def test_files_that_are_no_sound(tmp_path):
    (tmp_path / "text.wav").write_text("I am a letter, and no sound.")
    (tmp_path / "nothing.wav").write_bytes(b"")
    soundfile.write(tmp_path / "empty.wav", np.empty(0), RATE)
    for name, message in [
        ("text.wav", "cannot be read as sound: Format not recognised; WAV, FLAC"),
        ("nothing.wav", "cannot be read as sound"),
        ("empty.wav", "holds no samples"),
        ("missing.wav", "there is no file"),
        (".", "is a folder"),
    ]:
        with pytest.raises(FileError, match=message) as caught:
            Recording.of(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_samples_that_are_no_numbers(tmp_path):
    samples = np.zeros(1000)
    samples[500] = np.nan
    soundfile.write(tmp_path / "a.wav", samples, RATE, subtype="FLOAT")
    with (
        Recording.of(tmp_path / "a.wav").opened() as sound,
        pytest.raises(FileError, match="no finite numbers"),
    ):
        sound.read(0.0, 0.05)
